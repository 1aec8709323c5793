#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Attached in the middle: with N requests held by a device, the very first sample says N, as the kernel's own bitmap
# does, and what ends later is not taken for something that began here. Input: tagtrace, fio, scsi_debug, debugfs.
# Output: results.
# Under instruction counting, so that a slow host cannot outlast the device's delay and an idle guest need not wait. The
# time limits are in the guest's time, which runs ahead whenever it waits for the host.
# vm: icount kernels=all timeout=1200
# shellcheck source=tests/vm/lib.sh
. "$BLKTAG_ROOT/tests/vm/lib.sh"
# shellcheck source=tests/vm/record.sh
. "$BLKTAG_ROOT/tests/vm/record.sh"
plan 13
record_limit_s=600

held=23
# What the recording will need is read from the host before the device's delay runs.
for file in tagtrace fio awk; do
    path=$(command -v $file)
    # shellcheck disable=SC2046
    cat "$path" $(ldd "$path" | grep -oE '/[^ ]+') >/dev/null
done
# A disk whose delay can be changed under way: fast while its partitions are looked for, slow afterwards.
modprobe sd_mod
modprobe scsi_debug dev_size_mb=64 num_tgts=1 max_luns=1 max_queue=64 submit_queues=1 delay=0
driver=/sys/bus/pseudo/drivers/scsi_debug
until_true sh -c "ls -d $driver/adapter*/host*/target*/*:*/block/* >/dev/null 2>&1"
disk=$(basename "$(echo $driver/adapter*/host*/target*/*:*/block/*)")
scheduler "$disk" none
sleep 1
# The delay counts jiffies, and how many make a second differs: 100 of them are measured.
echo 100 >$driver/delay
start=$(date +%s%N)
dd if="/dev/$disk" of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null
took_ms=$((($(date +%s%N) - start) / 1000000))
check "the disk becomes slow ($took_ms ms for 100 jiffies)" sh -c "echo $((20 * 1000 * 100 / took_ms)) >$driver/delay"
tags=/sys/kernel/debug/block/$disk/hctx0/tags
busy() { awk -F= '/^busy=/ { print $2; exit }' "$tags"; }

fio --name=m --filename="/dev/$disk" --direct=1 --rw=randread --bs=4k --ioengine=libaio --iodepth=$held \
    --iodepth_batch=$held --number_ios=$held --size=32M --norandommap --output-format=json \
    --output="$suite_dir/mid.fio" &
reader=$!
busy_is() { [ "$(busy)" = "$1" ]; }
check "$held requests are held" until_true busy_is $held

# What the kernel says while the recording runs, at its beginning and at its end.
kernel_before=$(busy)
record first -d "$disk" -- sh -c "sleep 0.5; awk -F= '/^busy=/ { print \$2; exit }' $tags"
kernel_after=$(cat "$suite_dir/first.out")
is "tagtrace says 0" "$record_status" 0
[ "$record_status" = 0 ] || explain first
is "the bitmap stayed as it was" "$kernel_before $kernel_after" "$held $held"

# The spaces of other sets are in the file too where there are other disks.
first_gauge=$(tagtrace print --json "$suite_dir/first.tag" 2>>"$suite_dir/first.err" |
    grep -m 1 '"kind": *"gauge"' | grep -oE '"held": *[0-9]+' | grep -oE '[0-9]+')
is "the first sample says $held" "$first_gauge" $held
gauge=$(printf '%s\n' "${!facts[@]}" | sed -n 's/^\(sets\..*\.gauge\)\.held_first$/\1/p')
is "one tag space" "$(printf '%s\n' "$gauge" | grep -c .)" 1
is "the report: first, peak, last" "$(fact "$gauge.held_first") $(fact "$gauge.held_peak") $(fact "$gauge.held_last")" \
    "$held $held $held"
is "no get is made up for them" "$(fact totals.gets) $(fact totals.issued)" "0 0"

# Their end is seen without their beginning.
record second -d "$disk" -- sh -c "echo 0 2>/dev/null >$driver/delay; tail --pid=$reader -f /dev/null"
wait $reader
is "fio got its answers" "$(fio_ios "$suite_dir/mid.fio")" $held
is "the end of each is seen as that of a stranger" "$(fact counters.puts_unknown)" $held
is "and counted as such" "$(fact counters.completes_unknown)" $held
is "not as one of ours" "$(fact totals.completed)" 0
gauge=$(printf '%s\n' "${!facts[@]}" | sed -n 's/^\(sets\..*\.gauge\)\.held_first$/\1/p')
is "from $held to none" "$(fact "$gauge.held_first") $(fact "$gauge.held_last")" "$held 0"
