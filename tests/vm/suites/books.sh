#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A ring too small for a reader that pauses: records are lost, each one is accounted for, and the counts do not
# suffer. Input: tagtrace, tagreport, fio, null_blk. Output: results.
# vm: kernels=main timeout=400
# shellcheck source=tests/vm/lib.sh
. "$BLKTAG_ROOT/tests/vm/lib.sh"
# shellcheck source=tests/vm/record.sh
. "$BLKTAG_ROOT/tests/vm/record.sh"
plan 19

modprobe null_blk nr_devices=1 gb=1 queue_mode=2 submit_queues=2 hw_queue_depth=64 irqmode=0
scheduler nullb0 none

# The recorder, this shell's parent, sleeps through the reads: whatever its rings do not hold is gone.
paused() { # NAME READS: a recording whose reader is stopped while fio runs
    record "$1" -d nullb0 --ring-size=4K -- bash -c '
        sleep 0.3
        kill -STOP $PPID
        fio --name=b --filename=/dev/nullb0 --direct=1 --rw=randread --bs=4k --ioengine=io_uring --iodepth=8 \
            --number_ios='"$2"' --size=1g --norandommap --output-format=json --output='"$suite_dir/$1.fio"'
        status=$?
        kill -CONT $PPID
        exit $status'
}

reads=6007
paused small $reads
is "tagtrace says 3" "$record_status" 3
[ "$record_status" = 3 ] || explain small
is "tagreport says 3" "$report_status" 3
is "fio made them all" "$(fio_ios "$suite_dir/small.fio")" $reads
between "records are lost" "$(fact books.lost)" 1000 $((reads * 3))
between "and some are left" "$(fact books.recorded)" 1 $reads
is "the books balance to the last one" "$(fact books.produced)" "$(sum books.recorded books.lost)"
lost_by_kind=0
for path in "${!facts[@]}"; do
    [[ $path == books.lost_by_kind.* ]] && lost_by_kind=$((lost_by_kind + facts[$path]))
done
is "the losses by kind add up" "$lost_by_kind" "$(fact books.lost)"
is "lives: seen + lost = completed" "$(sum latency.whole.count books.lost_by_kind.io)" $reads
is "gets are exact" "$(fact totals.gets)" $reads
is "issues are exact" "$(fact totals.issued)" $reads
is "completions are exact" "$(fact totals.completed)" $reads
is "bytes are exact" "$(fact counters.complete_bytes)" $((reads * 4096))
tr -d ' ' <"$suite_dir/small.err" >"$suite_dir/small.joined" # it sets thousands apart
check "tagtrace's closing line has the books" grep -q \
    "$(fact books.produced)events=$(fact books.recorded)recorded+$(fact books.lost)lost" "$suite_dir/small.joined"
tagreport "$suite_dir/small.tag" >"$suite_dir/small.txt" 2>&1
is "the text report says 3 too" "$?" 3
check "the text report says LOST" grep -q "^LOST" "$suite_dir/small.txt"

# With room for all of it the same pause loses nothing.
record large -d nullb0 --ring-size=2M -- bash -c '
    kill -STOP $PPID
    fio --name=b --filename=/dev/nullb0 --direct=1 --rw=randread --bs=4k --ioengine=io_uring --iodepth=8 \
        --number_ios=2003 --size=1g --norandommap --output-format=json --output='"$suite_dir/large.fio"'
    kill -CONT $PPID'
is "2 MiB: tagtrace says 0" "$record_status" 0
[ "$record_status" = 0 ] || explain large
is "2 MiB: nothing lost" "$(fact books.lost)" 0
is "2 MiB: a life for each" "$(fact latency.whole.count)" "$(fio_ios "$suite_dir/large.fio")"
is "2 MiB: the books balance" "$(fact books.produced)" "$(fact books.recorded)"
