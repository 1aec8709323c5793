// SPDX-License-Identifier: GPL-2.0-or-later
// What can be attached here, found out by attaching. Input: the running kernel. Output: Doctor.
#include "capture/capture.hpp"
#include "capture/programs.hpp"
#include "capture/sizes.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include <linux/capability.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "probe.skel.h"

namespace blktag::capture {

namespace {

constexpr int cap_perfmon = 38;
constexpr int cap_bpf = 39;

std::string first_line(const char *path)
{
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    return line;
}

bool has_capability(int cap)
{
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[2]{};
    if (syscall(SYS_capget, &header, data))
        return false;
    return data[cap / 32].effective & 1U << (cap % 32);
}

Requirement capability(const char *name, int cap)
{
    const bool ok = has_capability(cap) || has_capability(CAP_SYS_ADMIN);
    return {name, ok, ok ? "effective" : "missing", ok ? "" : "run as root, or: setcap cap_bpf,cap_perfmon,cap_dac_read_search+ep"};
}

Requirement lockdown()
{
    const std::string line = first_line("/sys/kernel/security/lockdown");
    const bool confidential = line.find("[confidentiality]") != std::string::npos;
    return {"lockdown", !confidential, line.empty() ? "not built in" : line,
            confidential ? "boot without lockdown=confidentiality: it forbids reading kernel memory from BPF" : ""};
}

Requirement readable(const char *name, const char *path, const char *remedy)
{
    const bool ok = !access(path, R_OK);
    return {name, ok, ok ? path : fmt::format("{}: {}", path, strerror(errno)), ok ? "" : remedy};
}

Requirement run_probe()
{
    Requirement r{"BPF", false, "", "run as root; a kernel with CONFIG_BPF_SYSCALL and CONFIG_DEBUG_INFO_BTF is needed"};
    probe_bpf *skeleton = probe_bpf__open_and_load();
    if (!skeleton) {
        r.found = fmt::format("the feature probe does not load: {}", strerror(errno));
        return r;
    }
    bt_probe io{};
    bpf_test_run_opts opts{};
    opts.sz = sizeof(opts);
    opts.ctx_in = &io;
    opts.ctx_size_in = sizeof(io);
    const int err = bpf_prog_test_run_opts(bpf_program__fd(skeleton->progs.probe), &opts);
    probe_bpf__destroy(skeleton);
    if (err || !io.ran) {
        r.found = fmt::format("the feature probe does not run: {}", strerror(-err));
        return r;
    }
    return {"BPF", true,
            fmt::format("tags {}, queue_rqs {}, wake counters {}, run delay {}", io.tags_embedded ? "embedded" : "by pointer",
                        io.queue_rqs ? "yes" : "no", io.wake_counters ? "yes" : "no", io.run_delay ? "yes" : "no"),
            ""};
}

} // namespace

Doctor examine(const Options &options)
{
    Doctor d;
    d.requirements.push_back(capability("CAP_BPF", cap_bpf));
    d.requirements.push_back(capability("CAP_PERFMON", cap_perfmon));
    d.requirements.push_back(lockdown());
    d.requirements.push_back(readable("BTF", "/sys/kernel/btf/vmlinux", "use a kernel built with CONFIG_DEBUG_INFO_BTF=y"));
    Requirement tracefs = readable("tracefs", "/sys/kernel/tracing/events/block", "mount -t tracefs none /sys/kernel/tracing");
    if (!tracefs.ok && !access("/sys/kernel/debug/tracing/events/block", R_OK))
        tracefs = {"tracefs", true, "/sys/kernel/debug/tracing", ""};
    d.requirements.push_back(std::move(tracefs));
    d.requirements.push_back(run_probe());

    auto session = Session::open(options);
    if (!session) {
        d.requirements.push_back({"attach", false, session.error().what, session.error().remedy});
        return d;
    }
    d.usable = true;
    d.requirements.push_back({"attach", true, "attached and detached", ""});
    d.rungs = (*session)->info().rungs;
    d.not_measured = (*session)->info().not_measured;
    return d;
}

} // namespace blktag::capture
