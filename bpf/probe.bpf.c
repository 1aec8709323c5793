/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Feature probe: loads first and by itself. Input: the running kernel's types. Output: what of them exists, into the
 * context. That it loads and runs at all says that BPF, BTF and our privileges are in order.
 */
#include "compat.bpf.h"
#include "blktag/knobs.h"

char LICENSE[] SEC("license") = "GPL";

SEC("syscall")
int probe(struct bt_probe *ctx)
{
	struct request_queue *q = NULL;
	struct sbitmap_queue *sbq = NULL;
	struct blk_mq_ops *ops = NULL;
	struct task_struct *task = NULL;

	ctx->ran = 1;
	ctx->tags_embedded = tags_are_embedded();
	ctx->queue_rqs = bpf_core_field_exists(ops->queue_rqs);
	ctx->wake_counters = bpf_core_field_exists(sbq->completion_cnt);
	ctx->shared_active = bpf_core_field_exists(q->nr_active_requests_shared_tags);
	ctx->run_delay = bpf_core_field_exists(task->sched_info.run_delay);
	return 0;
}
