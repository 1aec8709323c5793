// SPDX-License-Identifier: GPL-2.0-or-later
// Live capture: loads the BPF programs, drains their rings, samples bitmaps. Input: Options and the running kernel.
// Output: a RecordSource like any other, and the answer to "what can be attached here" (doctor).
//
// Needs root, or CAP_BPF + CAP_PERFMON (+ CAP_SYS_ADMIN on kernels before 5.8, CAP_DAC_READ_SEARCH for debugfs).
// This is the only folder that includes libbpf or BCC headers.
#pragma once

#include "blktag/records.hpp"

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

namespace blktag::capture {

// Groups of programs, for --only. `waits` (tag gets, puts and waits) is always on: the others rest on it.
enum Group : uint32_t {
    GROUP_TAG = 1U << 0,    // tag allocation, waits, dispatch waits
    GROUP_RUN = 1U << 1,    // RESTART, runs, refusals
    GROUP_BUDGET = 1U << 2, // SCSI budget
    GROUP_BATCH = 1U << 3,  // queue_rqs, polling, batched completion
    GROUP_RQ = 1U << 4,     // request lifecycle
    GROUP_OTHER = 1U << 5,  // throttle, queue entry, freeze
    GROUP_ALL = 0x3f,
};

struct Options {
    std::vector<std::string> devices; // names ("nullb0", "/dev/nullb0", "8:0"); empty = all
    uint32_t tgid = 0;                // 0 = all
    std::string cgroup;               // path below the cgroup2 mount or absolute, empty = all
    uint32_t op_mask = 0;             // 1 << bt_op, 0 = all
    uint32_t groups = GROUP_ALL;
    uint32_t ring_size_bytes = 0;     // per CPU, rounded up to a power of two, 4 KiB .. 2 MiB; 0 = derived
    bool records = true;              // false: counters, gauges and the kernel's own histograms only
    bool histograms = false;          // with records: the kernel's histograms as well, to hold one against the other
    uint32_t gauge_interval_ms = 100; // 50 .. 1000
    uint32_t counter_interval_ms = 1000; // and, without records, of histograms and moments
    std::vector<std::string> no_probe;// rungs forced off: "tag_get", or one rung of it: "tag_get/fexit"
};

// A live source. next() waits at most 50 ms for data. Not thread-safe except where said.
class Session : public RecordSource {
public:
    static std::expected<std::unique_ptr<Session>, Error> open(const Options &options);
    // May be called from any thread; the following next() calls drain what is left, then return false.
    virtual void request_stop() = 0;
    // Instead of Options::counter_interval_ms from now on. May be called from any thread.
    virtual void set_counter_interval_ms(uint32_t ms) = 0;
    // Totals so far, for a progress line.
    [[nodiscard]] virtual uint64_t lost_so_far() const = 0;
};

// One thing that capture needs, and whether it is here.
struct Requirement {
    std::string name;  // "BTF", "tracefs", "CAP_BPF", "kprobes", "lockdown"
    bool ok = false;
    std::string found; // what was seen
    std::string remedy;// what to do, empty when ok
};

struct Doctor {
    std::vector<Requirement> requirements;
    std::vector<ProbeRung> rungs;          // found by really attaching, then detaching
    std::vector<std::string> not_measured; // what will be blind
    bool usable = false;                   // recording would work
};

// Tries every rung. Leaves nothing attached. Never fails: what cannot be found out is a requirement that is not ok.
Doctor examine(const Options &options);

} // namespace blktag::capture
