#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The live mode's sums: what the kernel's own histograms say of requests, waits and their causes is, bin by bin, what
# records of the same requests say, and as many as fio made. Input: build/dev/livecheck, fio, null_blk. Output: results.
# vm: kernels=main timeout=600
# shellcheck source=tests/vm/lib.sh
. "$BLKTAG_ROOT/tests/vm/lib.sh"
# shellcheck source=tests/vm/record.sh
. "$BLKTAG_ROOT/tests/vm/record.sh"
plan 12

disk_of() { # NANOSECONDS SCHEDULER
    modprobe -r null_blk
    modprobe null_blk nr_devices=1 gb=1 queue_mode=2 submit_queues=1 hw_queue_depth=4 irqmode=2 completion_nsec="$1"
    scheduler nullb0 "$2"
}

# hold NAME ENGINE DEPTH JOBS COUNT RW: runs fio under livecheck; its lines stay in NAME.out.
hold() {
    "$BLKTAG_BUILD/dev/livecheck" -d nullb0 fio --name=t --filename=/dev/nullb0 --direct=1 --rw="$6" --bs=4k \
        --ioengine="$2" --iodepth="$3" --numjobs="$4" --number_ios="$5" --size=1g --norandommap --group_reporting \
        --output-format=json --output="$suite_dir/$1.fio" >"$suite_dir/$1.out" 2>"$suite_dir/$1.err"
    is "$1: every distribution is the same" "$? $(grep -c '^differ' "$suite_dir/$1.out")" "0 0"
    grep -E '^(differ|note)' "$suite_dir/$1.out" | sed 's/^/# /'
    sed 's/^/# /' "$suite_dir/$1.err"
}

# value NAME WORD: the number behind a word of the last line.
value() { awk -v word="$2" '/^requests/ { for (i = 1; i < NF; i++) if ($i == word) print $(i + 1) }' "$suite_dir/$1.out"; }

disk_of 50000 none
hold alone io_uring 2 1 2003 randread
is "alone: as many as fio made" "$(value alone requests)" "$(fio_ios "$suite_dir/alone.fio")"
is "alone: as many as were asked for" "$(value alone requests)" 2003
is "alone: nobody waited" "$(value alone waits)" 0
is "alone: nothing lost" "$(value alone lost)" 0

disk_of 8000000 none
hold contended psync 1 16 20 randrw
between "contended: there was waiting" "$(value contended waits)" 60 320
between "contended: requests" "$(value contended requests)" 300 320
check "contended: both operations" grep -Eq '^same write_device [1-9]' "$suite_dir/contended.out"

disk_of 1000000 mq-deadline
hold parked libaio 32 1 300 randread
is "parked: as many as fio made" "$(value parked requests)" "$(fio_ios "$suite_dir/parked.fio")"
between "parked: hctx parked" "$(value parked dispatch_waits)" 10 300
