#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Shows that ref_fault skips what it is told to, no more, and that each fault has its effect. The victims are disks of
# ref_scsi. Input: BLKTAG_MODULES (folder with ref_fault.ko and ref_scsi.ko of the running kernel), fio.
# Output: results on stdout.
# vm: kernels=long smp=4 timeout=1200
# shellcheck source=tests/vm/lib.sh
. "$BLKTAG_ROOT/tests/vm/lib.sh"
plan 53

modules=${BLKTAG_MODULES:-unset}
f=/sys/kernel/debug/ref_fault
d=/sys/kernel/debug/ref_scsi/0

truth() { awk -v k="$1" '$1 == k { print $2 }' "$f/truth"; }
host() { awk -v k="$1" '$1 == k { print $2 }' "$d/truth" "$d/state" | head -n 1; }
set_knob() { echo "$2" > "$d/$1"; }
# victim PARAMETERS...: a fresh host with two disks, a and b, unless luns=1 says otherwise
victim() {
    rmmod ref_scsi 2> /dev/null
    insmod "$modules/ref_scsi.ko" luns=2 "$@" || return
    a=$(disk 0) b=$(disk 1)
    a_dev=$(sys "/sys/block/$a/dev") b_dev=$(sys "/sys/block/$b/dev")
}
disk() { basename "$(echo "/sys/class/scsi_device/$(host host_no):0:0:$1/device/block/"*)"; }
scheduler() { for disk in "$a" "$b"; do [ ! -d "/sys/block/$disk" ] || echo "$1" > "/sys/block/$disk/queue/scheduler"; done; }
arm() { echo "$*" > $f/arm; }
refuses() { ! { arm "$@" 2> /dev/null; }; }
reads() { dd if="/dev/${2:-$a}" of=/dev/null bs=4k count="$1" iflag=direct 2> /dev/null; }
run_queues() { echo run > "/sys/kernel/debug/block/${1:-$a}/state"; }
bitmap_busy() { cat "/sys/kernel/debug/block/$1"/hctx*/tags | awk -F= '/^busy=/ { n += $2 } END { print n + 0 }'; }
until_true() { # COMMAND...: within 10 seconds
    for _ in $(seq 100); do "$@" && return 0; sleep 0.1; done
    return 1
}
host_is() { [ "$(host "$1")" = "$2" ]; }
truth_is() { [ "$(truth "$1")" = "$2" ]; }
at_least() { [ "$(truth "$1")" -ge "$2" ]; }
load_unasked() { insmod "$modules/ref_fault.ko" 2> /dev/null; }
says() { dmesg | grep -q "$1"; }
# every line is one write to `arm`
all_refused() { while read -r line; do refuses "$line" || return 1; done; }
in_kernel() { grep -qx "$1" "$suite_dir/functions"; }
alive() { kill -0 "$1" 2> /dev/null; }
gone() { ! alive "$1"; }
all_gone() { for pid in "$@"; do until_true gone "$pid" || return 1; done; }
# until they end, run the queues now and then: what was lost is asked for again
rescue() {
    for _ in $(seq 100); do
        for pid in "$@"; do alive "$pid" && break; done
        alive "$pid" || return 0
        run_queues "$a"; run_queues "$b"
        echo kick > "/sys/kernel/debug/block/$a/state"
        sleep 0.1
    done
    return 1
}
# lose NAME COUNT: until that many were skipped; what stalls meanwhile is run again
lose() {
    for _ in $(seq 60); do
        truth_is "$1.skipped" "$2" && return 0
        sleep 0.2
        run_queues "$a"; run_queues "$b"
    done
    return 1
}
random() { # disk: 200 reads
    fio --name=r --filename="/dev/$1" --direct=1 --rw=randread --bs=4k --ioengine=libaio --iodepth=8 \
        --number_ios=100 --numjobs=2 --size=8M > /dev/null
}
# a target that this kernel has not is said by name; its checks then say so too
absent() { grep -q "^$1 absent" $f/targets; }

dmesg -C
modprobe sd_mod
load_unasked
is "does not load unasked" $? 1
check "and says why" says "ref_fault: .*only with i_know=1"
check "loads" insmod "$modules/ref_fault.ko" i_know=1
victim nr_hw_queues=2 can_queue=8
sed 's/^/# /' $f/targets
is "functions that can be skipped" "$(grep -c . $f/targets)" 14
is "none is refused" "$(grep -c refused $f/targets)" 0
# all symbols once: the kernel takes its time to print them
awk '$2 ~ /^[tT]$/ { print $3 }' /proc/kallsyms > "$suite_dir/functions"
wrong=
while read -r name entry _; do
    there=; in_kernel "$name" && there=1
    case $entry:$there in absent:1 | breakpoint: | ftrace:) wrong="$wrong $name" ;; esac
done < $f/targets
is "absent are those that the kernel has not" "$wrong" ""
check "wrong commands are refused" all_refused << END
no_such_function $a_dev 1
blk_mq_put_tag 240:9 1
blk_mq_put_tag $a_dev
blk_mq_put_tag $a_dev x
blk_mq_put_tag $a_dev -1
blk_mq_put_tag $a_dev 1 hctx=2
blk_mq_put_tag $a_dev 1 nth=0
blk_mq_put_tag $a_dev 1 space=none
blk_mq_put_tag $a_dev 1 foo=1
scsi_device_unbusy $a_dev 1 hctx=0
scsi_device_unbusy $a_dev 1 space=sched
blk_mq_put_tag $a_dev 1 work=run
x
END
is "nothing placed by these" "$(grep -c 'placed 1' $f/truth)" 0

# leaked tag
scheduler none
arm blk_mq_put_tag "$a_dev" 3
reads 5 "$b"
is "other disks are left alone" "$(truth blk_mq_put_tag.hits) $(($(truth blk_mq_put_tag.calls) >= 5))" "0 1"
reads 10
is "three skipped" "$(truth blk_mq_put_tag.skipped) $(truth blk_mq_put_tag.armed)" "3 0"
is "ten seen" "$(truth blk_mq_put_tag.hits)" 10
is "three tags leaked" "$(bitmap_busy "$a") $(host total.held)" "3 0"
arm blk_mq_put_tag off
is "counts stay after off" "$(truth blk_mq_put_tag.skipped) $(truth blk_mq_put_tag.placed)" "3 0"
victim nr_hw_queues=2 can_queue=8
is "and end with the host" "$(bitmap_busy "$a")" 0
scheduler none
cpu_of_1=$(sed 's/[^0-9].*//' "/sys/block/$a/mq/1/cpu_list")
arm blk_mq_put_tag "$a_dev" 2 hctx=1
taskset -c "$(sed 's/[^0-9].*//' "/sys/block/$a/mq/0/cpu_list")" dd if="/dev/$a" of=/dev/null bs=4k count=5 iflag=direct 2> /dev/null
first=$(truth blk_mq_put_tag.hits)
taskset -c "$cpu_of_1" dd if="/dev/$a" of=/dev/null bs=4k count=5 iflag=direct 2> /dev/null
is "only the hardware queue aimed at" "$first $(truth blk_mq_put_tag.hits) $(truth blk_mq_put_tag.skipped)" "0 5 2"
victim nr_hw_queues=2 can_queue=8
scheduler none
arm blk_mq_put_tag "$a_dev" 3 nth=2
reads 10
is "every second" "$(truth blk_mq_put_tag.skipped) $(truth blk_mq_put_tag.hits) $(bitmap_busy "$a")" "3 10 3"
victim can_queue=8
scheduler mq-deadline
arm blk_mq_put_tag "$a_dev" 2 space=sched
reads 10
is "scheduler tags only" "$(bitmap_busy "$a") $(awk -F= '/^busy=/ { n += $2 } END { print n + 0 }' /sys/kernel/debug/block/"$a"/hctx*/sched_tags)" "0 2"

# leaked budget
victim can_queue=8
scheduler none
arm scsi_device_unbusy "$a_dev" 2
reads 10
is "two budget tokens leaked" "$(truth scsi_device_unbusy.skipped) $(host lun0.device_busy) $(host total.held)" "2 2 0"
arm off
victim can_queue=2
scheduler mq-deadline
set_knob target_lun 0; set_knob hold 2
reads 1 & one=$!
reads 1 & two=$!
until_true host_is parked 2
arm scsi_mq_put_budget "$b_dev" 1
reads 1 "$b" & three=$!
check "budget without a driver tag is given back" until_true truth_is scsi_mq_put_budget.skipped 1
arm off
is "and leaked" "$(host lun1.held) $(host lun1.device_busy)" "0 1"
set_knob release -1
check "all end" rescue $one $two $three
wait

# lost wake-up; of one disk only, because where disks share tags an idle one wakes all waiters within 5 seconds
victim can_queue=2 luns=1
scheduler none
set_knob hold 2
reads 1 & one=$!
reads 1 & two=$!
until_true host_is parked 2
arm sbitmap_queue_wake_up "$a_dev" 1000
reads 1 & three=$!
check "a third waits for a tag" until_true grep -q '^ws_active=1' "/sys/kernel/debug/block/$a/hctx0/tags"
set_knob release -1
check "the holders end" all_gone $one $two
sleep 1
check "wake-ups were lost" at_least sbitmap_queue_wake_up.skipped 1
check "and the waiter sleeps on" alive $three
is "with every tag free" "$(host total.held) $(bitmap_busy "$a")" "0 0"
arm off
reads 4
check "until the next completion wakes it" until_true gone $three
wait

# lost runs: a read under a scheduler needs a run of its hardware queue, and is left there without one
victim can_queue=8
scheduler mq-deadline
reads 4
before=$(host total.arrivals)
arm blk_mq_run_hw_queue "$a_dev" 1000
reads 1 & one=$!
check "a lost run: blk_mq_run_hw_queue" until_true at_least blk_mq_run_hw_queue.skipped 1
sleep 0.5
is "nothing arrives: blk_mq_run_hw_queue" "$(host total.arrivals)" "$before"
# the next one is asked for from outside, so it takes the way over the worker
for name in kblockd_mod_delayed_work_on blk_mq_run_work_fn; do
    arm $name "$a_dev" 1000
    arm blk_mq_run_hw_queue off
    run_queues
    check "a lost run: $name" until_true at_least $name.skipped 1
    sleep 0.5
    is "nothing arrives: $name" "$(host total.arrivals)" "$before"
    arm $name off
done
run_queues
check "until somebody runs it" until_true gone $one
is "and it arrives" "$(host total.arrivals)" $((before + 1))
wait

# lost restart and lost wake-up of a hardware queue: both are needed when a driver tag was short
for name in __blk_mq_sched_restart blk_mq_dispatch_wake; do
    # one tag and a device that is slow enough for the two disks to meet
    victim can_queue=1 service_ns=2000000
    scheduler mq-deadline
    arm $name "$a_dev" 3
    random "$a" & one=$!
    random "$b" & two=$!
    if absent $name; then ok "$name: absent"; else check "three lost: $name" lose $name 3; fi
    arm off
    check "all end: $name" rescue $one $two
    is "none lost: $name" "$(host total.completions)" "$(host total.issues)"
    wait
done

# requeue list that nobody kicks
for name in kblockd_mod_delayed_work_on blk_mq_requeue_work; do
    work=
    [ $name = kblockd_mod_delayed_work_on ] && work=work=requeue
    victim can_queue=8
    scheduler none
    arm $name "$a_dev" 1000 $work
    set_knob reset 1
    set_knob status_count 1; set_knob status requeue
    reads 1 & one=$!
    check "lost: $name" until_true at_least $name.skipped 1
    sleep 0.5
    is "one command waits: $name" "$(host total.requeues) $(host total.completions)" "1 1"
    arm off
    check "until somebody kicks: $name" rescue $one
done
wait

arm blk_mq_kick_requeue_list "$a_dev" 1
echo kick > "/sys/kernel/debug/block/$a/state"
is "a kick from outside: blk_mq_kick_requeue_list" "$(truth blk_mq_kick_requeue_list.skipped)" 1
arm off

# with somebody else on the same function
victim can_queue=8
scheduler none
t=/sys/kernel/tracing
echo 'p:blktag_test blk_mq_put_tag' >> $t/kprobe_events
echo hist:keys=common_cpu > $t/events/kprobes/blktag_test/trigger
echo 1 > $t/events/kprobes/blktag_test/enable
arm blk_mq_put_tag "$a_dev" 3
reads 10
is "skips beside another probe" "$(truth blk_mq_put_tag.skipped) $(bitmap_busy "$a")" "3 3"
arm off
echo 0 > $t/events/kprobes/blktag_test/enable
echo '!hist:keys=common_cpu' > $t/events/kprobes/blktag_test/trigger
echo '-:blktag_test' >> $t/kprobe_events
reads 10

arm blk_mq_run_work_fn "$a_dev" 5
check "unloads while armed" rmmod ref_fault
reads 20
victim
before=$(awk '/^Slab|^Percpu/ { n += $2 } END { print n }' /proc/meminfo)
in_and_out() { # arms every tenth time: taking a probe away waits for every task, and that is slow
    insmod "$modules/ref_fault.ko" i_know=1 || return
    [ $(($1 % 10)) != 0 ] || arm blk_mq_put_tag "$a_dev" 1 || return
    rmmod ref_fault
}
for i in $(seq 200); do in_and_out "$i" || break; done
after=$(awk '/^Slab|^Percpu/ { n += $2 } END { print n }' /proc/meminfo)
check "200 times in and out, no memory lost ($before kB, $after kB)" test "$after" -lt $((before + 8192))
rmmod ref_scsi
is "nothing is left" "$(lsmod | grep -c '^ref_')" 0
is "a clean kernel log" "$(dmesg | grep -iE 'warning:|bug:|oops|call trace|blocked for|i/o error' | head -n 3)" ""
