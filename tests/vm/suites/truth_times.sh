#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Times are the reference drivers' own, within 2 %, where the clock counts instructions: device time against the
# driver's, the wait for a tag against what the load makes it be. Input: tagtrace, fio, BLKTAG_MODULES. Output: results.
# vm: icount kernels=main timeout=1200
# shellcheck source=tests/vm/lib.sh
. "$BLKTAG_ROOT/tests/vm/lib.sh"
# shellcheck source=tests/vm/record.sh
. "$BLKTAG_ROOT/tests/vm/record.sh"
plan 16
record_limit_s=0 # the guest's time runs ahead whenever it waits for the host

# truth FILE KEY
truth() { awk -v key="$2" '$1 == key { print $2 }' "$1/truth"; }
# within NAME GOT WANT PERCENT
within() {
    between "$1" "$2" "$(awk -v x="$3" -v p="$4" 'BEGIN { print x * (1 - p / 100) }')" \
        "$(awk -v x="$3" -v p="$4" 'BEGIN { print x * (1 + p / 100) }')"
}
# run NAME DISK JOBS COUNT DEPTH
run() {
    record "$1" -d "$2" -- fio --name=t --filename="/dev/$2" --direct=1 --rw=randread --bs=4k --ioengine=libaio \
        --iodepth="$5" --numjobs="$3" --number_ios="$4" --size=16m --norandommap --thread --group_reporting \
        --output-format=json --output="$suite_dir/$1.fio"
    is "$1: tagtrace says 0" "$record_status" 0
    [ "$record_status" = 0 ] || explain "$1"
}
# device NAME DIR DISK: the sum of device times is the driver's sum, the longest is its longest.
device() {
    within "$1: device time" "$(fact "queues.$3.counters.device_ns")" "$(truth "$2" total.service_ns)" 2
    within "$1: the longest" "$(fact "queues.$3.latency.device.max_ns")" "$(truth "$2" total.service_max_ns)" 2
}

check "ref_null loads" insmod "$BLKTAG_MODULES/ref_null.ko" submit_queues=1 hw_queue_depth=8 queue_service_ns=500000
n=/sys/kernel/debug/ref_null/rnull0
scheduler rnull0 none
echo 2 >/sys/block/rnull0/queue/nomerges

# No contention: a request at a time, each is served at once.
echo 1 >$n/reset
run single rnull0 1 307 1
device single $n rnull0
# Serial service with 8 in flight: each stays 8 services long.
echo 1 >$n/reset
run serial rnull0 1 601 8
device serial $n rnull0
within "serial: eight services each" "$(fact latency.device.p50_ns)" 4000000 5
# 24 requests for 8 tags: what a wait is depends on who takes a freed tag first, but in all it is the time that fio's
# submissions took.
echo 1 >$n/reset
run waiting rnull0 24 53 1
device waiting $n rnull0
fio=$suite_dir/waiting.fio
within "waiting: the wait for a tag" "$(fact latency.submit_wait.mean_ns)" "$(fio_mean_ns "$fio" slat_ns)" 2
within "waiting: the whole life" "$(fact latency.whole.mean_ns)" "$(fio_mean_ns "$fio" lat_ns)" 2
rmmod ref_null

# Two service times and no queue: the same on a disk with parallel service.
check "ref_null loads again" insmod "$BLKTAG_MODULES/ref_null.ko" submit_queues=1 hw_queue_depth=16 time=two \
    time_ns=300000 time2_ns=3000000 time2_pct=10
scheduler rnull0 none
echo 1 >$n/reset
run two rnull0 1 503 4
within "two: device time" "$(fact queues.rnull0.counters.device_ns)" "$(truth $n total.service_ns)" 2
rmmod ref_null
