// SPDX-License-Identifier: GPL-2.0-or-later
// Which queue, hctx, tag space and tag set an id means. Input: ident records and topology JSON, in
// time order. Output: look-ups by id; unknown ids have labels too. Not thread-safe while it is fed.
//
// An id is never used again, so what went away stays known. A device that returns under its old
// name is a new queue with the next generation. An id of max_ids (BT_NO_ID) is refused and counted.
#pragma once

#include "blktag/records.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace blktag::model {

inline constexpr uint16_t max_ids = BT_NO_ID;

struct QueueInfo {
    uint16_t id = BT_NO_ID;
    bool known = false; // an ident record or the JSON named it
    bool gone = false;
    bool end_only =
        false; // only its end was told: an earlier piece of the recording knows it better
    unsigned generation = 1;
    uint32_t dev = 0;   // major << 20 | minor
    uint32_t flags = 0; // BT_IDF_*
    uint16_t set_id = BT_NO_ID;
    std::string name, driver, scheduler; // raw bytes
    std::optional<uint32_t> nr_requests, async_depth, nr_hw_queues, lun_depth;
    std::vector<std::string> slaves, holders;
};

struct HctxInfo {
    uint16_t id = BT_NO_ID;
    bool known = false;
    bool gone = false;
    bool end_only =
        false; // only its end was told: an earlier piece of the recording knows it better
    uint16_t queue_id = BT_NO_ID;
    uint16_t hctx_num = BT_NO_ID;
    uint16_t space_id = BT_NO_ID;
    uint16_t sched_space_id = BT_NO_ID;
    uint32_t flags = 0;
    std::string type; // "default", "read", "poll"
    std::vector<uint32_t> cpus;
    std::optional<uint32_t> nr_tags, nr_reserved_tags; // from sysfs
};

struct SpaceInfo {
    uint16_t id = BT_NO_ID;
    bool known = false;
    bool gone = false;
    bool end_only =
        false; // only its end was told: an earlier piece of the recording knows it better
    uint16_t set_id = BT_NO_ID;
    uint32_t flags = 0;
    uint32_t depth = 0;
    uint32_t reserved = 0;
};

class Topology {
  public:
    void apply(const bt_ident_rec &ident);
    // Call after a run of apply(): gives what the JSON told to the ids that were named since. Cheap
    // when none were.
    void settle();
    // false where the text is not the JSON that TraceInfo::topology_json describes; what fits is
    // used all the same.
    bool apply_json(std::string_view json);
    // What `later` knows wins.
    void merge(const Topology &later);

    // nullptr for ids never heard of.
    [[nodiscard]] const QueueInfo *queue(uint16_t id) const;
    [[nodiscard]] const HctxInfo *hctx(uint16_t id) const;
    [[nodiscard]] const SpaceInfo *space(uint16_t id) const;
    [[nodiscard]] const std::vector<QueueInfo> &queues() const
    {
        return queues_;
    } // by id, holes have !known
    [[nodiscard]] const std::vector<HctxInfo> &hctxs() const { return hctxs_; }
    [[nodiscard]] const std::vector<SpaceInfo> &spaces() const { return spaces_; }
    [[nodiscard]] uint64_t absurd() const { return absurd_; }

    // "nullb0", "nullb0#2", "259:0", "queue#3 (unknown)". Raw bytes.
    [[nodiscard]] std::string queue_label(uint16_t id) const;
    // "nullb0/0" or "hctx#12 (unknown)". Raw bytes.
    [[nodiscard]] std::string hctx_label(uint16_t id) const;
    [[nodiscard]] static std::string dev_text(uint32_t dev);

  private:
    QueueInfo *queue_for(uint16_t id);
    HctxInfo *hctx_for(uint16_t id);
    void apply_queue(const bt_ident_rec &ident);
    void apply_hctx(const bt_ident_rec &ident);
    void apply_space(const bt_ident_rec &ident);
    void take_queue(uint16_t id, const QueueInfo &from_json);
    void take_hctx(uint16_t id, const HctxInfo &from_json);
    void number_generations();

    std::vector<QueueInfo> queues_;
    std::vector<HctxInfo> hctxs_;
    std::vector<SpaceInfo> spaces_;
    // Told by JSON before any ident record gave them an id.
    struct Pending {
        QueueInfo queue;
        std::vector<HctxInfo> hctxs;
    };
    std::vector<Pending> pending_;
    uint64_t absurd_ = 0;
    bool new_ids_ = false;
};

} // namespace blktag::model
