/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A driver's own functions, attached once per driver by name: queue_rq, queue_rqs, poll. Input: their arguments and
 * results. Output: dispatch statuses, batch sizes, left-overs, order, poll hits. Maps are those of the main object.
 */
#include "bitmap.bpf.h"
#include "ident.bpf.h"
#include "life.bpf.h"

static __always_inline int status_seen(struct blk_mq_hw_ctx *hctx, struct blk_mq_queue_data *bd, __u32 status)
{
	struct bt_ident_entry *e = ident_find((__u64)hctx);
	__u32 st = knobs.status_of[status & 31], others = ~0u;
	struct bt_row *row;

	if (!e || e->filtered)
		return 0;
	row = row_of(e->id);
	if (!row)
		return 0;
	if (st == BT_ST_RESOURCE) {
		COUNT(row, status_resource);
	} else if (st == BT_ST_DEV_RESOURCE) {
		struct blk_mq_tags *tags = BPF_CORE_READ(hctx, tags);
		struct sbitmap_queue *bt = tags_bitmap(tags);

		/* the refused request still holds its driver tag; every request in flight holds one too */
		others = bitmap_held(&bt->sb) - 1;
		COUNT(row, status_dev_resource);
		if (!others)
			COUNT(row, dev_resource_idle);
	} else {
		COUNT(row, status_other);
	}
	if (!knobs.records || !knobs.rec_run)
		return 0;
	EMIT_BEGIN(rec, bt_refuse, BT_K_REFUSE) {
		rec->hctx_id = e->id;
		rec->tag = BPF_CORE_READ(bd, rq, tag);
		rec->requeues = 0;
		rec->status = st;
		rec->op = knobs.op_of[BPF_CORE_READ(bd, rq, cmd_flags) & 63];
		rec->in_flight = others;
		rec->pad0 = 0;
		EMIT_END(rec, BT_K_REFUSE, bpf_ktime_get_ns());
	}
	return 0;
}

SEC("fexit")
int BPF_PROG(queue_rq_fexit, struct blk_mq_hw_ctx *hctx, struct blk_mq_queue_data *bd, __u64 status)
{
	return status & 0xff ? status_seen(hctx, bd, status & 0xff) : 0;
}

SEC("kprobe")
int BPF_KPROBE(queue_rq_kprobe, void *hctx, void *bd)
{
	return call_enter(CALL_QUEUE_RQ, (__u64)hctx, (__u64)bd);
}

SEC("kretprobe")
int BPF_KRETPROBE(queue_rq_kretprobe, __u64 status)
{
	struct bt_call c;

	return call_leave(CALL_QUEUE_RQ, &c) && status & 0xff ? status_seen((void *)c.a, (void *)c.b, status & 0xff) : 0;
}

static __always_inline void count_batch(struct bt_row *row, __u32 n)
{
	COUNT_ADD(row, batch_requests, n);
	if (n <= 1)
		COUNT(row, batch_size_1);
	else if (n <= 2)
		COUNT(row, batch_size_2);
	else if (n <= 4)
		COUNT(row, batch_size_4);
	else if (n <= 8)
		COUNT(row, batch_size_8);
	else if (n <= 16)
		COUNT(row, batch_size_16);
	else if (n <= 32)
		COUNT(row, batch_size_32);
	else
		COUNT(row, batch_size_64);
}

/* A plug holds at most 64; what the driver leaves on the list is this task's own again. */
#define MAX_BATCH 128

/* The list's head is its first word in both shapes: struct request ** and struct rq_list *. */
static __always_inline struct request *list_first(__u64 list)
{
	struct request *rq = NULL;

	bpf_probe_read_kernel(&rq, sizeof(rq), (void *)list);
	return rq;
}

/* Opens the task's batch; requests are counted into it as the driver issues them (rq.bpf.c). The list is not read. */
static __always_inline int batch_begin(void)
{
	__u32 tid = bpf_get_current_pid_tgid();
	struct bt_batch_open *open = batch_of_task(tid);

	if (!open)
		return 0;
	open->last_sector = 0;
	open->taken = 0;
	open->inversions = 0;
	open->tid = tid;
	return 0;
}

/* Left-overs: `begun` of them had been issued before the driver put them back. */
static __always_inline __u32 count_left(struct request *rq, __u32 *begun)
{
	__u32 left = 0, state;

	for (int i = 0; i < MAX_BATCH; i++) {
		if (!rq)
			break;
		left++;
		state = BPF_CORE_READ(rq, state);
		/* in flight (1) or complete (2), without a branch that the verifier would follow 2^128 times */
		*begun += (state & MQ_RQ_IN_FLIGHT) + (state / MQ_RQ_COMPLETE & 1);
		rq = BPF_CORE_READ(rq, rq_next);
	}
	return left;
}

/* The hctx of a batch of which nothing was issued. */
static __always_inline __u32 hctx_of_first(struct request *rq)
{
	struct bt_ident_entry *e = rq ? ident_find((__u64)BPF_CORE_READ(rq, mq_hctx)) : NULL;

	return e && !e->filtered ? e->id : BT_NO_ID;
}

static __noinline int batch_end(__u64 list)
{
	__u32 tid = bpf_get_current_pid_tgid(), left = 0, begun = 0, offered, id;
	struct bt_batch_open *open = batch_of_task(tid);
	struct request *rq = list_first(list);
	struct bt_row *row;

	if (!open || open->tid != tid)
		return 0;
	open->tid = 0;
	id = open->taken ? open->hctx_id : hctx_of_first(rq);
	row = row_of(id);
	if (id == BT_NO_ID || !row)
		return 0;
	if (rq)
		left = count_left(rq, &begun);
	offered = open->taken + left - begun;
	COUNT(row, batches);
	count_batch(row, offered);
	if (open->inversions)
		COUNT_ADD(row, batch_inversions, open->inversions);
	if (left)
		COUNT_ADD(row, batch_left, left);
	if (!knobs.records || !knobs.rec_batch || (offered < 2 && !left))
		return 0;
	EMIT_BEGIN(rec, bt_batch, BT_K_BATCH) {
		rec->hctx_id = id;
		rec->offered = offered;
		rec->left = left;
		rec->inversions = open->inversions;
		EMIT_END(rec, BT_K_BATCH, bpf_ktime_get_ns());
	}
	return 0;
}

/* bpf_get_func_arg, as BTF does not let a program touch an argument of type struct request **. */
SEC("fentry")
int queue_rqs_fentry(void *ctx)
{
	return batch_begin();
}

SEC("fexit")
int queue_rqs_fexit(void *ctx)
{
	__u64 list = 0;

	bpf_get_func_arg(ctx, 0, &list);
	return batch_end(list);
}

SEC("kprobe")
int BPF_KPROBE(queue_rqs_kprobe, __u64 list)
{
	batch_begin();
	return call_enter(CALL_QUEUE_RQS, list, 0);
}

SEC("kretprobe")
int BPF_KRETPROBE(queue_rqs_kretprobe)
{
	struct bt_call c;

	return call_leave(CALL_QUEUE_RQS, &c) ? batch_end(c.a) : 0;
}

static __always_inline int poll_seen(struct request_queue *q, int found)
{
	struct bt_ident_entry *e = ident_find((__u64)q);
	struct bt_row *row = e && !e->filtered ? row_of(e->id) : NULL;

	if (!row)
		return 0;
	COUNT(row, poll_calls);
	if (found > 0)
		COUNT(row, poll_hits);
	return 0;
}

SEC("fexit")
int BPF_PROG(poll_fexit, struct blk_mq_hw_ctx *hctx, void *iob, int found)
{
	return poll_seen(hctx->queue, found);
}

SEC("kprobe")
int BPF_KPROBE(poll_kprobe, struct blk_mq_hw_ctx *hctx)
{
	return call_enter(CALL_POLL, (__u64)BPF_CORE_READ(hctx, queue), 0);
}

SEC("kretprobe")
int BPF_KRETPROBE(poll_kretprobe, int found)
{
	struct bt_call c;

	return call_leave(CALL_POLL, &c) ? poll_seen((void *)c.a, found) : 0;
}
