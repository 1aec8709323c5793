#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The bed itself: what every other suite takes for granted. Input: a booted guest. Output: results.
# vm: kernels=all timeout=60
. "$BLKTAG_ROOT/tests/vm/lib.sh"

plan 8
check "it is the kernel asked for" test "$(uname -r | cut -d. -f1,2)" = "$VM_KERNEL"
check "null_blk loads" modprobe null_blk nr_devices=1 queue_mode=2 hw_queue_depth=4
check "its disk is there" test -b /dev/nullb0
check "fio reads it" fio --name=r --filename=/dev/nullb0 --rw=randread --bs=4k --size=4M --output="$suite_dir/fio"
check "the kernel has BTF" test -s /sys/kernel/btf/vmlinux
check "block tracepoints are visible" test -d /sys/kernel/tracing/events/block/block_rq_issue
check "files written here vanish" touch /etc/blktag-written-by-a-guest
check "the host's tree is visible" test -f "$BLKTAG_ROOT/CMakeLists.txt"
