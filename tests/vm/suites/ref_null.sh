#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Shows that ref_null does what its knobs say and counts it right. Input: BLKTAG_MODULES (folder
# with ref_null.ko of the running kernel), fio. Output: results on stdout.
# vm: kernels=long smp=4 timeout=1200
# shellcheck source=tests/vm/lib.sh
. "$BLKTAG_ROOT/tests/vm/lib.sh"
plan 51

ko=${BLKTAG_MODULES:-unset}/ref_null.ko
debug=/sys/kernel/debug/ref_null
d=$debug/rnull0

# without merges, a request of the program is one of the driver
load() {
    local queue
    insmod "$ko" "$@" || return
    for queue in /sys/block/rnull*/queue; do echo 2 > "$queue/nomerges"; done
}
unload() { rmmod ref_null; }
reload() { unload && load "$@"; }
truth() { awk -v k="$1" '$1 == k { print $2 }' "${2:-$d}/truth"; }
state() { awk -v k="$1" '$1 == k { print $2 }' "${2:-$d}/state"; }
set_knob() { echo "$2" > "${3:-$d}/$1"; }
reads() { dd if="${2:-/dev/rnull0}" of=/dev/null bs=4k count="$1" iflag=direct 2> /dev/null; }
batches() { # requests, depth: handed over in one io_submit() per depth
    fio --name=b --filename=/dev/rnull0 --direct=1 --rw=read --bs=4k --ioengine=libaio \
        --iodepth="$2" --iodepth_batch="$2" --iodepth_batch_complete_min="$2" \
        --number_ios="$1" --size="$(($1 * 4))k" > /dev/null
}
random_reads() { # requests, jobs, device, more fio options
    fio --name=r --filename="$3" --direct=1 --rw=randread --bs=4k --ioengine=libaio --iodepth=16 \
        --number_ios="$1" --numjobs="$2" "${@:4}" > /dev/null
}
# until COMMAND...: within 10 seconds
until_true() {
    for _ in $(seq 100); do "$@" && return 0; sleep 0.1; done
    return 1
}
state_is() { [ "$(state "$1")" = "$2" ]; }
busy_tags() {
    awk -F= '/^busy=/ { n += $2 } END { print n }' "/sys/kernel/debug/block/$1"/hctx*/tags
}
truth_is() { [ "$(truth "$1")" = "$2" ]; }
refused() { ! load "$@" 2> /dev/null; }
elapsed_ms() { local a b; a=$(date +%s%N); "$@"; b=$(date +%s%N); echo $(((b - a) / 1000000)); }

dmesg -C
check "loads" load nr_devices=2 shared_tags=1 submit_queues=2 hw_queue_depth=64 queue_rqs=all
is "two disks" "$(echo /dev/rnull?)" "/dev/rnull0 /dev/rnull1"
check "module BTF is there" test -s /sys/kernel/btf/ref_null

random_reads 500 2 /dev/rnull0
is "arrivals" "$(truth total.arrivals)" 1000
is "issues" "$(truth total.issues)" 1000
is "completions" "$(truth total.completions)" 1000
is "as many as the kernel counts" "$(truth total.completions)" \
    "$(awk '{ print $1 }' /sys/block/rnull0/stat)"
is "none on the other disk" "$(truth total.arrivals $debug/rnull1)" 0
is "hardware queues add up" "$(($(truth hctx0.issues) + $(truth hctx1.issues)))" 1000

# exact occupancy
set_knob hold -1
fio --name=h --filename=/dev/rnull0 --direct=1 --rw=read --bs=4k --ioengine=libaio --iodepth=23 \
    --number_ios=23 --size=92k > /dev/null &
check "23 are held" until_true state_is held 23
is "23 in the tag bitmap" "$(busy_tags rnull0)" 23
is "23 in the truth" "$(truth total.held)" 23
set_knob hold 0
set_knob complete_one 1
check "22 after complete_one" until_true state_is held 22
set_knob release -1
wait
is "none after release" "$(state held) $(truth total.held)" "0 0"

# refusals
set_knob reset 1
set_knob queue_rqs absent
set_knob status resource; set_knob status_nth 5
reads 100
set_knob status ok
is "every fifth refused" "$(truth total.refused_resource)" "$(($(truth total.arrivals) / 5))"
is "refused ones come again" "$(truth total.arrivals)" "$((100 + $(truth total.refused_resource)))"
set_knob reset 1
set_knob status_nth 1; set_knob status_idle 1; set_knob status_count 1; set_knob status dev_resource
reads 1 &
check "a broken promise" until_true truth_is total.refused_dev_resource 1
set_knob status ok
echo run > /sys/kernel/debug/block/rnull0/state
wait
is "parked, then run" "$(truth total.completions)" 1

# requeues
set_knob reset 1; set_knob requeue 3
reads 10
is "three requeues each" "$(truth total.requeues) $(truth total.completions)" "30 10"
set_knob reset 1; set_knob requeue 1; set_knob requeue_kick 0
reads 1 &
check "not kicked" until_true truth_is total.requeues 1
sleep 0.5
is "so it stays" "$(truth total.issues) $(truth total.completions)" "1 0"
set_knob kick_requeue_list 1
wait
is "until kicked" "$(truth total.issues) $(truth total.completions)" "2 1"
set_knob requeue 0; set_knob requeue_kick 1

# a stopped queue
set_knob reset 1
cpu_of_0=$(state hctx0.cpus | sed 's/[^0-9].*//')
set_knob stop 0
taskset -c "$cpu_of_0" dd if=/dev/rnull0 of=/dev/null bs=4k count=1 iflag=direct 2> /dev/null &
sleep 1
is "nothing arrives at a stopped queue" "$(truth total.arrivals) $(state hctx0.stopped)" "0 1"
set_knob start 0
wait
is "it does after the start" "$(truth total.completions)" 1

# completed, but not handed back
set_knob reset 1; set_knob hold_done 2
reads 1 &
reads 1 &
check "two lost behind the driver" until_true state_is undelivered 2
is "the driver counted them" "$(truth total.completions) $(truth total.held)" "2 0"
is "the kernel calls nothing in flight, but has their tags" \
    "$(awk '{ print $1 + $2 }' /sys/block/rnull0/inflight) $(busy_tags rnull0)" "0 2"
set_knob release -1
wait

# batches and doorbells
# a set of its own, since older kernels do not batch on shared ones
reload submit_queues=2 queue_rqs=all
batches 320 16
# and they build the list backwards, where the batch type is a plain chain
backwards=$(grep -c HAVE_QUEUE_RQS_POINTER "$BLKTAG_MODULES/compat_config.h")
is "all in batches" "$(truth total.batched) $(truth total.completions)" "320 320"
between "of up to 16" "$(truth total.batches)" 20 40
is "one doorbell each" "$(truth total.kicks)" "$(truth total.batches)"
set_knob reset 1; set_knob queue_rqs reverse
batches 320 16
is "reversed" "$(truth total.inversions)" "$(((320 - $(truth total.batches)) * !backwards))"
set_knob reset 1; set_knob queue_rqs nth; set_knob queue_rqs_nth 4
batches 320 16
is "every fourth left" "$(truth total.batch_left)" "80"
is "and issued alone" "$(truth total.completions) $(truth total.batched)" "320 240"
set_knob queue_rqs absent; set_knob reset 1; set_knob needs_commit 1
batches 320 16
is "nothing is lost" "$(truth total.completions)" 320
between "doorbells wait for the last" "$(truth total.kicks)" 20 40
set_knob needs_commit 0

# the service model
reload nr_devices=2 shared_tags=1 submit_queues=2
set_knob queue_service_ns 2000000
between "serial service of a queue" "$(elapsed_ms random_reads 200 1 /dev/rnull0)" 400 60000
between "its mean time" "$(($(truth total.service_ns) / 200000))" 16000 2000000
set_knob queue_service_ns 0; set_knob reset 1; set_knob max_iops 200
between "capped at 200 a second" "$(elapsed_ms random_reads 200 1 /dev/rnull0)" 990 60000
set_knob max_iops 0

# a disk that goes away under load, with everything stuck that can be
set_knob never 1; set_knob hold 2
random_reads 100000 2 /dev/rnull0 &
until_true state_is never 1 && until_true state_is held 2
echo "remove 0" > $debug/ctl
wait
is "removal drains" "$(ls -d /dev/rnull0 $d 2> /dev/null)" ""
echo add > $debug/ctl
check "the other one serves on, and a new one comes" eval 'reads 5 /dev/rnull1 && reads 5'

reload budget=4 hw_queue_depth=32 nr_devices=2 shared_tags=1 time_ns=200000 submit_queues=2
random_reads 400 2 /dev/rnull0
is "budget is given back" "$(truth device.budget_puts)" "$(truth device.budget_gets)"
is "with a budget all complete" "$(truth total.completions)" 800
between "it was short" "$(truth device.budget_refused)" 1 1000000
asked=$(truth device.runs_asked)
set_knob restart all; set_knob reset 1
random_reads 400 2 /dev/rnull0
between "restart=all asks for more runs" "$(truth device.runs_asked)" "$((asked + 1))" 1000000

reload submit_queues=2 poll_queues=1 host_tags=1 hw_queue_depth=16 reserved_tags=2 cache=1 \
    map=unmapped
is "a queue without CPUs" "$(grep '^hctx1.cpus' $d/state)" "hctx1.cpus "
fio --name=p --filename=/dev/rnull0 --direct=1 --rw=randread --bs=4k --ioengine=io_uring --hipri \
    --iodepth=4 --number_ios=200 > /dev/null
is "polled" "$(truth total.polled) $(truth hctx2.completions)" "200 200"
set_knob reserve 2
is "reserved tags" "$(state reserved)" 2
dd if=/dev/zero of=/dev/rnull0 bs=4k count=1 conv=fsync 2> /dev/null
between "flushes arrive" "$(truth total.flushes)" 1 10

unload
check "wrong parameters are refused" eval 'refused hw_queue_depth=0 && refused map=x &&
    refused reserved_tags=64 && refused budget=1 queue_rqs=all && refused nr_devices=65'
before=$(awk '/^Slab|^Percpu/ { n += $2 } END { print n }' /proc/meminfo)
for _ in $(seq 200); do load nr_devices=2 submit_queues=4 shared_tags=1 && unload || break; done
after=$(awk '/^Slab|^Percpu/ { n += $2 } END { print n }' /proc/meminfo)
check "200 times in and out, no memory lost ($before kB, $after kB)" \
    test "$after" -lt $((before + 8192))
expected='ref_null: (loading out-of-tree|module verification|.*outside|.*not one|.*leaves|.*exclude)'
is "a clean kernel log" "$(dmesg | grep -vE "$expected" |
    grep -iE 'ref_null|rnull|warn|bug|call trace|i/o error' | head -n 3)" ""
