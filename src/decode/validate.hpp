// SPDX-License-Identifier: GPL-2.0-or-later
// What a record must satisfy before anything else may look at it. Input: records by value, from a
// ring or a file. Output: whether each is accepted; stamps put into order where clocks of two CPUs
// disagree by a little.
//
// After acceptance: enums are within their range, tags are below the kernel's greatest depth or
// BT_NO_TAG, and no stamp is later than ts_ns. So differences against ts_ns never wrap.
#pragma once

#include "blktag/records.hpp"

namespace blktag::decode {

enum class Verdict : uint8_t {
    ok,
    skewed,    // accepted; a stamp was moved by at most max_skew_ns
    malformed, // to be dropped and counted
};

// bpf_ktime_get_ns() of two CPUs may disagree by some nanoseconds, of two virtual CPUs by more.
inline constexpr uint64_t max_skew_ns = 1'000'000;
inline constexpr uint32_t max_tag = 10240; // the kernel's BLK_MQ_MAX_DEPTH
inline constexpr uint32_t max_cpus = 65536;

Verdict validate(bt_io_long &record);
Verdict validate(bt_task &record);
Verdict validate(bt_wait &record);
Verdict validate(bt_dwait &record);
Verdict validate(bt_restart &record);
Verdict validate_run(bt_run &record);
Verdict validate_arm(bt_run &record); // start_ns is a delay there
Verdict validate(bt_refuse &record);
Verdict validate(bt_batch &record);
Verdict validate(bt_budget &record);
Verdict validate(bt_other_wait &record);
Verdict validate(bt_ident_rec &record);
Verdict validate(CounterSnapshot &record);
Verdict validate(bt_gauge &record);
Verdict validate(bt_hgauge &record);
Verdict validate(bt_loss &record);

} // namespace blktag::decode
