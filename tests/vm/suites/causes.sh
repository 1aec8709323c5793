#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Each cause of waiting appears on the disk where it is made, and on no other. Input: tagtrace, fio, null_blk,
# scsi_debug, the kernel's own files. Output: results.
# vm: kernels=main timeout=900
# shellcheck source=tests/vm/lib.sh
. "$BLKTAG_ROOT/tests/vm/lib.sh"
# shellcheck source=tests/vm/record.sh
. "$BLKTAG_ROOT/tests/vm/record.sh"
plan 61

causes="exhausted fair_share sched_depth reserved stuck"

# only DISK CAUSE: every wait on this disk has this cause ("" = no wait at all).
only() {
    local cause others=0 mine=''
    for cause in $causes; do
        if [ "$cause" = "$2" ]; then
            mine=$(fact "queues.$1.waits_by_cause.$cause")
        else
            others=$((others + $(fact "queues.$1.waits_by_cause.$cause")))
        fi
    done
    if [ -n "$2" ]; then
        between "$1: waits are $2" "$mine" 10 1000000
        is "$1: all of them" "$(fact "queues.$1.totals.submit_waits") $others" "$mine 0"
    else
        is "$1: no task waited for a tag" "$(fact "queues.$1.totals.submit_waits") $others" "0 0"
    fi
}

# zero DISK WHAT COUNTER...: counters of this disk that must be 0 (measured, that is).
zero() {
    local disk=$1 what=$2
    shift 2
    is "$disk: no $what" "$(sum "${@/#/queues.$disk.counters.}")" 0
}

reader() { # DISK ENGINE DEPTH JOBS COUNT [OPTION...]
    echo "fio --name=$1 --filename=/dev/$1 --direct=1 --rw=randread --bs=4k --ioengine=$2 --iodepth=$3 --numjobs=$4" \
        "--number_ios=$5 --size=32m --norandommap --group_reporting --output-format=json" \
        "--output=$suite_dir/$1.fio ${*:6}"
}

# counted DISK: what was got, with what the kernel skipped our program for (6.18 and up), is what fio did.
counted() {
    is "$1: as many gets as fio's" "$(sum "queues.$1.counters."{gets_single,gets_batch,gets_missed})" \
        "$(fio_ios "$suite_dir/$1.fio")"
}

# --- one recording over disks of their own tag set, one cause each ---
modprobe configfs 2>/dev/null
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
modprobe null_blk nr_devices=0
null_disk() { # NAME, then ATTRIBUTE=VALUE...
    local dir=/sys/kernel/config/nullb/$1 pair
    mkdir "$dir" || return 1
    for pair in size=64 queue_mode=2 submit_queues=1 irqmode=2 completion_nsec=1000000 "${@:2}"; do
        echo "${pair#*=}" >"$dir/${pair%%=*}" || return 1
    done
    echo 1 >"$dir/power"
}
scsi=/sys/bus/pseudo/drivers/scsi_debug
scsi_disks() {
    modprobe sd_mod && modprobe scsi_debug dev_size_mb=64 num_tgts=1 max_luns=1 max_queue=32 submit_queues=1 \
        ndelay=500000 && until_true sh -c "ls -d $scsi/adapter*/host*/target*/*:*/block/* >/dev/null 2>&1"
}
# Older kernels call the disks by number, whatever the folder's name: they come in this order.
check "disks" eval 'null_disk nullb0 hw_queue_depth=4 && null_disk nullb1 hw_queue_depth=64 &&
    null_disk nullb2 hw_queue_depth=4 && null_disk nullb3 hw_queue_depth=64 && null_disk nullb4 hw_queue_depth=64'
check "a SCSI disk" scsi_disks
lun=$(basename "$(echo $scsi/adapter*/host*/target*/*:*/block/*)")
sleep 1
echo 1 >"/sys/block/$lun/device/queue_depth"
for disk in nullb0 nullb3 nullb4 "$lun"; do scheduler "$disk" none; done
scheduler nullb1 mq-deadline
scheduler nullb2 mq-deadline
for file in iosched/async_depth async_depth; do
    [ -e "/sys/block/nullb1/queue/$file" ] && echo 8 >"/sys/block/nullb1/queue/$file" && async=$file
done
is "async_depth" "$(sys "/sys/block/nullb1/queue/${async:-async_depth}")" 8
for disk in nullb0 nullb1 nullb2 nullb3 "$lun"; do echo 2 >"/sys/block/$disk/queue/nomerges"; done # a request each
echo 0 >/sys/block/nullb1/queue/wbt_lat_usec
echo 64 >/sys/block/nullb2/queue/nr_requests # or its 8 scheduler tags are what runs short
echo 0 >/sys/block/nullb3/queue/wbt_lat_usec # no throttle where the freeze is looked for
echo 100 >/sys/block/nullb4/queue/wbt_lat_usec
switches_file=$suite_dir/switches

cat >"$suite_dir/workload" <<END
set -e
# nullb0: 4 tags, 16 readers
$(reader nullb0 psync 1 16 25)
# nullb1: writes that nobody waits for (async), limited by the scheduler
fio --name=w --filename=/dev/nullb1 --direct=0 --rw=randwrite --norandommap --bs=4k --ioengine=psync --number_ios=1500 \
    --size=32m --end_fsync=1 --output-format=json --output=$suite_dir/nullb1.fio
# nullb2: 4 driver tags below many scheduler tags
$(reader nullb2 libaio 32 1 400)
# nullb3: its scheduler is switched again and again under load
$(reader nullb3 psync 1 4 250) &
fio=\$!
switches=0
while kill -0 \$fio 2>/dev/null; do
    for name in mq-deadline none; do
        echo \$name 2>/dev/null >/sys/block/nullb3/queue/scheduler && switches=\$((switches + 1))
    done || true
done
echo \$switches >$switches_file
wait \$fio
# nullb4: more dirty pages than the throttle lets through
fio --name=t --filename=/dev/nullb4 --direct=0 --rw=randwrite --norandommap --bs=4k --ioengine=psync --numjobs=4 \
    --number_ios=300 --size=32m --end_fsync=1 --group_reporting --output-format=json --output=$suite_dir/nullb4.fio
# the LUN: one budget for 8 in flight
$(reader "$lun" libaio 8 1 300)
END
record each -- bash "$suite_dir/workload"
is "tagtrace says 0" "$record_status" 0
[ "$record_status" = 0 ] || explain each

only nullb0 exhausted
counted nullb0
is "nullb0: depth, held and limit at the longest" \
    "$(for f in depth held limit; do fact "queues.nullb0.submit_waits.by_cause.exhausted.at_longest.$f"; echo; done | xargs)" "4 4 4"
only nullb1 sched_depth
# The kernel's own limit: of the whole pool, or (before 6.12.43 and 6.17) of each of its four words of 32 tags.
limit=8
[ "$VM_KERNEL" = 6.1 ] && limit=$((8 / 4))
is "nullb1: the limit at the longest" "$(fact queues.nullb1.submit_waits.by_cause.sched_depth.at_longest.limit)" $limit
held=$(fact queues.nullb1.submit_waits.by_cause.sched_depth.at_longest.held)
depth=$(fact queues.nullb1.submit_waits.by_cause.sched_depth.at_longest.depth)
between "nullb1: with tags free ($held of $depth held)" "$held" 8 $((${depth:-0} - 1))
only nullb2 ""
counted nullb2
between "nullb2: dispatch waits" "$(fact queues.nullb2.totals.dispatch_waits)" 10 400
is "nullb2: they are exhausted ones" "$(fact queues.nullb2.dispatch_waits.by_cause.exhausted.time.count)" \
    "$(fact queues.nullb2.totals.dispatch_waits)"
between "nullb2: driver tags refused" "$(fact queues.nullb2.counters.driver_fails)" 10 100000
between "nullb2: RESTART fired" "$(fact queues.nullb2.totals.restarts)" 10 10000
is "nullb2: a driver tag each" "$(fact queues.nullb2.counters.driver_gets) $(fact queues.nullb2.counters.driver_puts)" \
    "400 400"
only nullb3 ""
between "nullb3: freezes, as often as it was switched" "$(fact queues.nullb3.counters.freezes)" 2 100000
between "nullb3: readers slept at the frozen queue" "$(fact queues.nullb3.counters.enter_waits)" 2 1000
is "nullb3: freeze waits are no throttle" "$(fact queues.nullb3.counters.throttle_waits)" 0
only nullb4 ""
between "nullb4: throttle waits" "$(fact queues.nullb4.counters.throttle_waits)" 1 100000
between "nullb4: their time" "$(fact queues.nullb4.not_tags.throttle.total_ns)" 1000 100000000000
only "$lun" ""
counted "$lun"
between "$lun: budgets refused" "$(fact "queues.$lun.totals.budget_refused")" 10 100000
is "$lun: taken = finished + returned" "$(fact "queues.$lun.counters.budget_taken")" \
    "$(sum "queues.$lun.counters."{budget_completed,budget_returned})"
is "$lun: one each" "$(fact "queues.$lun.counters.budget_completed")" 300
is "$lun: the limit" "$(fact "queues.$lun.budget_recorded.limit") $(fact "queues.$lun.budget_recorded.in_use_peak")" "1 1"

# --- and nowhere else ---
for disk in nullb0 nullb1 nullb3 nullb4 "$lun"; do
    zero "$disk" "dispatch wait" dispatch_waits driver_fails
done
for disk in nullb0 nullb1 nullb2 nullb3 nullb4; do
    zero "$disk" "budget" budget_taken budget_refused budget_returned budget_completed
done
for disk in nullb0 nullb1 nullb2 "$lun"; do
    zero "$disk" "throttle" throttle_waits throttle_wait_ns
    zero "$disk" "freeze" enter_waits enter_wait_ns freezes freeze_ns
done
zero nullb4 "freeze" enter_waits freezes

# --- fair share: two disks of one set of 64, one of them lightly busy ---
modprobe -r scsi_debug
rmdir /sys/kernel/config/nullb/nullb?
modprobe -r null_blk
modprobe null_blk nr_devices=2 gb=1 queue_mode=2 submit_queues=1 hw_queue_depth=64 irqmode=2 \
    completion_nsec=100000000 shared_tags=1
scheduler nullb0 none
scheduler nullb1 none
# The second disk is active for as long as the first one is: from before it until after it.
cat >"$suite_dir/share" <<END
set -e
fio --name=light --filename=/dev/nullb1 --direct=1 --rw=randread --bs=4k --ioengine=psync --time_based --runtime=120 \
    --size=32m --output=/dev/null &
light=\$!
for _ in \$(seq 100); do [ "\$(cat /sys/block/nullb1/stat | awk '{ print \$1 }')" -gt $(($(awk '{ print $1 }' /sys/block/nullb1/stat) + 5)) ] && break; sleep 0.1; done
$(reader nullb0 libaio 48 1 480)
kill -INT \$light
wait \$light || true
END
record share -- bash "$suite_dir/share"
is "fair share: tagtrace says 0" "$record_status" 0
[ "$record_status" = 0 ] || explain share
only nullb0 fair_share
counted nullb0
moment=queues.nullb0.submit_waits.by_cause.fair_share.at_longest
is "fair share: depth, limit, users" "$(fact $moment.depth) $(fact $moment.limit) $(fact $moment.users)" "64 32 2"
between "fair share: with tags free" "$(fact $moment.held)" 32 63
between "fair share: its share is used up" "$(fact $moment.active)" 31 33
tagreport "$suite_dir/share.tag" >"$suite_dir/share.txt" 2>/dev/null
check "fair share: the text prints the limit" grep -qE 'fair_share.*32|limit 32' "$suite_dir/share.txt"
is "fair share: the disks know each other" \
    "$(fact queues.nullb0.shares_with) $(fact queues.nullb1.shares_with)" "nullb1 nullb0"
only nullb1 ""
