#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Attached in the middle: with N requests held by a device, the very first sample says N, as the kernel's own bitmap
# does, and what ends later is not taken for something that began here. Input: tagtrace, fio, tests/vm/hold.py behind
# nbd, debugfs. Output: results.
# vm: kernels=all timeout=400
# shellcheck source=tests/vm/lib.sh
. "$BLKTAG_ROOT/tests/vm/lib.sh"
# shellcheck source=tests/vm/record.sh
. "$BLKTAG_ROOT/tests/vm/record.sh"
plan 14

held=23
disk=nbd0
hold=/run/midflight.hold
hold_disk $disk $hold
check "it answers" dd if=/dev/$disk of=/dev/null bs=4k count=4 iflag=direct
touch $hold
tags=/sys/kernel/debug/block/$disk/hctx0/tags

fio --name=m --filename=/dev/$disk --direct=1 --rw=randread --bs=4k --ioengine=libaio --iodepth=$held \
    --iodepth_batch=$held --number_ios=$held --size=32M --norandommap --output-format=json \
    --output="$suite_dir/mid.fio" &
reader=$!
check "$held requests are held" until_true busy_is $disk $held

# What the kernel says while the recording runs, at its beginning and at its end.
kernel_before=$(busy $disk)
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
record second -d "$disk" -- sh -c "rm $hold; tail --pid=$reader -f /dev/null"
wait $reader
is "fio got its answers" "$(fio_ios "$suite_dir/mid.fio")" $held
is "the end of each is seen as that of a stranger" "$(fact counters.puts_unknown)" $held
is "and counted as such" "$(fact counters.completes_unknown)" $held
is "not as one of ours" "$(fact totals.completed)" 0
gauge=$(printf '%s\n' "${!facts[@]}" | sed -n 's/^\(sets\..*\.gauge\)\.held_first$/\1/p')
is "from $held to none" "$(fact "$gauge.held_first") $(fact "$gauge.held_last")" "$held 0"
kill $server
wait $server 2>/dev/null
modprobe -r nbd
