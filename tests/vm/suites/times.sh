#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Times: where the device takes a set time and the clock counts instructions, the report's device time is that time,
# and the parts of every request's life are in order and sum to its whole. Input: tagtrace, fio, null_blk's timer.
# Output: results.
# The time limits are in the guest's time, which runs ahead whenever it waits for the host.
# vm: kernels=main icount timeout=2400
# shellcheck source=tests/vm/lib.sh
. "$BLKTAG_ROOT/tests/vm/lib.sh"
# shellcheck source=tests/vm/record.sh
. "$BLKTAG_ROOT/tests/vm/record.sh"
plan 23
record_limit_s=0 # none but the suite's own

disk_of() { # NANOSECONDS
    modprobe -r null_blk
    modprobe null_blk nr_devices=1 gb=1 queue_mode=2 submit_queues=1 hw_queue_depth=4 irqmode=2 completion_nsec="$1"
    scheduler nullb0 "${2:-none}"
}

# reads NAME ENGINE DEPTH JOBS COUNT
reads() {
    record "$1" -d nullb0 -- fio --name=t --filename=/dev/nullb0 --direct=1 --rw=randread --bs=4k \
        --ioengine="$2" --iodepth="$3" --numjobs="$4" --number_ios="$5" --size=1g --norandommap --group_reporting \
        --output-format=json --output="$suite_dir/$1.fio"
    is "$1: tagtrace says 0" "$record_status" 0
    [ "$record_status" = 0 ] || explain "$1"
}

# lives NAME: one line "requests wrong sum_of_wholes" over every request of the recording; a request is wrong where its
# stamps are not in order.
lives() {
    tagtrace print --json "$suite_dir/$1.tag" 2>>"$suite_dir/$1.err" | python3 -I -S -c 'import json, sys
count = wrong = whole = 0
for line in sys.stdin:
    record = json.loads(line)
    if record["kind"] != "io":
        continue
    count += 1
    stamps = [record[name] for name in ("start_ns", "get_ns", "issue_ns", "complete_ns", "ts_ns")]
    wrong += stamps != sorted(stamps) or stamps[0] == 0
    whole += stamps[-1] - stamps[0]
print(count, wrong, whole)'
}

phases() { sum latency.{submit_wait,queued,dispatch_wait,device,completion}.sum_ns; }

for set_ns in 1000000 200000; do
    disk_of $set_ns
    reads "one_$set_ns" psync 1 1 301
    between "one_$set_ns: the median is within 5 %" "$(fact latency.device.p50_ns)" $((set_ns * 95 / 100)) \
        $((set_ns * 105 / 100))
    between "one_$set_ns: none is faster than the device" "$(fact latency.device.min_ns)" $((set_ns * 99 / 100)) \
        $((set_ns * 105 / 100))
    is "one_$set_ns: the parts sum to the whole" "$(phases)" "$(fact latency.whole.sum_ns)"
    # The reader's own clock sees the request's life and its own way into the kernel and back around it.
    mean=$(fact latency.whole.mean_ns)
    between "one_$set_ns: the whole is what fio saw, less its own way" "${mean%.*}" $((set_ns * 99 / 100)) \
        "$(fio_mean_ns "$suite_dir/one_$set_ns.fio" lat_ns)"
done

# Eight readers of four tags: each request has waited, the device's part stays what it is.
disk_of 1000000
reads contended psync 1 8 50
is "contended: a life for each" "$(fact latency.whole.count)" 400
between "contended: the median of the device is within 5 %" "$(fact latency.device.p50_ns)" 950000 1050000
# How long they wait depends on how many have begun; that what fio saw beyond the device is the wait does not.
fio_ns=$(fio_mean_ns "$suite_dir/contended.fio" lat_ns)
between "contended: the wait is what fio saw beyond the device" "$(fact latency.submit_wait.mean_ns)" \
    $((fio_ns - 1000000 - 150000)) $((fio_ns - 950000))
is "contended: the parts sum to the whole" "$(phases)" "$(fact latency.whole.sum_ns)"
read -r count wrong whole <<<"$(lives contended)"
is "contended: every stamp in order" "$count $wrong" "400 0"
is "contended: the report's whole is the sum of them" "$whole" "$(fact latency.whole.sum_ns)"
is "contended: time waited: counter and records agree" "$(fact submit_waits.total_ns)" "$(fact submit_waits.time.sum_ns)"

# A scheduler with more tags than the device: the wait is in dispatch and no task sleeps for a tag.
disk_of 1000000 mq-deadline
reads parked libaio 32 1 400
between "parked: the median of the device is within 5 %" "$(fact latency.device.p50_ns)" 950000 1050000
is "parked: the parts sum to the whole" "$(phases)" "$(fact latency.whole.sum_ns)"
read -r count wrong whole <<<"$(lives parked)"
is "parked: every stamp in order" "$count $wrong" "400 0"
is "parked: the report's whole is the sum of them" "$whole" "$(fact latency.whole.sum_ns)"
