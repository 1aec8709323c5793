#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Shows that ref_scsi does what its knobs say and counts it right. Input: BLKTAG_MODULES (folder with ref_scsi.ko of
# the running kernel), fio. Output: results on stdout.
# vm: kernels=long smp=4 timeout=1200
# shellcheck source=tests/vm/lib.sh
. "$BLKTAG_ROOT/tests/vm/lib.sh"
plan 62

ko=${BLKTAG_MODULES:-unset}/ref_scsi.ko
debug=/sys/kernel/debug/ref_scsi
d=$debug/0
events=/sys/kernel/tracing/events/block

load() { insmod "$ko" "$@" && find_disks; }
unload() { rmmod ref_scsi; }
reload() { unload && load "$@"; }
truth() { awk -v k="$1" '$1 == k { print $2 }' "$d/truth"; }
state() { awk -v k="$1" '$1 == k { print $2 }' "$d/state"; }
set_knob() { echo "$2" > "$d/$1"; }
# disk LUN: its name
disk() { basename "$(echo "/sys/class/scsi_device/$(state host_no):0:0:$1/device/block/"*)"; }
find_disks() { a=$(disk 0); b=$(disk 1); }
reads() { dd if="/dev/${2:-$a}" of=/dev/null bs=4k count="$1" iflag=direct 2> /dev/null; }
# random NAME IOS JOBS DEPTH DISK [fio options]
random() {
    fio --name="$1" --filename="/dev/$5" --direct=1 --rw=randread --bs=4k --ioengine=libaio --iodepth="$4" \
        --number_ios="$2" --numjobs="$3" --size=64M "${@:6}" > /dev/null
}
until_true() { # COMMAND...: within 10 seconds
    for _ in $(seq 100); do "$@" && return 0; sleep 0.1; done
    return 1
}
truth_is() { [ "$(truth "$1")" = "$2" ]; }
truth_not() { [ "$(truth "$1")" != "$2" ]; }
parked_is() { [ "$(state parked)" = "$1" ]; }
refused() { ! insmod "$ko" "$@" 2> /dev/null; }
elapsed_ms() { local t0 t1; t0=$(date +%s%N); "$@"; t1=$(date +%s%N); echo $(((t1 - t0) / 1000000)); }
mean_us() { echo $(($(truth total.service_ns) / $(truth total.completions) / 1000)); }
# occupied bits of all driver tag bitmaps of a disk
bitmap_busy() { cat "/sys/kernel/debug/block/$1"/hctx*/tags | awk -F= '/^busy=/ { n += $2 } END { print n + 0 }'; }
# the kernel's own count of an event on a disk, from a histogram of its tracepoint
count_on() { for e in "$@"; do echo hist:keys=dev > "$events/$e/trigger"; done; }
count_off() { for e in "$@"; do echo '!hist:keys=dev' > "$events/$e/trigger"; done; }
counted() { # event, disk
    local major minor
    IFS=: read -r major minor < "/sys/block/$2/dev"
    sed -n 's/.*dev: *\([0-9]*\) *} *hitcount: *\([0-9]*\).*/\1 \2/p' "$events/$1/hist" |
        awk -v dev=$((major << 20 | minor)) '$1 == dev { n = $2 } END { print n + 0 }'
}

dmesg -C
modprobe sd_mod
check "loads" load nr_hw_queues=2 can_queue=64 cmd_per_lun=32 luns=2
find_disks # check runs its command in a subshell
check "two disks" test -b "/dev/$a" -a -b "/dev/$b"
check "module BTF is there" test -s /sys/kernel/btf/ref_scsi
is "who it says it is" "$(cat "/sys/block/$a/device/"{vendor,model} | xargs)" "blktag ref_scsi"
is "it does not rotate" "$(cat "/sys/block/$a/queue/rotational")" 0
dd if=/dev/urandom of="/dev/$a" bs=64k count=4 oflag=direct 2> /dev/null
check "reads give zeroes" cmp -n 262144 "/dev/$a" /dev/zero

# counts
set_knob reset 1
stat_before=$(awk '{ print $1 + $5 }' "/sys/block/$a/stat")
count_on block_rq_issue block_rq_complete
random r 500 2 16 "$a" --rw=randrw
is "arrivals" "$(truth total.arrivals)" 1000
is "issues" "$(truth total.issues)" 1000
is "completions" "$(truth total.completions)" 1000
is "reads and writes" "$(($(truth total.reads) + $(truth total.writes)))" 1000
is "as many as the kernel's books" "$(($(awk '{ print $1 + $5 }' "/sys/block/$a/stat") - stat_before))" 1000
is "as many as block_rq_issue" "$(counted block_rq_issue "$a")" 1000
is "as many as block_rq_complete" "$(counted block_rq_complete "$a")" 1000
count_off block_rq_issue block_rq_complete
is "hardware queues add up" "$(($(truth hctx0.issues) + $(truth hctx1.issues)))" 1000
is "none on the other LUN" "$(truth lun0.completions) $(truth lun1.arrivals)" "1000 0"

# exact occupancy
set_knob reset 1
set_knob hold -1
taskset -c 0 fio --name=h --filename="/dev/$a" --direct=1 --rw=randread --bs=4k --ioengine=libaio --iodepth=23 \
    --number_ios=23 --size=8M > /dev/null &
check "23 are held" until_true parked_is 23
is "23 in the truth" "$(truth total.held) $(truth lun0.held)" "23 23"
is "23 in the tag bitmap" "$(bitmap_busy "$a")" 23
is "23 budget tokens out" "$(state lun0.device_busy)" 23
set_knob hold 0
set_knob complete_one 1
check "22 after complete_one" until_true truth_is total.held 22
set_knob release -1
wait
is "none after release, 23 at most" "$(truth total.held) $(truth total.held_max)" "0 23"
check "the time they were held is in the truth" test "$(truth total.service_max_ns)" -gt 1000000

# queue depth
set_knob reset 1
echo 4 > "/sys/block/$a/device/queue_depth"
is "change_queue_depth" "$(truth lun0.depth_changes) $(state lun0.queue_depth)" "1 4"
set_knob hold -1
random q 16 1 16 "$a" &
check "no more than the queue depth" until_true parked_is 4
sleep 0.3
is "and it stays so" "$(truth lun0.held) $(state lun0.device_busy)" "4 4"
set_knob hold 0
set_knob release -1
wait
is "16 in all, 4 at once" "$(truth lun0.completions) $(truth lun0.held_max)" "16 4"
echo 32 > "/sys/block/$a/device/queue_depth"

# refusals: the midlayer keeps the command and sends it again; a busy host is asked for 7 dispatches in vain
for kind in host device target; do
    vain=1
    [ $kind = host ] && vain=7
    set_knob reset 1
    count_on block_rq_issue block_rq_requeue
    set_knob status_nth 5
    set_knob status ${kind}_busy
    reads 100
    set_knob status ok
    is "every fifth refused: $kind" "$(truth total.arrivals) $(truth total.refused_$kind) $(truth total.completions)" \
        "$((100 + $(truth total.refused_$kind))) $(($(truth total.arrivals) / 5)) 100"
    is "the kernel saw them: $kind" "$(counted block_rq_issue "$a") $(counted block_rq_requeue "$a")" \
        "$(truth total.arrivals) $(($(truth total.refused_$kind) * vain))"
    count_off block_rq_issue block_rq_requeue
done
# answers: the command comes back and is sent again
for kind in task_set_full busy requeue; do
    key=${kind/requeue/requeues}
    set_knob reset 1
    set_knob status_nth 5
    set_knob status "$kind"
    reads 100
    set_knob status ok
    is "every fifth answered $kind" "$(truth "total.$key") $(truth total.completions)" "25 125"
done
set_knob status_nth 1
set_knob reset 1; set_knob status_count 50; set_knob status requeue
reads 1
set_knob status ok
is "one command, 50 times again" "$(truth total.requeues) $(truth total.completions)" "50 51"
set_knob reset 1; set_knob status_count 3; set_knob target_lun 1; set_knob status host_busy
reads 5
is "only the LUN aimed at" "$(truth lun0.refused_host)" 0
reads 5 "$b"
is "three times" "$(truth lun1.refused_host) $(truth lun1.completions)" "3 5"
set_knob status_count 1; set_knob status_idle 1
reads 5 "$b"
is "busy while idle, and the kernel comes again" "$(truth lun1.refused_host) $(truth lun1.completions)" "4 10"
set_knob status ok; set_knob status_idle 0; set_knob status_count -1; set_knob target_lun -1

# the device model; how late a busy machine is proves nothing, so upper bounds are wide
set_knob reset 1; set_knob service_ns 2000000
between "service time" "$(elapsed_ms reads 100)" 200 60000
between "its mean in us" "$(mean_us)" 2000 500000
set_knob service_ns 0; set_knob max_iops 200; set_knob reset 1
reads 50
single_us=$(mean_us)
set_knob reset 1
between "capped at 200 a second" "$(elapsed_ms random c 200 1 16 "$a")" 990 60000
between "latency grows as the cap is reached" "$(mean_us)" $((single_us * 2)) 10000000
is "and nothing is refused" "$(truth total.arrivals)" 200
set_knob max_iops 0; set_knob reset 1; set_knob max_mbps 10
between "10 megabytes a second" "$(elapsed_ms random m 100 1 8 "$a" --bs=64k)" 600 60000
set_knob max_mbps 0

# a command that takes longer than the timeout is waited for
set_knob reset 1
echo 1 > "/sys/block/$a/device/timeout"
set_knob hold 1
reads 1 &
check "timeouts are counted" until_true truth_not total.timeouts 0
set_knob release -1
wait $!
is "and do no harm" $? 0
echo 30 > "/sys/block/$a/device/timeout"
is "no I/O error so far" "$(dmesg | grep -i 'i/o error' | head -n 1)" ""

# one bitmap for all hardware queues, or one each
cpu_of_1=$(sed 's/[^0-9].*//' "/sys/block/$a/mq/1/cpu_list")
both_sides() { # holds what two LUNs can have, from both hardware queues
    set_knob reset 1
    set_knob hold -1
    taskset -c 0 fio --name=x --filename="/dev/$a" --direct=1 --rw=randread --bs=4k --ioengine=libaio --iodepth=8 \
        --number_ios=8 --size=8M > /dev/null &
    taskset -c "$cpu_of_1" fio --name=y --filename="/dev/$b" --direct=1 --rw=randread --bs=4k --ioengine=libaio \
        --iodepth=8 --number_ios=8 --size=8M > /dev/null &
    until_true parked_is "$1"
    sleep 0.3
    truth total.held
    set_knob hold 0
    set_knob release -1
    wait
}
reload nr_hw_queues=2 can_queue=8 cmd_per_lun=8 luns=2
# up to 16: where both LUNs count as active on a hardware queue, fair share leaves some unused
between "host_tagset=0: 8 tags per hardware queue" "$(both_sides 16)" 9 16
reload nr_hw_queues=2 can_queue=8 cmd_per_lun=8 luns=2 host_tagset=1
is "host_tagset=1: 8 tags for the host" "$(both_sides 8)" 8
is "and all are served in the end" "$(truth total.completions) $(truth total.held_max)" "16 8"
reload nr_hw_queues=2 can_queue=8 cmd_per_lun=8 luns=2 target_can_queue=3
is "target_can_queue" "$(both_sides 3)" 3
reload can_queue=16 luns=2 max_iops=200 cap_scope=host cache=1 track_queue_depth=1 cmd_per_lun=16
two_luns() { random s 100 1 8 "$a" & random t 100 1 8 "$b"; wait $!; }
between "a cap for the whole host" "$(elapsed_ms two_luns)" 990 60000
set_knob max_iops 0
set_knob reset 1
dd if=/dev/zero of="/dev/$a" bs=4k count=1 conv=fsync 2> /dev/null
between "flushes arrive" "$(truth total.flushes)" 1 10
for _ in $(seq 14); do
    set_knob status_count 1; set_knob status task_set_full
    reads 1
    sleep 0.08
done
set_knob status ok
between "TASK SET FULL lowers the queue depth when tracked" "$(state lun0.queue_depth)" 1 15

# a LUN and a host that go away under load, with something held
random d 1000000 2 8 "$b" 2> /dev/null &
sleep 1
set_knob target_lun 1
set_knob hold 2
until_true parked_is 2
(echo 1 > "/sys/block/$b/device/delete") &
sleep 0.5
set_knob hold 0
set_knob release -1
wait
is "a LUN deleted under load" "$(ls "/dev/$b" 2> /dev/null)$(state parked)" "0"
set_knob target_lun -1
random e 1000000 2 8 "$a" 2> /dev/null &
sleep 1
set_knob hold 2
until_true parked_is 2
echo "remove 0" > $debug/ctl
wait
is "removal of the host drains" "$(ls -d "/dev/$a" $d 2> /dev/null)" ""
echo add > $debug/ctl
find_disks
check "a new one comes and serves" reads 5

unload
check "wrong parameters are refused" eval 'refused can_queue=0 && refused nr_hw_queues=257 && refused hosts=17 &&
    refused cap_scope=x && refused luns=0 && refused size_mb=0'
check "and it says why" test "$(dmesg | grep -cE 'ref_scsi: (can_queue=0 is outside 1..4096|cap_scope=x is not one of: lun host)')" = 2
load luns=2; unload # what is only allocated once
before=$(awk '/^Slab|^Percpu/ { n += $2 } END { print n }' /proc/meminfo)
for _ in $(seq 200); do { load nr_hw_queues=4 luns=2 && unload; } || break; done
after=$(awk '/^Slab|^Percpu/ { n += $2 } END { print n }' /proc/meminfo)
check "200 times in and out, no memory lost ($before kB, $after kB)" test "$after" -lt $((before + 8192))
is "a clean kernel log" "$(dmesg | grep -vE 'ref_scsi: (loading out-of-tree|module verification|.* is outside|.* is not one)' |
    grep -iE 'ref_scsi: |warn|bug|call trace|blocked for' | head -n 3)" ""
