#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Batches: what queue_rqs carries, and why not where it carries nothing. Input: tagtrace, fio, a virtio disk with two
# queues, an NVMe controller with two namespaces (both are QEMU's). Output: results.
# vm: kernels=main timeout=600
# vm-qemu: -blockdev driver=null-co,node-name=v0,size=1073741824,read-zeroes=on
# vm-qemu: -device virtio-blk-pci,drive=v0,num-queues=2,serial=blktagv0
# vm-qemu: -blockdev driver=null-co,node-name=n0,size=1073741824,read-zeroes=on
# vm-qemu: -blockdev driver=null-co,node-name=n1,size=1073741824,read-zeroes=on
# vm-qemu: -device nvme,id=nvme0,serial=blktagn0,max_ioqpairs=2
# vm-qemu: -device nvme-ns,drive=n0,bus=nvme0 -device nvme-ns,drive=n1,bus=nvme0
# shellcheck source=tests/vm/lib.sh
. "$BLKTAG_ROOT/tests/vm/lib.sh"
# shellcheck source=tests/vm/record.sh
. "$BLKTAG_ROOT/tests/vm/record.sh"
plan 26

modprobe virtio_blk
modprobe nvme
virtio='' first='' second=''
find_disks() {
    local disk
    for disk in /sys/block/vd*; do
        [ "$(sys "$disk/serial")" = blktagv0 ] && virtio=$(basename "$disk")
    done
    first=nvme0n1 second=nvme0n2
    [ -n "$virtio" ] && [ -b "/dev/$virtio" ] && [ -b /dev/$first ] && [ -b /dev/$second ]
}
until_true find_disks
check "the disks are there" find_disks
for disk in $virtio $first $second; do
    scheduler "$disk" none
    echo 2 >"/sys/block/$disk/queue/nomerges"
done
is "two queues" "$(find "/sys/block/$virtio/mq" -mindepth 1 -maxdepth 1 | wc -l)" 2

count=1600
submit() { # DISK ENGINE OPTION...: $count random reads from one CPU
    echo "fio --name=$1 --filename=/dev/$1 --direct=1 --rw=randread --bs=4k --ioengine=$2 --number_ios=$count" \
        "--size=512m --norandommap --cpus_allowed=0 --output-format=json --output=$suite_dir/$1-$2.fio ${*:3}"
}
sixteen="--iodepth=32 --iodepth_batch_submit=16 --iodepth_batch_complete_min=16 --iodepth_batch_complete_max=16"

# sizes DISK: how many calls were larger than 8
large_calls() { sum "queues.$1.counters."batch_size_{16,32,64}; }

# each DISK: requests to a call, in hundredths; nothing where there was no call.
each_hundredths() {
    local calls
    calls=$(fact "queues.$1.counters.batches")
    [ "${calls:-0}" -gt 0 ] && echo $(($(fact "queues.$1.counters.batch_requests") * 100 / calls))
}

# balanced DISK FILE: the sizes sum up, and what was not in a batch was issued directly.
balanced() {
    is "$1: calls by size" "$(sum "queues.$1.counters."batch_size_{1,2,4,8,16,32,64})" "$(fact "queues.$1.counters.batches")"
    is "$1: as many as fio's" "$(fact "queues.$1.totals.completed")" "$(fio_ios "$suite_dir/$2.fio")"
}

record sixteen -- sh -c "$(submit "$virtio" io_uring "$sixteen")
    $(submit $first io_uring "$sixteen")"
is "tagtrace says 0" "$record_status" 0
[ "$record_status" = 0 ] || explain sixteen
balanced "$virtio" "$virtio-io_uring"
balanced $first $first-io_uring
between "virtio: requests to a call, in hundredths" "$(each_hundredths "$virtio")" 1300 1700
between "virtio: calls with 9 to 16" "$(fact "queues.$virtio.counters.batch_size_16")" 80 110
between "virtio: reads in batches" "$(fact "queues.$virtio.counters.batch_requests")" $((count * 9 / 10)) $count
is "virtio: none left over" "$(fact "queues.$virtio.counters.batch_left")" 0
is "virtio: it is not said to be unused" "$(fact "queues.$virtio.batches_unused_why")" ""
is "NVMe: both namespaces on one set" "$(fact queues.$first.shares_with)" $second
# Kernels before 6.11 leave queue_rqs out where the set is shared.
if [ "$VM_KERNEL" = 6.1 ]; then
    is "NVMe: no call" "$(fact queues.$first.totals.batches)" 0
    is "NVMe: and the reason" "$(fact queues.$first.batches_unused_why)" "tag set shared"
    is "NVMe: one by one" "$(fact queues.$first.counters.direct_issues)" $count
else
    between "NVMe: requests to a call, in hundredths" "$(each_hundredths $first)" 1300 1700
    is "NVMe: it is not said to be unused" "$(fact queues.$first.batches_unused_why)" ""
    between "NVMe: reads in batches" "$(fact queues.$first.counters.batch_requests)" $((count * 9 / 10)) $count
fi
tagreport "$suite_dir/sixteen.tag" >"$suite_dir/sixteen.txt" 2>/dev/null
if [ "$VM_KERNEL" = 6.1 ]; then
    check "the text says why" grep -qi "tag set shared" "$suite_dir/sixteen.txt"
else
    check "the text does not say it is unused" sh -c "! grep -qi 'tag set shared' '$suite_dir/sixteen.txt'"
fi

# One read at a time: in a plug of its own (6.12, 6.18), or without a plug (6.1 and 7.2 up).
record single -- sh -c "$(submit "$virtio" psync)"
is "single: tagtrace says 0" "$record_status" 0
[ "$record_status" = 0 ] || explain single
balanced "$virtio" "$virtio-psync"
batched=$(fact "queues.$virtio.counters.batch_requests")
direct=$(fact "queues.$virtio.counters.direct_issues")
case $VM_KERNEL in
    6.12 | 6.18)
        is "single: batches of one" "$(fact "queues.$virtio.counters.batch_size_1") $batched $direct" "$count $count 0"
        is "single: no reason is given" "$(fact "queues.$virtio.batches_unused_why")" ""
        ;;
    *)
        is "single: issued directly" "$(fact "queues.$virtio.totals.batches") $direct" "0 $count"
        is "single: and the reason" "$(fact "queues.$virtio.batches_unused_why")" \
            "no plug: requests were issued one by one"
        ;;
esac
is "single: no call is larger" "$(large_calls "$virtio")" 0

# A scheduler takes the requests away from queue_rqs.
scheduler "$virtio" mq-deadline
record scheduled -- sh -c "$(submit "$virtio" io_uring "$sixteen")"
is "scheduled: no call" "$(fact "queues.$virtio.totals.batches")" 0
is "scheduled: the reason" "$(fact "queues.$virtio.batches_unused_why")" "scheduler set"
is "scheduled: all were inserted" "$(fact "queues.$virtio.counters.inserts")" $count
