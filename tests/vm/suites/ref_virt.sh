#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Shows that ref_virt's rings, doorbells and batches do what they say and are counted right. Input:
# BLKTAG_MODULES (folder with ref_virt.ko of the running kernel), fio. Output: results on stdout.
# vm: kernels=long smp=4 timeout=1200
# shellcheck source=tests/vm/lib.sh
. "$BLKTAG_ROOT/tests/vm/lib.sh"
plan 21

ko=${BLKTAG_MODULES:-unset}/ref_virt.ko
d=/sys/kernel/debug/ref_virt/rvirt0

load() { insmod "$ko" "$@" && echo 2 > /sys/block/rvirt0/queue/nomerges; }
reload() { rmmod ref_virt && load "$@"; }
truth() { awk -v k="$1" '$1 == k { print $2 }' $d/truth; }
state() { awk -v k="$1" '$1 == k { print $2 }' $d/state; }
set_knob() { echo "$2" > "$d/$1"; }
refused() { ! insmod "$ko" "$@" 2> /dev/null; }
batches() { # requests, depth: handed over in one io_submit() per depth
    fio --name=b --filename=/dev/rvirt0 --direct=1 --rw=read --bs=4k --ioengine=libaio \
        --iodepth="$2" --iodepth_batch="$2" --iodepth_batch_complete_min="$2" \
        --number_ios="$1" --size="$(($1 * 4))k" > /dev/null
}
random_reads() { # requests, jobs, depth, more fio options
    fio --name=r --filename=/dev/rvirt0 --direct=1 --rw=randread --bs=4k --ioengine=libaio \
        --iodepth="$3" --number_ios="$1" --numjobs="$2" "${@:4}" > /dev/null
}

dmesg -C
check "loads" load num_queues=2
check "module BTF is there" test -s /sys/kernel/btf/ref_virt
random_reads 500 2 16
is "arrivals, issues, completions" \
    "$(truth total.arrivals) $(truth total.issues) $(truth total.completions)" "1000 1000 1000"
is "as many as the kernel counts" "$(truth total.completions)" \
    "$(awk '{ print $1 }' /sys/block/rvirt0/stat)"
is "nothing held" "$(truth total.held) $(state in_flight)" "0 0"

set_knob reset 1
batches 320 16
is "all in batches" "$(truth total.batched) $(truth total.completions)" "320 320"
between "of 16" "$(truth total.batches)" 20 40
is "one doorbell each" "$(truth total.kicks)" "$(truth total.batches)"
# older kernels build the plug list backwards; there the batch type is a plain chain
inversions=0
if grep -q HAVE_QUEUE_RQS_POINTER "$BLKTAG_MODULES/compat_config.h"; then
    inversions=$((320 - $(truth total.batches)))
fi
is "in the order of this kernel" "$(truth total.inversions)" "$inversions"

set_knob reset 1; set_knob batch_complete 1; set_knob service_ns 1000
batches 320 16
is "batched completion counts the same" "$(truth total.completions)" 320
between "fewer ends than requests" "$(truth total.end_batches)" 1 319

reload num_queues=2 queue_rqs=0
batches 320 16
is "without queue_rqs" "$(truth total.batched) $(truth total.completions)" "0 320"
between "the last one of a list rings" "$(truth total.kicks)" 20 40

# more tags than descriptors: the ring fills up
reload num_queues=1 ring_size=8 queue_depth=32 service_ns=200000
random_reads 300 2 32
is "a full ring loses nothing" \
    "$(truth total.completions) $(truth total.held) $(state hctx0.free)" "600 0 8"
between "it stopped its queue" "$(truth total.stops)" 1 100000
between "and an interrupt started it" "$(truth total.starts)" 1 100000

reload num_queues=2 poll_queues=2
fio --name=p --filename=/dev/rvirt0 --direct=1 --rw=randread --bs=512 --ioengine=io_uring --hipri \
    --iodepth=8 --number_ios=400 > /dev/null
is "polled" "$(truth total.polled)" 400
is "by the polled rings" "$(($(truth hctx2.completions) + $(truth hctx3.completions)))" 400

rmmod ref_virt
check "wrong parameters are refused" eval 'refused ring_size=1 && refused queue_rqs=2 &&
    refused indirect=0 ring_size=2'
before=$(awk '/^Slab|^Percpu/ { n += $2 } END { print n }' /proc/meminfo)
for _ in $(seq 200); do insmod "$ko" num_queues=4 && rmmod ref_virt || break; done
after=$(awk '/^Slab|^Percpu/ { n += $2 } END { print n }' /proc/meminfo)
check "200 times in and out, no memory lost ($before kB, $after kB)" \
    test "$after" -lt $((before + 8192))
expected='ref_virt: (loading out-of-tree|module verification|.*outside|.*needs ring_size)'
is "a clean kernel log" "$(dmesg | grep -vE "$expected" |
    grep -iE 'ref_virt|rvirt|warn|bug|call trace|i/o error' | head -n 3)" ""
