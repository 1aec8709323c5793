// SPDX-License-Identifier: GPL-2.0-or-later
// blk-mq devices as sysfs shows them. Input: /sys. Output: plain data, names of devices, the topology as JSON.
#pragma once

#include "blktag/records.hpp"

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace blktag::capture {

struct SysHctx {
    uint32_t num = 0;
    uint32_t nr_tags = 0;
    uint32_t nr_reserved_tags = 0;
    std::vector<uint32_t> cpus;
};

struct SysQueue {
    std::string name;      // "nullb0"; a slash of the kernel's name is '!' here
    uint32_t dev = 0;      // major << 20 | minor
    std::string scheduler; // the active one, "none"
    uint32_t nr_requests = 0;
    std::optional<uint32_t> async_depth;
    std::optional<uint32_t> lun_depth; // SCSI queue_depth
    std::string driver;    // module or driver name, empty if it does not tell
    std::vector<std::string> slaves, holders;
    std::vector<SysHctx> hctxs;
};

// All block devices that use blk-mq. Reading nr_tags here is also what shows our programs each hctx (prime).
std::vector<SysQueue> read_sysfs();

// "nullb0", "/dev/nullb0", "259:1", also a partition's name (its whole disk is meant) -> major << 20 | minor.
std::expected<uint32_t, Error> resolve_device(const std::string &name);

// Id of a cgroup as bpf_get_current_cgroup_id() gives it. `path`: absolute, or below the cgroup2 mount.
std::expected<uint64_t, Error> resolve_cgroup(const std::string &path);

} // namespace blktag::capture
