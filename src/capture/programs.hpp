// SPDX-License-Identifier: GPL-2.0-or-later
// The loaded BPF objects. Input: knobs, choices. Output: attached programs and their maps; nothing stays when it dies.
#pragma once

#include "blktag/knobs.h"
#include "capture/maps.hpp"
#include "capture/plan.hpp"

#include <expected>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

struct blktag_bpf;
struct driver_bpf;
struct bpf_link;
struct bpf_object;
struct bpf_program;

namespace blktag::capture {

// A rung that looked possible and was refused by the kernel: choose again without it.
struct Refused {
    std::string probe_and_rung; // "tag_get/fexit"
    std::string reason;
};

// What a driver's own functions feed: not measured where `probe` has no rung, or its group is left out.
struct DriverFeed {
    const char *probe; // without the driver's name
    uint32_t group;
    std::vector<const char *> counters;
};
const std::vector<DriverFeed> &driver_feeds();

// Not thread-safe.
class Programs {
  public:
    Programs();
    ~Programs();
    Programs(const Programs &) = delete;
    Programs &operator=(const Programs &) = delete;

    // Loads and attaches. A refused rung is reported through `refused`, with the returned Error.
    std::expected<void, Error> load(const bt_knobs &knobs, const std::vector<Choice> &choices, Refused &refused);
    // Attaches the functions of one driver, once per driver. `queue_id` is a queue of it.
    std::vector<ProbeRung> attach_driver(uint16_t queue_id, const Options &options);
    void detach();

    // Runs the sampling programs. false: the object went away.
    bool sample(bt_sample_space &io);
    bool sample(bt_sample_hctx &io);
    bool sample(bt_sample_bits &io);
    std::string op_name(uint16_t queue_id, bt_driver_op op);

    // Runs that the kernel skipped: a program of ours was interrupted by one, or a kprobe by another.
    struct Misses {
        uint64_t count = 0;
        bool kprobes_unknown = false; // kprobes are attached and this kernel does not tell (before 6.7)
    };
    [[nodiscard]] Misses misses() const;
    [[nodiscard]] const bt_globals &globals() const;
    [[nodiscard]] const bt_knobs &knobs() const { return knobs_; }

    MappedArray<bt_ring> rings;
    MappedArray<bt_row> rows;
    MappedArray<bt_slot> slots;
    MappedArray<bt_wait_slot> waits;
    MappedArray<bt_hstate> hstates;
    MappedArray<bt_hist_block> hists;
    MappedArray<bt_bit_words> bit_words; // of the latest bt_sample_bits
    MappedArray<bt_object> objects;
    MappedArray<bt_object> spaces;

  private:
    struct LinkDestroy {
        void operator()(bpf_link *link) const;
    };
    using Link = std::unique_ptr<bpf_link, LinkDestroy>;
    struct SkeletonDestroy {
        void operator()(blktag_bpf *s) const;
        void operator()(driver_bpf *s) const;
    };
    struct Driver {
        std::unique_ptr<driver_bpf, SkeletonDestroy> skeleton;
        std::vector<Link> links;
    };

    void size_maps(const bt_knobs &knobs);
    std::expected<void, Error> map_arrays();
    std::expected<Link, Error> attach(bpf_program *program, const ProgramUse &use);
    std::expected<std::unique_ptr<driver_bpf, SkeletonDestroy>, Error> load_driver(const std::vector<ProgramUse> &uses);
    ProbeRung attach_op(const char *probe, const std::string &driver, const std::vector<Rung> &rungs,
                        const std::string &function, const std::set<std::string> &off);
    static void add_misses(const bpf_object *object, const std::vector<Link> &links, Misses &misses);

    bt_knobs knobs_{};
    std::unique_ptr<blktag_bpf, SkeletonDestroy> main_;
    std::vector<Link> links_;
    std::vector<Driver> drivers_;
    std::set<std::string> seen_functions_;
};

} // namespace blktag::capture
