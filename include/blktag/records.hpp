// SPDX-License-Identifier: GPL-2.0-or-later
// What flows between the stages in user space: decoded records in batches, the description of a recording, and the
// RecordSource that live capture and the file reader both are. Input: none. Output: types only.
//
// The structs of wire.h are the record types here too (plain values, host byte order, already validated by decode):
// fields and units are documented there. Nothing after a RecordSource can tell a live source from a file.
#pragma once

#include "blktag/wire.h"

#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace blktag {

// Counters of one hctx or queue at one moment: running totals since the recording began, by bt_counter.
// A file written by an older tool has fewer values: the missing ones are not in `value`, they are not zero.
struct CounterSnapshot {
    uint64_t ts_ns = 0;
    uint16_t id = 0;
    uint8_t what = BT_ID_HCTX; // bt_ident
    std::vector<uint64_t> value;
};

// What the kernel's own histograms of one hctx grew by since the one before: only a live session without records makes
// them, so that no record of a request leaves the kernel. `of` is by bt_hist_phase (kind BT_HB_IO), by bt_cause
// (BT_HB_WAIT, BT_HB_DWAIT), or [0] alone (BT_HB_RUN); see knobs.h.
struct HistogramDelta {
    struct Bin {
        uint16_t bin = 0; // as agg::LogAxis numbers them
        uint32_t count = 0;
    };
    struct Part {
        uint64_t zeros = 0; // durations of no time at all
        uint64_t sum_ns = 0;
        uint64_t max_ns = 0; // of all so far, not of the growth; 0 = none yet
        std::vector<Bin> bins;
    };
    uint64_t ts_ns = 0;
    uint16_t hctx_id = 0;
    uint8_t kind = 0;      // bt_hist_kind
    uint8_t op = 0;        // BT_HB_IO: bt_op
    uint64_t requests = 0; // BT_HB_IO: that were put
    uint64_t bytes = 0;
    std::array<Part, 6> of;
};

// A tag that is taken, as its request's slot tells.
struct HeldTag {
    uint16_t space_id = BT_NO_ID;
    uint16_t tag = BT_NO_TAG;
    uint16_t hctx_id = BT_NO_ID;
    uint16_t flags = 0;   // BT_IO_*
    uint8_t op = BT_OP_OTHER;
    bool driver = false;  // the driver tag of a request that lives on a scheduler tag: no op, bytes, sector
    uint32_t tid = 0;     // 0 = unknown
    uint32_t bytes = 0;   // 0 until issued
    uint64_t sector = 0;
    uint64_t get_ns = 0;
    uint64_t issue_ns = 0;    // 0 = held, not issued
    uint64_t complete_ns = 0; // 0 = at the device
};

// The bits of one tag space's normal pool, 64 tags a word, lowest bit first.
struct TagBits {
    uint16_t space_id = BT_NO_ID;
    uint32_t depth = 0;
    uint32_t reserved = 0;         // tags of the reserved pool come before tag `reserved`; their bits are not in here
    std::vector<uint64_t> held;    // word & ~cleared
    std::vector<uint64_t> cleared; // freed lazily, not yet folded in
};

// What is under way at one moment: live, read from the programs' maps; from records, what is known to end later.
struct Moment {
    uint64_t ts_ns = 0;
    std::vector<bt_wait> waits; // flagged BT_W_OPEN, h.ts_ns = this moment
    std::vector<bt_dwait> dispatch_waits;
    std::vector<HeldTag> held;
    uint64_t held_left_out = 0; // held tags beyond the limit of such a list
    std::vector<TagBits> bits;  // live only
};

// A piece of the stream. Each vector is sorted by ts_ns; batches of one source do not go back in time by more than the
// ordering window, except for `io` of requests that ended late. `io` holds the long form for both kinds.
struct Batch {
    std::vector<bt_io_long> io;
    std::vector<bt_task> tasks;
    std::vector<bt_wait> waits;
    std::vector<bt_dwait> dwaits;
    std::vector<bt_restart> restarts;
    std::vector<bt_run> runs;
    std::vector<bt_run> arms;
    std::vector<bt_refuse> refusals;
    std::vector<bt_refuse> requeues;
    std::vector<bt_batch> batches;
    std::vector<bt_budget> budgets;
    std::vector<bt_other_wait> other_waits;
    std::vector<bt_ident_rec> idents;
    std::vector<CounterSnapshot> counters;
    std::vector<bt_gauge> gauges;
    std::vector<bt_hgauge> hgauges;
    std::vector<bt_loss> losses;
    std::vector<HistogramDelta> histograms; // live only, never in a file
    std::vector<Moment> moments;            // likewise
    std::vector<std::string> topology_json; // a full Topology each time it changed, see TraceInfo::topology_json

    [[nodiscard]] size_t size() const; // records in all vectors
    void clear();                      // keeps capacity
};

// One probe and the rung it runs on: "tp_btf", "raw_tp", "fentry", "fexit", "kprobe", "kretprobe", "sampled", "none".
// "none" means what it feeds is not measured; `why` then says the reason in a few words.
struct ProbeRung {
    std::string probe; // stable name, e.g. "tag_get"
    std::string hook;  // the kernel function or tracepoint in use, empty for none
    std::string rung;
    std::string why;
};

// What is known about a recording as a whole. All strings are bytes from outside: escape before showing.
struct TraceInfo {
    std::string tool_version;
    std::string kernel_release;
    std::string machine;          // uname -m
    std::string hostname;
    std::vector<std::string> argv;// of the recorder
    std::string command;          // recorded command line, empty without one
    uint32_t nr_cpus = 0;
    uint32_t ring_size_bytes = 0; // per CPU
    uint64_t start_mono_ns = 0;   // when recording began
    uint64_t start_real_ns = 0;   // CLOCK_REALTIME at that moment
    uint64_t end_mono_ns = 0;     // 0 = the recording was cut
    uint64_t end_real_ns = 0;
    std::vector<std::string> filters; // as given: "dev=nullb0", "pid=12"
    std::vector<ProbeRung> rungs;
    std::vector<std::string> not_measured; // counters.def or record names that no probe feeds on this kernel
    // {"queues":[{"queue_id","name","dev","scheduler","nr_requests","async_depth","driver","nr_hw_queues","set_id",
    //   "queue_depth" (SCSI LUN),"slaves":[names],"holders":[names],
    //   "hctxs":[{"hctx_id","hctx_num","type","cpus":[..],"nr_tags","nr_reserved_tags"}]}]}; ids null where not known yet
    std::string topology_json;
};

// Exact books of a recording: produced = recorded + lost, by ring kind. `missed`: program runs that the kernel skipped
// because a program was re-entered on its CPU (bpf_prog_info.recursion_misses): those events were never produced.
struct Books {
    uint64_t produced = 0;
    uint64_t recorded = 0;
    uint64_t lost = 0;
    uint64_t missed = 0;
    std::vector<uint64_t> lost_by_kind; // BT_NR_RING_KINDS
    bool complete = false;              // false: the file was cut, or the recording still runs
};

struct Error {
    std::string what;   // cause, one line
    std::string remedy; // what to do, one line, may be empty
};

// Damage met by a reader: where and how much is gone. Bytes are file offsets.
struct Damage {
    uint64_t offset_bytes = 0;
    uint64_t length_bytes = 0; // 0 = to the end
    std::string what;
};

// Records that came and could not be used.
struct Unusable {
    uint64_t malformed = 0; // refused by validation
    uint64_t unknown = 0;   // of kinds that this version does not know
};

// A stream of batches. Not thread-safe; used from one thread. Implemented by store::Reader and capture::Source.
class RecordSource {
public:
    virtual ~RecordSource() = default;
    // Fills `batch` (cleared first). false = end of stream. A live source returns true with an empty batch on time-out.
    virtual std::expected<bool, Error> next(Batch &batch) = 0;
    // Valid from the start; end times, rungs' changes and books are final after next() returned false.
    [[nodiscard]] virtual const TraceInfo &info() const = 0;
    [[nodiscard]] virtual const Books &books() const = 0;
    [[nodiscard]] virtual const std::vector<Damage> &damage() const = 0;
    // So far; a source that validates nothing itself has none.
    [[nodiscard]] virtual Unusable unusable() const { return {}; }
};

// A sink of batches: store::Writer, printers, the model. Errors are final for the sink.
class RecordSink {
public:
    virtual ~RecordSink() = default;
    virtual std::expected<void, Error> put(const Batch &batch) = 0;
};

} // namespace blktag
