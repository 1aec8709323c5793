// SPDX-License-Identifier: GPL-2.0-or-later
// io records to columns: one pass over the rows fills narrow arrays, then each becomes planes.
#include "store/io_encode.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace blktag::store {
namespace {

constexpr size_t hash_slots = 4 * max_dictionary;
constexpr unsigned hash_shift = 64 - 15;
static_assert(hash_slots == 1U << 15);

// hctx_id, tag, sched_tag, flags and submit_cpu .. status lie in two words of the record.
static_assert(offsetof(bt_io_long, flags) == offsetof(bt_io_long, hctx_id) + 6 &&
              offsetof(bt_io_long, submit_cpu) == offsetof(bt_io_long, hctx_id) + 8 &&
              offsetof(bt_io_long, status) == offsetof(bt_io_long, submit_cpu) + 7);
constexpr auto place_mask = std::bit_cast<uint64_t>(std::array<uint16_t, 4>{0xffff, 0, 0, 0xffff});

uint64_t load_word(const uint16_t *at)
{
    uint64_t word;
    std::memcpy(&word, at, sizeof(word));
    return word;
}

// OR of the values, and of their differences to the first.
template<class T>
struct Bits {
    T any = 0, changes = 0;
    Bits(const T *values, size_t count)
    {
        const T first = values[0];
        T all = 0, differ = 0;
        for (size_t i = 0; i < count; i++) {
            all |= values[i];
            differ |= static_cast<T>(values[i] ^ first);
        }
        any = all;
        changes = differ;
    }
};

template<class T>
void put_values(uint16_t id, const T *values, size_t count, ColumnWriter &out)
{
    const Bits<T> bits(values, count);
    if (bits.changes == 0)
        out.constant(id, values[0]);
    else
        out.planes(id, std::span<const T>(values, count), bits.any);
}

} // namespace

IoEncoder::IoEncoder() : slots_(hash_slots), rows_(std::make_unique_for_overwrite<Rows>())
{
    keys_.reserve(max_dictionary);
}

// The dictionary index of a combination, made where it is new. max_dictionary where there is no
// room for it.
inline uint32_t IoEncoder::entry_of(const Key &key, uint64_t sector, const Key *keys,
                                    const uint16_t *slots)
{
    uint64_t hash = (key.task + std::rotl(key.rest, 32)) * 0x9e3779b97f4a7c15;
    hash = (hash ^ key.place) * 0xc2b2ae3d27d4eb4f >> hash_shift;
    for (;; hash = (hash + 1) % hash_slots) {
        const uint32_t slot = slots[hash];
        if (slot == 0) [[unlikely]]
            return new_entry(key, hash, sector);
        const Key &found = keys[slot - 1];
        if (((found.task ^ key.task) | (found.place ^ key.place) | (found.rest ^ key.rest)) == 0)
            [[likely]]
            return slot - 1;
    }
}

[[gnu::noinline]] uint32_t IoEncoder::new_entry(const Key &key, uint64_t hash, uint64_t sector)
{
    if (keys_.size() == max_dictionary)
        return max_dictionary;
    keys_.push_back(key); // never beyond what was reserved: pointers into it stay
    stream_start_.push_back(sector);
    slots_[hash] = static_cast<uint16_t>(keys_.size());
    return static_cast<uint32_t>(keys_.size() - 1);
}

void IoEncoder::rare_stamps(const bt_io_long &io, uint8_t present)
{
    if (present & HAS_WAIT)
        wait_.push_back(io.get_ns - io.start_ns);
    if (present & HAS_INSERT)
        insert_.push_back(io.insert_ns - io.get_ns);
    if (present & HAS_REFUSED)
        refused_.push_back(io.refused_ns - io.get_ns);
}

[[gnu::noinline]] void IoEncoder::long_steps(size_t row, uint64_t step_ns, StampSteps steps)
{
    const uint64_t by_step[NR_STEPS] = {step_ns, steps.put, steps.complete, steps.issue};
    for (uint8_t step = 0; step < NR_STEPS; step++) {
        if (const auto high = static_cast<uint32_t>(by_step[step] >> 32))
            long_.push_back({static_cast<Step>(step), static_cast<uint32_t>(row), high});
    }
}

// Records out of order are kept as they are, a step of nearly 2^64; the reader sorts.
void IoEncoder::backwards(uint64_t ts_ns)
{
    last_ts_ns_ = std::max(last_ts_ns_, before_ts_ns_);
    first_ts_ns_ = std::min(first_ts_ns_, ts_ns);
}

size_t IoEncoder::add(std::span<const bt_io_long> records)
{
    if (count_ == 0 && !records.empty())
        base_ts_ns_ = before_ts_ns_ = first_ts_ns_ = records[0].h.ts_ns;
    const size_t room = std::min(records.size(), capacity - count_);
    uint64_t before_ns = before_ts_ns_;
    Rows &rows = *rows_;
    const Key *const keys = keys_.data();
    const uint16_t *const slots = slots_.data();
    const size_t from = count_;
    size_t taken = 0;
    for (; taken < room; taken++) {
        const bt_io_long &io = records[taken];
        const size_t row = from + taken;
        const uint8_t present = present_stamps(io);
        const Key key{io.tid | uint64_t{io.h.cpu & 0xffff} << 32 | uint64_t{present} << 48,
                      load_word(&io.hctx_id) & place_mask, load_word(&io.submit_cpu)};
        const uint32_t entry = entry_of(key, io.sector, keys, slots);
        if (entry == max_dictionary) [[unlikely]]
            break;
        const uint64_t step_ns = io.h.ts_ns - before_ns;
        StampSteps steps{io.h.ts_ns - io.complete_ns, io.complete_ns - io.issue_ns,
                         io.issue_ns - io.get_ns};
        if (present != usual_stamps) [[unlikely]] {
            steps = steps_of(io);
            rare_stamps(io, present);
        }
        if ((step_ns | steps.put | steps.complete | steps.issue) >> 32) [[unlikely]] {
            long_steps(row, step_ns, steps);
            before_ts_ns_ = before_ns;
            if (io.h.ts_ns < before_ns)
                backwards(io.h.ts_ns);
        }
        before_ns = io.h.ts_ns;
        rows.index[row] = static_cast<uint16_t>(entry);
        rows.steps[TO_TS][row] = static_cast<uint32_t>(step_ns);
        rows.steps[TO_PUT][row] = static_cast<uint32_t>(steps.put);
        rows.steps[TO_COMPLETE][row] = static_cast<uint32_t>(steps.complete);
        rows.steps[TO_ISSUE][row] = static_cast<uint32_t>(steps.issue);
        rows.sector[row] = io.sector;
        rows.bytes[row] = io.bytes;
        rows.tag[row] = io.tag;
        rows.sched_tag[row] = io.sched_tag;
    }
    before_ts_ns_ = before_ns;
    last_ts_ns_ = std::max(last_ts_ns_, before_ns);
    count_ += taken;
    return taken;
}

void IoEncoder::reset()
{
    count_ = 0;
    last_ts_ns_ = 0;
    keys_.clear();
    stream_start_.clear();
    long_.clear();
    std::fill(slots_.begin(), slots_.end(), uint16_t{0});
    for (auto *column : {&wait_, &insert_, &refused_})
        column->clear();
}

void IoEncoder::encode(ColumnWriter &out)
{
    if (count_ == 0)
        return;
    out.begin_block(BT_K_IO_LONG, static_cast<uint32_t>(count_));
    put_step(IO_TS, TO_TS, out);
    put_step(IO_TO_PUT_NS, TO_PUT, out);
    put_step(IO_TO_COMPLETE_NS, TO_COMPLETE, out);
    put_step(IO_TO_ISSUE_NS, TO_ISSUE, out);
    if (!wait_.empty())
        out.values(IO_WAIT_NS, wait_);
    if (!insert_.empty())
        out.values(IO_INSERT_NS, insert_);
    if (!refused_.empty())
        out.values(IO_REFUSED_NS, refused_);
    put_values(IO_TAG, rows_->tag, count_, out);
    put_values(IO_SCHED_TAG, rows_->sched_tag, count_, out);
    put_values(IO_BYTES, rows_->bytes, count_, out);
    put_dictionary(out);
    if (!put_streams(out))
        put_values(IO_SECTOR, rows_->sector, count_, out);
    out.end_block();
    reset();
}

void IoEncoder::put_step(uint16_t id, Step step, ColumnWriter &out)
{
    const std::span<const uint32_t> narrow(rows_->steps[step], count_);
    uint64_t bits = Bits<uint32_t>(narrow.data(), count_).any;
    bool is_long = false;
    for (const Long &more : long_)
        is_long |= more.step == step;
    if (!is_long) {
        if (id == IO_TS)
            out.deltas(id, base_ts_ns_, narrow, bits);
        else if (bits == 0)
            out.constant(id, 0);
        else
            out.planes(id, narrow, bits);
        return;
    }
    wide_.assign(narrow.begin(), narrow.end());
    for (const Long &more : long_) {
        if (more.step == step)
            bits |= wide_[more.row] |= uint64_t{more.high} << 32;
    }
    const std::span<const uint64_t> wide(wide_);
    if (id == IO_TS)
        out.deltas(id, base_ts_ns_, wide, bits);
    else
        out.planes(id, wide, bits);
}

void IoEncoder::put_dictionary(ColumnWriter &out)
{
    put_values(IO_INDEX, rows_->index, count_, out);
    std::vector<uint64_t> entries(keys_.size());
    const auto column = [&](uint16_t id, auto &&f) {
        std::transform(keys_.begin(), keys_.end(), entries.begin(), [&](const Key &key) {
            bt_io_long io{};
            std::memcpy(&io.hctx_id, &key.place, sizeof(key.place));
            std::memcpy(&io.submit_cpu, &key.rest, sizeof(key.rest));
            return uint64_t{f(io, key.task)};
        });
        out.dictionary(id, entries);
    };
    using Io = bt_io_long;
    column(IO_TID, [](const Io &, uint64_t task) { return task & 0xffffffff; });
    column(IO_CPU, [](const Io &, uint64_t task) { return task >> 32 & 0xffff; });
    column(IO_PRESENT, [](const Io &, uint64_t task) { return task >> 48; });
    column(IO_HCTX_ID, [](const Io &io, uint64_t) { return io.hctx_id; });
    column(IO_FLAGS, [](const Io &io, uint64_t) { return io.flags; });
    column(IO_SUBMIT_CPU, [](const Io &io, uint64_t) { return io.submit_cpu; });
    column(IO_COMPLETE_CPU, [](const Io &io, uint64_t) { return io.complete_cpu; });
    column(IO_REQUEUES, [](const Io &io, uint64_t) { return io.requeues; });
    column(IO_OP, [](const Io &io, uint64_t) { return io.op; });
    column(IO_STATUS, [](const Io &io, uint64_t) { return io.status; });
}

// Sequential I/O: distance to where the same combination's last request ended. Done only where a
// sample says that it pays: for random I/O the distances are longer than the sectors.
bool IoEncoder::put_streams(ColumnWriter &out)
{
    constexpr uint64_t near_sectors = 1U << 14;
    const Rows &rows = *rows_;
    const auto distance = [&](size_t row) {
        uint64_t &end = end_[rows.index[row]];
        const uint64_t stored = zigzag(rows.sector[row] - end);
        end = rows.sector[row] + (rows.bytes[row] >> 9);
        return stored;
    };
    end_ = stream_start_;
    const size_t sample = std::min<size_t>(count_, 2048);
    size_t near_ones = 0;
    for (size_t row = 0; row < sample; row++)
        near_ones += distance(row) < near_sectors;
    if (near_ones < sample - sample / 4)
        return false;
    end_ = stream_start_;
    wide_.resize(count_);
    uint64_t bits = 0;
    for (size_t row = 0; row < count_; row++)
        bits |= wide_[row] = distance(row);
    out.dictionary(IO_STREAM_START, stream_start_);
    out.stream(IO_SECTOR, std::span<const uint64_t>(wide_), bits);
    return true;
}

} // namespace blktag::store
