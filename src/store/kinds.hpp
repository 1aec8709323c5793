// SPDX-License-Identifier: GPL-2.0-or-later
// Which column holds which field, for every kind but io and counters. Input: none. Output: tables.
// Ids are numbered by hand and only ever appended; 1 is ts, 2 the CPU that wrote the record.
#pragma once

#include "blktag/records.hpp"

#include <array>
#include <cstring>

namespace blktag::store {

struct Field {
    uint16_t id;
    uint16_t offset;
    uint8_t width;
    bool before_ts; // a moment: stored as ts - value, modulo 2^64
};

inline constexpr uint16_t ts_column = 1;
inline constexpr uint16_t cpu_column = 2;

#define BLKTAG_FIELD(type, name, id)                                                               \
    Field                                                                                          \
    {                                                                                              \
        id, offsetof(type, name), sizeof(type::name), false                                        \
    }
#define BLKTAG_MOMENT(type, name, id)                                                              \
    Field                                                                                          \
    {                                                                                              \
        id, offsetof(type, name), sizeof(type::name), true                                         \
    }

// The fields of T after its header.
template<class T>
inline constexpr auto fields_of = std::array<Field, 0>{};

template<>
inline constexpr auto fields_of<bt_task> = [] {
    std::array<Field, 4 + BT_COMM_LEN> fields{
        BLKTAG_FIELD(bt_task, tid, 3), BLKTAG_FIELD(bt_task, tgid, 4),
        BLKTAG_FIELD(bt_task, cgroup_id, 5), BLKTAG_FIELD(bt_task, start_ns, 6)};
    for (uint16_t i = 0; i < BT_COMM_LEN; i++) // one column a byte: no byte order to get wrong
        fields[4U + i] = {static_cast<uint16_t>(8 + i),
                          static_cast<uint16_t>(offsetof(bt_task, comm) + i), 1, false};
    return fields;
}();

template<>
inline constexpr auto fields_of<bt_wait> =
    std::array{BLKTAG_MOMENT(bt_wait, start_ns, 3),   BLKTAG_FIELD(bt_wait, runnable_ns, 4),
               BLKTAG_FIELD(bt_wait, tid, 5),         BLKTAG_FIELD(bt_wait, attempts, 6),
               BLKTAG_FIELD(bt_wait, sleeps, 7),      BLKTAG_FIELD(bt_wait, hctx_id, 8),
               BLKTAG_FIELD(bt_wait, end_hctx_id, 9), BLKTAG_FIELD(bt_wait, space_id, 10),
               BLKTAG_FIELD(bt_wait, tag, 11),        BLKTAG_FIELD(bt_wait, start_cpu, 12),
               BLKTAG_FIELD(bt_wait, cause, 13),      BLKTAG_FIELD(bt_wait, flags, 14),
               BLKTAG_FIELD(bt_wait, depth, 15),      BLKTAG_FIELD(bt_wait, held, 16),
               BLKTAG_FIELD(bt_wait, active, 17),     BLKTAG_FIELD(bt_wait, limit, 18),
               BLKTAG_FIELD(bt_wait, users, 19),      BLKTAG_FIELD(bt_wait, op, 20)};

template<>
inline constexpr auto fields_of<bt_dwait> =
    std::array{BLKTAG_MOMENT(bt_dwait, start_ns, 3), BLKTAG_FIELD(bt_dwait, hctx_id, 4),
               BLKTAG_FIELD(bt_dwait, space_id, 5),  BLKTAG_FIELD(bt_dwait, fails, 6),
               BLKTAG_FIELD(bt_dwait, cause, 7),     BLKTAG_FIELD(bt_dwait, flags, 8),
               BLKTAG_FIELD(bt_dwait, depth, 9),     BLKTAG_FIELD(bt_dwait, held, 10),
               BLKTAG_FIELD(bt_dwait, active, 11),   BLKTAG_FIELD(bt_dwait, limit, 12)};

template<>
inline constexpr auto fields_of<bt_restart> =
    std::array{BLKTAG_MOMENT(bt_restart, marked_ns, 3), BLKTAG_FIELD(bt_restart, hctx_id, 4)};

// RUN and ARM; an ARM's start_ns is a delay, and is stored as a plain value in its own column.
template<>
inline constexpr auto fields_of<bt_run> =
    std::array{BLKTAG_MOMENT(bt_run, start_ns, 3), BLKTAG_FIELD(bt_run, issued, 4),
               BLKTAG_FIELD(bt_run, hctx_id, 5), BLKTAG_FIELD(bt_run, flags, 6)};
inline constexpr auto arm_fields =
    std::array{BLKTAG_FIELD(bt_run, start_ns, 7), BLKTAG_FIELD(bt_run, issued, 4),
               BLKTAG_FIELD(bt_run, hctx_id, 5), BLKTAG_FIELD(bt_run, flags, 6)};

// REFUSE and REQUEUE.
template<>
inline constexpr auto fields_of<bt_refuse> =
    std::array{BLKTAG_FIELD(bt_refuse, hctx_id, 3),  BLKTAG_FIELD(bt_refuse, tag, 4),
               BLKTAG_FIELD(bt_refuse, requeues, 5), BLKTAG_FIELD(bt_refuse, status, 6),
               BLKTAG_FIELD(bt_refuse, op, 7),       BLKTAG_FIELD(bt_refuse, in_flight, 8)};

template<>
inline constexpr auto fields_of<bt_batch> =
    std::array{BLKTAG_FIELD(bt_batch, hctx_id, 3), BLKTAG_FIELD(bt_batch, offered, 4),
               BLKTAG_FIELD(bt_batch, left, 5), BLKTAG_FIELD(bt_batch, inversions, 6)};

template<>
inline constexpr auto fields_of<bt_budget> =
    std::array{BLKTAG_FIELD(bt_budget, queue_id, 3), BLKTAG_FIELD(bt_budget, flags, 4),
               BLKTAG_FIELD(bt_budget, blocked, 5), BLKTAG_FIELD(bt_budget, in_use, 6),
               BLKTAG_FIELD(bt_budget, limit, 7)};

template<>
inline constexpr auto fields_of<bt_other_wait> =
    std::array{BLKTAG_MOMENT(bt_other_wait, start_ns, 3), BLKTAG_FIELD(bt_other_wait, tid, 4),
               BLKTAG_FIELD(bt_other_wait, queue_id, 5), BLKTAG_FIELD(bt_other_wait, what, 6)};

template<>
inline constexpr auto fields_of<bt_ident_rec> =
    std::array{BLKTAG_FIELD(bt_ident_rec, id, 3),
               BLKTAG_FIELD(bt_ident_rec, what, 4),
               BLKTAG_FIELD(bt_ident_rec, hctx_type, 5),
               BLKTAG_FIELD(bt_ident_rec, queue_id, 6),
               BLKTAG_FIELD(bt_ident_rec, hctx_num, 7),
               BLKTAG_FIELD(bt_ident_rec, flags, 8),
               BLKTAG_FIELD(bt_ident_rec, dev, 9),
               BLKTAG_FIELD(bt_ident_rec, depth, 10),
               BLKTAG_FIELD(bt_ident_rec, reserved, 11),
               BLKTAG_FIELD(bt_ident_rec, space_id, 12),
               BLKTAG_FIELD(bt_ident_rec, sched_space_id, 13),
               BLKTAG_FIELD(bt_ident_rec, set_id, 14),
               BLKTAG_FIELD(bt_ident_rec, nr_ctx, 15),
               BLKTAG_FIELD(bt_ident_rec, slot_base, 16)};

template<>
inline constexpr auto fields_of<bt_gauge> =
    std::array{BLKTAG_FIELD(bt_gauge, space_id, 3),       BLKTAG_FIELD(bt_gauge, depth, 4),
               BLKTAG_FIELD(bt_gauge, held, 5),           BLKTAG_FIELD(bt_gauge, cleared, 6),
               BLKTAG_FIELD(bt_gauge, waiters, 7),        BLKTAG_FIELD(bt_gauge, users, 8),
               BLKTAG_FIELD(bt_gauge, wake_batch, 9),     BLKTAG_FIELD(bt_gauge, wakes_due, 10),
               BLKTAG_FIELD(bt_gauge, in_flight, 11),     BLKTAG_FIELD(bt_gauge, reserved_held, 12),
               BLKTAG_MOMENT(bt_gauge, oldest_get_ns, 13)};

template<>
inline constexpr auto fields_of<bt_hgauge> =
    std::array{BLKTAG_FIELD(bt_hgauge, hctx_id, 3), BLKTAG_FIELD(bt_hgauge, flags, 4),
               BLKTAG_FIELD(bt_hgauge, active, 5), BLKTAG_FIELD(bt_hgauge, dispatch_busy, 6)};

template<>
inline constexpr auto fields_of<bt_loss> = [] {
    std::array<Field, 2 + BT_NR_RING_KINDS> fields{BLKTAG_MOMENT(bt_loss, from_ns, 3),
                                                   BLKTAG_FIELD(bt_loss, of_cpu, 4)};
    for (uint16_t i = 0; i < BT_NR_RING_KINDS; i++)
        fields[2U + i] = {static_cast<uint16_t>(16 + i),
                          static_cast<uint16_t>(offsetof(bt_loss, lost) + 8U * i), 8, false};
    return fields;
}();

#undef BLKTAG_FIELD
#undef BLKTAG_MOMENT

// Columns of counters: 1 ts, 3 id, 4 what, 5 count of values, 100 + k: counter k of counters.def.
inline constexpr uint16_t counters_id = 3;
inline constexpr uint16_t counters_what = 4;
inline constexpr uint16_t counters_count = 5;
inline constexpr uint16_t counters_value = 100;

template<class T>
T load_host(const std::byte *at)
{
    T value;
    std::memcpy(&value, at, sizeof(value));
    return value;
}

// One field of a record, by its table entry.
inline uint64_t get_field(const void *record, const Field &field)
{
    const std::byte *at = static_cast<const std::byte *>(record) + field.offset;
    switch (field.width) {
    case 1:
        return load_host<uint8_t>(at);
    case 2:
        return load_host<uint16_t>(at);
    case 4:
        return load_host<uint32_t>(at);
    default:
        return load_host<uint64_t>(at);
    }
}

// false where the value does not fit the field.
inline bool set_field(void *record, const Field &field, uint64_t value)
{
    std::byte *at = static_cast<std::byte *>(record) + field.offset;
    const auto store = [&]<class T>(T narrow) {
        std::memcpy(at, &narrow, sizeof(narrow));
        return narrow == value;
    };
    switch (field.width) {
    case 1:
        return store(static_cast<uint8_t>(value));
    case 2:
        return store(static_cast<uint16_t>(value));
    case 4:
        return store(static_cast<uint32_t>(value));
    default:
        return store(value);
    }
}

} // namespace blktag::store
