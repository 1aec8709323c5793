#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Exact counts: every read that fio made is got, issued and completed in the report, none is lost, and with a tag for
# each nobody waits. Input: tagtrace, tagreport, fio, null_blk. Output: results.
# vm: kernels=all timeout=600
# shellcheck source=tests/vm/lib.sh
. "$BLKTAG_ROOT/tests/vm/lib.sh"
# shellcheck source=tests/vm/record.sh
. "$BLKTAG_ROOT/tests/vm/record.sh"
plan 24

reads=100003
modprobe null_blk nr_devices=1 gb=1 queue_mode=2 submit_queues=2 hw_queue_depth=64 irqmode=0
scheduler nullb0 none
before=$(disk_ios nullb0)
record reads -d nullb0 -- fio --name=r --filename=/dev/nullb0 --direct=1 --rw=randread --bs=4k --ioengine=io_uring \
    --iodepth=32 --number_ios=$reads --size=1g --norandommap --output-format=json --output="$suite_dir/reads.fio"
kernel=$(($(disk_ios nullb0) - before))

is "tagtrace says 0" "$record_status" 0
is "tagreport says 0" "$report_status" 0
[ "$record_status$report_status" = 00 ] || explain reads
is "fio made them all" "$(fio_ios "$suite_dir/reads.fio")" $reads
is "so says the kernel" "$kernel" $reads
is "gets" "$(fact totals.gets)" $reads
is "issued" "$(fact totals.issued)" $reads
is "completed" "$(fact totals.completed)" $reads
is "by queue" "$(fact queues.nullb0.totals.gets) $(fact queues.nullb0.totals.completed)" "$reads $reads"
is "by hctx" "$(sum queues.nullb0.hctxs.{0,1}.totals.completed)" $reads
is "as many puts" "$(sum counters.puts_single counters.puts_batch)" $reads
is "bytes" "$(fact counters.complete_bytes)" $((reads * 4096))
is "nothing lost" "$(fact books.lost)" 0
is "the books balance" "$(fact books.produced)" "$(sum books.recorded books.lost)"
between "a record for each" "$(fact books.recorded)" $reads 1000000
is "each one's life is in the report" "$(fact latency.whole.count)" $reads
is "no program was skipped" "$(fact books.missed) $(fact counters.gets_missed)" "0 0"
is "nobody waited" "$(fact totals.submit_waits) $(fact totals.dispatch_waits)" "0 0"
is "nothing of it is doubtful" "$(fact damage)$(printf '%s\n' "${!facts[@]}" | grep '^notes\.')" ""

# The same with requests that stay for a while: 32 in flight at once on 32 tags of one hctx.
modprobe -r null_blk
modprobe null_blk nr_devices=1 gb=1 queue_mode=2 submit_queues=1 hw_queue_depth=64 irqmode=2 \
    completion_nsec=200000000
scheduler nullb0 none
record held -d nullb0 -- fio --name=h --filename=/dev/nullb0 --direct=1 --rw=randread --bs=4k --ioengine=io_uring \
    --iodepth=32 --number_ios=503 --size=1g --norandommap --output-format=json --output="$suite_dir/held.fio"
is "held ones: tagtrace says 0" "$record_status" 0
[ "$record_status" = 0 ] || explain held
is "held ones: as many as fio's" "$(fact totals.completed)" "$(fio_ios "$suite_dir/held.fio")"
is "held ones: gets" "$(fact totals.gets)" 503
is "held ones: nobody waited" "$(fact totals.submit_waits)" 0
is "held ones: none of the causes" "$(sum waits_by_cause.{exhausted,fair_share,sched_depth,reserved,stuck})" 0
peak=$(printf '%s\n' "${!facts[@]}" | sed -n 's/^\(sets\..*\.gauge\.held_peak\)$/\1/p' | while read -r path; do
    echo "${facts[$path]}"
done | sort -n | tail -n 1)
between "held ones: many at once" "$peak" 16 64
