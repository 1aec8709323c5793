// SPDX-License-Identifier: GPL-2.0-or-later
// /proc/TID/stat, status and cgroup. Input: tid. Output: bt_task.
#include "capture/proc.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>

namespace blktag::capture {

namespace {

std::string slurp(const std::string &path)
{
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return std::move(text).str();
}

uint64_t number(const char *from, const char *to)
{
    uint64_t value = 0;
    std::from_chars(from, to, value);
    return value;
}

uint32_t tgid_of(uint32_t tid)
{
    const std::string status = slurp(fmt::format("/proc/{}/status", tid));
    const size_t at = status.find("\nTgid:\t");
    return at == std::string::npos ? 0 : static_cast<uint32_t>(number(&status[at + 7], status.data() + status.size()));
}

// The id of a cgroup2 is its folder's inode number.
uint64_t cgroup_of(uint32_t tid)
{
    const std::string text = slurp(fmt::format("/proc/{}/cgroup", tid));
    const size_t at = text.rfind("0::", 0) == 0 ? 0 : text.find("\n0::");
    if (at == std::string::npos)
        return 0;
    const size_t from = text.find("::", at) + 2;
    const std::string path = text.substr(from, text.find('\n', from) - from);
    struct stat st {};
    for (const char *mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"})
        if (!stat((mount + path).c_str(), &st))
            return st.st_ino;
    return 0;
}

} // namespace

// The name is between the first '(' and the last ')': it may hold either itself. starttime is the 20th field after it.
bool read_task(uint32_t tid, bt_task &out)
{
    const std::string stat = slurp(fmt::format("/proc/{}/stat", tid));
    const size_t open = stat.find('(');
    const size_t close = stat.rfind(')');
    if (open == std::string::npos || close == std::string::npos || close < open)
        return false;
    out = {};
    out.tid = tid;
    memcpy(out.comm, &stat[open + 1], std::min<size_t>(close - open - 1, BT_COMM_LEN - 1));
    size_t at = close + 1;
    for (int field = 0; field < 20 && at != std::string::npos; field++)
        at = stat.find(' ', at + (field ? 1 : 0));
    if (at != std::string::npos) {
        const long per_second = sysconf(_SC_CLK_TCK);
        out.start_ns = number(&stat[at + 1], stat.data() + stat.size()) * (1'000'000'000ULL / static_cast<uint64_t>(per_second > 0 ? per_second : 100));
    }
    out.tgid = tgid_of(tid);
    out.cgroup_id = cgroup_of(tid);
    return true;
}

} // namespace blktag::capture
