#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Rungs: every probe stands where tests/vm/expect/<kernel> says, and forced off it, the next one counts the same or the
# report says that it is not measured. Input: tagtrace, fio, null_blk, scsi_debug, tests/vm/expect. Output: results.
# vm: kernels=all timeout=1200
# shellcheck source=tests/vm/lib.sh
. "$BLKTAG_ROOT/tests/vm/lib.sh"
# shellcheck source=tests/vm/record.sh
. "$BLKTAG_ROOT/tests/vm/record.sh"

expect=$BLKTAG_ROOT/tests/vm/expect/$VM_KERNEL
scsi=/sys/bus/pseudo/drivers/scsi_debug
modprobe sd_mod
modprobe scsi_debug dev_size_mb=64 num_tgts=1 max_luns=1 max_queue=8 submit_queues=1 delay=0
modprobe null_blk nr_devices=1 gb=1 queue_mode=2 submit_queues=1 hw_queue_depth=64 irqmode=0 # words that hold a batch
until_true sh -c "ls -d $scsi/adapter*/host*/target*/*:*/block/* >/dev/null 2>&1"
lun=$(basename "$(echo $scsi/adapter*/host*/target*/*:*/block/*)")
sleep 1

# The same I/O each time: reads without a scheduler one by one and in batches, with one, and on the LUN.
reads=100
cat >"$suite_dir/workload" <<END
run() { fio --name=x --direct=1 --rw=randread --bs=4k --size=32m --norandommap --number_ios=$reads --output=/dev/null "\$@"; }
set -e
echo none >/sys/block/nullb0/queue/scheduler
run --filename=/dev/nullb0 --ioengine=psync
run --filename=/dev/nullb0 --ioengine=io_uring --iodepth=4 --iodepth_batch_submit=4 --iodepth_batch_complete_min=4
echo mq-deadline >/sys/block/nullb0/queue/scheduler
run --filename=/dev/nullb0 --ioengine=psync
run --filename=/dev/$lun --ioengine=psync
END
# A kprobe that hits while another one is handled on its CPU is skipped by the kernel: the books say so from 6.7 on, and
# before, a put that was missed shows as the next get's. What is compared is a recording that nothing happened to.
record_rungs() { # NAME OPTION...
    for _ in 1 2 3 4 5; do
        scheduler nullb0 none
        record "$1" -d nullb0 -d "$lun" "${@:2}" -- bash "$suite_dir/workload"
        [ "$(fact books.missed) $(sum counters.gets_overwritten counters.puts_unknown)" = "0 0" ] && break
        echo "# $1: again, as $(fact books.missed) runs were skipped"
    done
}

# rungs_of: "probe rung" of the recording at hand, by name.
rungs_of() {
    local path
    for path in "${!facts[@]}"; do
        [[ $path == rungs.*.rung ]] && echo "$(fact "${path%.rung}.probe") ${facts[$path]}"
    done | LC_ALL=C sort
}

# same NAME: what does not depend on timing is what it was on the best rungs.
counted="totals.gets totals.issued totals.completed counters.puts_single counters.gets_batch counters.inserts
counters.driver_gets counters.driver_puts counters.requeues counters.budget_taken counters.budget_completed
counters.batch_requests counters.complete_bytes"
counts() {
    local path
    for path in $counted; do echo "$path $(fact "$path")"; done
}
same() {
    is "$1: tagtrace says 0" "$record_status" 0
    [ "$record_status" = 0 ] || explain "$1"
    is "$1: the same counts" "$(counts)" "$best_counts"
}

# pinned COLUMN: "probe rung" of tests/vm/expect.
pinned() { awk -v column="$1" '!/^#/ && NF { print $1, $column }' "$expect" | LC_ALL=C sort; }

# as_pinned NAME COLUMN
as_pinned() {
    local differences
    pinned "$2" >"$suite_dir/pinned"
    if differences=$(rungs_of | diff "$suite_dir/pinned" - | grep '^[<>]'); then
        not_ok "$1: every probe stands where it is pinned" "(< pinned, > found) $(echo "$differences" | tr '\n' ' ')"
    else
        ok "$1: every probe stands where it is pinned"
    fi
}

# The probes that feed counts, one after the other, so that a fallback also works among best rungs.
one_by_one="tag_get tag_get_batch tag_put driver_tag rq_insert rq_issue rq_complete run"
optional=$(pinned 2 | awk '$1 != "tag_get" && $1 != "tag_put" && $1 != "gauges" { sub(/:.*/, "", $1); print $1 }' | sort -u)
# Counters that are not measured without their probe: null in the report, and never 0.
fed="gets_batch puts_batch driver_gets driver_fails dispatch_waits dispatch_wakes inserts issues completes requeues
restarts runs_asked runs_delayed runs_armed runs status_resource budget_taken budget_refused budget_returned
budget_completed throttle_waits enter_waits freezes poll_calls batch_requests"
grep -q '^queue_rqs:' "$expect" && fed="$fed batches" # a driver that offers none has had none
plan $((11 + 2 * $(echo "$one_by_one" | wc -w) + $(echo "$fed" | wc -w)))

record_rungs best
printf '%s\n' "$(rungs_of)" >"$suite_dir/best.rungs" # what to pin for a new kernel
is "best: tagtrace says 0" "$record_status" 0
[ "$record_status" = 0 ] || explain best
as_pinned best 2
best_counts=$(counts)
best_singles=$(fact counters.gets_single)
is "best: the reads of the workload" "$(fact totals.completed)" $((4 * reads))
is "best: by disk" "$(fact queues.nullb0.totals.issued) $(fact "queues.$lun.totals.issued")" "$((3 * reads)) $reads"
is "best: budgets" "$(fact counters.budget_taken) $(fact counters.budget_completed)" "$reads $reads"

best_off() { # PROBE...: the option that takes each one's best rung away
    local probe
    for probe in "$@"; do
        pinned 2 | awk -v probe="$probe" '{ name = $1; sub(/:.*/, "", name) }
            name == probe && $2 != "none" && $2 != "sampled" { print "--no-probe=" probe "/" $2 }' | sort -u
    done
}
# shellcheck disable=SC2086,SC2046
record_rungs second $(best_off tag_get tag_put $optional)
printf '%s\n' "$(rungs_of)" >"$suite_dir/second.rungs"
is "second: tagtrace says 0" "$record_status" 0
[ "$record_status" = 0 ] || explain second
as_pinned second 3
# What has no second rung is not measured; all else counts the same.
is "second: the same counts" "$(counts)" "$best_counts"

for probe in $one_by_one; do
    # shellcheck disable=SC2046
    record_rungs "$probe" $(best_off "$probe")
    same "$probe"
done

# shellcheck disable=SC2086,SC2046
record_rungs none $(printf -- '--no-probe=%s ' $optional)
is "none: tagtrace says 0" "$record_status" 0
[ "$record_status" = 0 ] || explain none
is "none: single gets and their puts are exact all the same" \
    "$(fact counters.gets_single) $(fact counters.puts_single)" "$best_singles $best_singles"
for counter in $fed; do
    is "none: $counter is not measured" "$(fact "counters.$counter")" null
done
check "none: tagtrace refuses to go on without gets" sh -c "! tagtrace --record=/run/x.tag --no-probe=tag_get -- true"
