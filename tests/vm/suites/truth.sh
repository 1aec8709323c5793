#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What tagtrace counts is what the reference drivers count, exactly, for each of their knobs: workloads of prime size on
# disks that differ in one knob, one recording per driver. Input: tagtrace, fio, BLKTAG_MODULES. Output: results.
# vm: kernels=main smp=4 timeout=900
# shellcheck source=tests/vm/lib.sh
. "$BLKTAG_ROOT/tests/vm/lib.sh"
# shellcheck source=tests/vm/record.sh
. "$BLKTAG_ROOT/tests/vm/record.sh"
plan 33

debug=/sys/kernel/debug
declare -A told # of the drivers: told[DISK.KEY]

# driver_truth DIR DISK: reads the driver's counters into told.
driver_truth() {
    local key value
    while read -r key value; do told[$2.$key]=$value; done <"$1/truth"
}
# truth DISK KEY...: the sum of the driver's counters; nothing where one is not there.
truth() {
    local disk=$1 key total=0
    shift
    for key in "$@"; do
        [[ ${told[$disk.$key]-} =~ ^[0-9]+$ ]] || return 1
        total=$((total + told[$disk.$key]))
    done
    printf '%s' "$total"
}
# seen DISK COUNTER...: the sum of what the report counted for this disk.
seen() {
    local disk=$1
    shift
    sum "${@/#/queues.$disk.counters.}"
}
# hctx_issued DISK and hctx_told DISK: "N N ..." by hardware queue, as long as the driver has them.
hctx_issued() {
    local n out=''
    for ((n = 0; ; n++)); do
        [ -n "${told[$1.hctx$n.issues]-}" ] || break
        out+="$(fact "queues.$1.hctxs.$n.totals.issued") "
    done
    printf '%s' "$out"
}
hctx_told() {
    local n out=''
    for ((n = 0; ; n++)); do
        [ -n "${told[$1.hctx$n.issues]-}" ] || break
        out+="${told[$1.hctx$n.issues]} "
    done
    printf '%s' "$out"
}
# same DISK: issues, completions and requeues are the driver's own count.
same() {
    is "$1: issues, completions, requeues" \
        "$(seen "$1" issues reissues) $(seen "$1" completes) $(seen "$1" requeues)" \
        "$(truth "$1" total.issues) $(truth "$1" total.completions) $(truth "$1" total.requeues total.refused_resource total.refused_dev_resource)"
}

reads() { # DISK COUNT ENGINE DEPTH [OPTION...]
    echo "fio --name=$1 --filename=/dev/$1 --direct=1 --rw=read --bs=4k --ioengine=$3 --iodepth=$4 --number_ios=$2" \
        "--size=$(($2 * 4))k ${*:5}"
}

# --- ref_null: one disk per knob, each with a tag set of its own ---
check "ref_null loads" insmod "$BLKTAG_MODULES/ref_null.ko" nr_devices=9 submit_queues=2 poll_queues=1 hw_queue_depth=64
n=$debug/ref_null
for i in 0 1 2 3 4 5 6 7 8; do
    echo 2 >"/sys/block/rnull$i/queue/nomerges"
    scheduler "rnull$i" none
done
for i in 4 5; do echo all >$n/rnull$i/queue_rqs; done
echo 7 >$n/rnull1/status_nth && echo resource >$n/rnull1/status
echo 11 >$n/rnull2/status_nth && echo dev_resource >$n/rnull2/status
echo 2 >$n/rnull3/requeue
echo nth >$n/rnull5/queue_rqs && echo 5 >$n/rnull5/queue_rqs_nth
echo 1 >$n/rnull6/needs_commit
for i in 0 1 2 3 4 5 6 7 8; do echo 1 >$n/rnull$i/reset; done
cat >"$suite_dir/null" <<END
set -e
$(reads rnull0 1009 psync 1 --numjobs=2 --rw=randread --norandommap) &
wait \$!
$(reads rnull1 503 psync 1)
$(reads rnull2 503 psync 1)
$(reads rnull3 211 psync 1)
$(reads rnull4 509 libaio 16 --iodepth_batch=16 --iodepth_batch_complete_min=16)
$(reads rnull5 509 libaio 16 --iodepth_batch=16 --iodepth_batch_complete_min=16)
$(reads rnull6 307 libaio 16 --iodepth_batch=16 --iodepth_batch_complete_min=16)
$(reads rnull7 401 io_uring 4 --hipri)
# 23 that are held: in the tool, the driver and the bitmap
echo -1 >$n/rnull8/hold
$(reads rnull8 23 libaio 23) &
for i in \$(seq 200); do grep -q '^held 23\$' $n/rnull8/state && break; sleep 0.1; done
sleep 2
grep '^held ' $n/rnull8/state >$suite_dir/held
cat $debug/block/rnull8/hctx*/tags >$suite_dir/tags
sleep 1
echo 0 >$n/rnull8/hold
echo -1 >$n/rnull8/release
wait
END
record null -- bash "$suite_dir/null"
is "ref_null: tagtrace says 0" "$record_status" 0
[ "$record_status" = 0 ] || explain null
for i in 0 1 2 3 4 5 6 7 8; do driver_truth $n/rnull$i rnull$i; done
is "ref_null: nothing lost or skipped" "$(fact books.lost) $(fact books.missed)" "0 0"
for i in 0 1 2 3 4 5 6 7 8; do same rnull$i; done
is "rnull0: its size" "$(seen rnull0 completes)" 2018
is "rnull0: a tag each" "$(seen rnull0 gets_single gets_batch) $(seen rnull0 puts_single puts_batch)" "2018 2018"
is "rnull0: by hardware queue" "$(hctx_issued rnull0)" "$(hctx_told rnull0)"
is "rnull1: refused with RESOURCE" "$(seen rnull1 status_resource)" "$(truth rnull1 total.refused_resource)"
is "rnull2: refused with DEV_RESOURCE" "$(seen rnull2 status_dev_resource)" \
    "$(truth rnull2 total.refused_dev_resource)"
is "rnull3: twice requeued, handed over three times" "$(seen rnull3 issues) $(seen rnull3 reissues)" "211 422"
is "rnull4: batches and what was in them" "$(seen rnull4 batches) $(seen rnull4 batch_requests)" \
    "$(truth rnull4 total.batches) $(truth rnull4 total.batched)"
is "rnull5: what was left on the list" "$(seen rnull5 batch_left) $(seen rnull5 batch_requests)" \
    "$(truth rnull5 total.batch_left) $(truth rnull5 total.batched total.batch_left)"
is "rnull7: polled" "$(seen rnull7 polled)" "$(truth rnull7 total.polled)"
is "23 in the driver" "$(cat "$suite_dir/held")" "held 23"
is "23 in the bitmap" "$(awk -F= '/^busy=/ { n += $2 } END { print n }' "$suite_dir/tags")" 23
# the set's number is the tool's own: find the pool of rnull8 by its peak among those of depth 64
held=$(printf '%s\n' "${!facts[@]}" | sed -n 's/^\(sets\..*\)\.gauge\.held_peak$/\1/p' | while read -r path; do
    printf '%s\n' "${facts[$path.gauge.held_peak]}"
done | sort -n | tail -n 1)
is "23 in the tool" "$held" 23
rmmod ref_null

# --- ref_virt: rings that fill, batches, batched completion ---
check "ref_virt loads" insmod "$BLKTAG_MODULES/ref_virt.ko" nr_devices=1 num_queues=2 ring_size=8 queue_depth=32 \
    service_ns=50000 batch_complete=1
echo 2 >/sys/block/rvirt0/queue/nomerges
scheduler rvirt0 none
echo 1 >$debug/ref_virt/rvirt0/reset
record virt -- bash -c "$(reads rvirt0 601 libaio 16 --iodepth_batch=8)"
driver_truth $debug/ref_virt/rvirt0 rvirt0
same rvirt0
is "rvirt0: batches" "$(seen rvirt0 batches) $(seen rvirt0 batch_requests)" \
    "$(truth rvirt0 total.batches) $(truth rvirt0 total.batched)"
is "rvirt0: refused by a full ring" "$(seen rvirt0 status_dev_resource)" "$(truth rvirt0 total.refused_dev_resource)"
is "rvirt0: batched completions" "$(seen rvirt0 complete_batches)" "$(truth rvirt0 total.end_batches)"
rmmod ref_virt

# --- ref_scsi: the midlayer's budget, refusals ---
modprobe sd_mod
scsi_up() {
    insmod "$BLKTAG_MODULES/ref_scsi.ko" nr_hw_queues=2 can_queue=32 cmd_per_lun=4 luns=1 &&
        until_true sh -c 'grep -q ref_scsi /sys/block/sd*/device/model'
}
check "ref_scsi loads" scsi_up
lun=$(basename "$(dirname "$(dirname "$(grep -l ref_scsi /sys/block/sd*/device/model)")")")
echo 2 >"/sys/block/$lun/queue/nomerges"
scheduler "$lun" none
s=$debug/ref_scsi/0
echo 13 >$s/status_nth && echo device_busy >$s/status
until_true sh -c "echo 1 >$s/reset"
record scsi -- bash -c "$(reads "$lun" 499 libaio 16)"
echo ok >$s/status
driver_truth $s "$lun"
is "scsi: issues, completions" "$(seen "$lun" issues reissues) $(seen "$lun" completes)" \
    "$(truth "$lun" total.arrivals) $(truth "$lun" total.completions)"
is "scsi: each refusal was taken back" "$(seen "$lun" requeues)" "$(truth "$lun" total.refused_device)"
is "scsi: budgets taken are given back" "$(seen "$lun" budget_taken)" "$(seen "$lun" budget_returned budget_completed)"
rmmod ref_scsi
