// SPDX-License-Identifier: GPL-2.0-or-later
// Reading sysfs. Files that vanish meanwhile read as empty. Input: /sys. Output: SysQueue.
#include "capture/sysfs.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace fs = std::filesystem;

namespace blktag::capture {

namespace {

std::string read_line(const fs::path &path)
{
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\n'))
        line.pop_back();
    return line;
}

std::optional<uint32_t> read_number(const fs::path &path)
{
    const std::string text = read_line(path);
    uint32_t value = 0;
    const auto r = std::from_chars(text.data(), text.data() + text.size(), value);
    if (r.ec != std::errc() || text.empty())
        return std::nullopt;
    return value;
}

uint32_t parse_dev(const std::string &text)
{
    unsigned major = 0;
    unsigned minor = 0;
    if (sscanf(text.c_str(), "%u:%u", &major, &minor) != 2)
        return 0;
    return major << 20 | minor;
}

// "0, 1, 2" or "0-2"
std::vector<uint32_t> parse_cpus(const std::string &text)
{
    std::vector<uint32_t> out;
    const char *p = text.data();
    const char *end = p + text.size();
    while (p < end) {
        uint32_t a = 0;
        auto r = std::from_chars(p, end, a);
        if (r.ec != std::errc()) {
            p++;
            continue;
        }
        p = r.ptr;
        uint32_t b = a;
        if (p < end && *p == '-') {
            r = std::from_chars(p + 1, end, b);
            p = r.ptr;
        }
        for (uint32_t i = a; i <= b && out.size() < 65536; i++)
            out.push_back(i);
    }
    return out;
}

std::string active_scheduler(const std::string &text)
{
    const size_t open = text.find('[');
    const size_t close = text.find(']', open);
    if (open == std::string::npos || close == std::string::npos)
        return text;
    return text.substr(open + 1, close - open - 1);
}

std::vector<std::string> names_in(const fs::path &dir)
{
    std::vector<std::string> out;
    std::error_code ec;
    for (fs::directory_iterator it(dir, ec), end; !ec && it != end; it.increment(ec))
        out.push_back(it->path().filename());
    std::sort(out.begin(), out.end());
    return out;
}

std::string driver_name(const fs::path &block)
{
    std::error_code ec;
    fs::path device = fs::canonical(block / "device", ec);
    for (int up = 0; !ec && up < 3 && device.has_relative_path(); up++, device = device.parent_path()) {
        const fs::path driver = fs::read_symlink(device / "driver", ec);
        if (!ec && driver.filename() != "sd" && driver.filename() != "sr")
            return driver.filename();
        ec.clear();
    }
    return {};
}

SysQueue read_queue(const fs::path &block)
{
    SysQueue q;
    q.name = block.filename();
    q.dev = parse_dev(read_line(block / "dev"));
    q.scheduler = active_scheduler(read_line(block / "queue/scheduler"));
    q.nr_requests = read_number(block / "queue/nr_requests").value_or(0);
    q.async_depth = read_number(block / "queue/async_depth");
    if (!q.async_depth)
        q.async_depth = read_number(block / "queue/iosched/async_depth");
    q.lun_depth = read_number(block / "device/queue_depth");
    q.driver = driver_name(block);
    q.slaves = names_in(block / "slaves");
    q.holders = names_in(block / "holders");
    for (const std::string &num : names_in(block / "mq")) {
        SysHctx h;
        h.num = static_cast<uint32_t>(std::strtoul(num.c_str(), nullptr, 10));
        h.nr_tags = read_number(block / "mq" / num / "nr_tags").value_or(0);
        h.nr_reserved_tags = read_number(block / "mq" / num / "nr_reserved_tags").value_or(0);
        h.cpus = parse_cpus(read_line(block / "mq" / num / "cpu_list"));
        q.hctxs.push_back(std::move(h));
    }
    std::sort(q.hctxs.begin(), q.hctxs.end(), [](const SysHctx &a, const SysHctx &b) { return a.num < b.num; });
    return q;
}

} // namespace

std::vector<SysQueue> read_sysfs()
{
    std::vector<SysQueue> out;
    for (const std::string &name : names_in("/sys/block")) {
        const fs::path block = fs::path("/sys/block") / name;
        std::error_code ec;
        if (fs::is_directory(block / "mq", ec))
            out.push_back(read_queue(block));
    }
    return out;
}

std::expected<uint32_t, Error> resolve_device(const std::string &name)
{
    std::string base = name.starts_with("/dev/") ? name.substr(5) : name;
    fs::path node;
    std::error_code ec;
    if (parse_dev(name))
        node = fs::path("/sys/dev/block") / name;
    else
        node = fs::path("/sys/class/block") / [&] {
            const fs::path real = fs::canonical("/dev/" + base, ec); // /dev/disk/by-id/..., /dev/mapper/...
            std::string n = ec ? base : real.string().substr(5);
            std::replace(n.begin(), n.end(), '/', '!');
            return n;
        }();
    node = fs::canonical(node, ec);
    if (ec)
        return std::unexpected(Error{fmt::format("no block device '{}'", name), "see the names in /sys/block"});
    if (fs::exists(node / "partition", ec))
        node = node.parent_path();
    const uint32_t dev = parse_dev(read_line(node / "dev"));
    if (!fs::is_directory(node / "mq", ec)) {
        std::string below;
        for (const std::string &slave : names_in(node / "slaves"))
            below += " " + slave;
        return std::unexpected(Error{fmt::format("'{}' does not use blk-mq, so it has no tags", name),
                                     below.empty() ? "name the device below it"
                                                   : "name the device below it:" + below});
    }
    return dev;
}

std::expected<uint64_t, Error> resolve_cgroup(const std::string &path)
{
    for (const std::string &base : {std::string(), std::string("/sys/fs/cgroup/"), std::string("/sys/fs/cgroup/unified/")}) {
        struct stat st {};
        const std::string full = base + path;
        if (!stat(full.c_str(), &st) && S_ISDIR(st.st_mode) && full.find("cgroup") != std::string::npos)
            return st.st_ino; // the inode number is the cgroup id
    }
    return std::unexpected(Error{fmt::format("no cgroup '{}'", path), "give its path below /sys/fs/cgroup"});
}

} // namespace blktag::capture
