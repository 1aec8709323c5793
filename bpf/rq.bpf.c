/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A request's way through the block layer between get and put. Input: block_rq_insert, _issue, _complete, _requeue.
 * Output: stamps in the request's slot, counters, a record where a request is taken back.
 */
#include "ident.bpf.h"
#include "life.bpf.h"

/* What a program needs of a request. */
struct subject {
	struct bt_ident_entry *hctx;
	struct bt_slot *slot; /* NULL: beyond what we have room for */
	__u32 op;
};

/* false: left out by a filter or not identifiable. */
static __always_inline bool find_subject(bool typed, struct request *rq, struct subject *s)
{
	struct blk_mq_hw_ctx *h = RD(typed, rq, mq_hctx);
	int sched_tag = RD(typed, rq, internal_tag);

	if (!h)
		return false; /* bio-based or already freed */
	s->hctx = hctx_known(typed, h);
	if (!s->hctx || s->hctx->filtered)
		return false;
	s->op = knobs.op_of[RD(typed, rq, cmd_flags) & 63];
	if (sched_tag >= 0)
		s->slot = slot_at(s->hctx->sched_base, sched_tag, s->hctx->sched_depth);
	else
		s->slot = slot_at(s->hctx->base, RD(typed, rq, tag), s->hctx->depth);
	return true;
}

static __always_inline int rq_insert(bool typed, struct request *rq)
{
	struct bt_row *row;
	struct subject s;

	if (!find_subject(typed, rq, &s) || !s.slot || s.slot->state != BT_SLOT_HELD || s.op == BT_OP_FLUSH)
		return 0;
	row = row_of(s.hctx->id);
	if (row)
		COUNT(row, inserts);
	if (!s.slot->insert_ns)
		s.slot->insert_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/block_rq_insert")
int BPF_PROG(rq_insert_btf, struct request *rq)
{
	return rq_insert(true, rq);
}

SEC("raw_tp/block_rq_insert")
int rq_insert_raw(struct bpf_raw_tracepoint_args *ctx)
{
	return rq_insert(false, (void *)ctx->args[0]);
}

static __always_inline __u16 io_flags(__u32 cmd_flags, __u32 op)
{
	return (cmd_flags & knobs.rq_sync || op == BT_OP_READ ? BT_IO_SYNC : 0) |
	       (cmd_flags & knobs.rq_polled ? BT_IO_POLLED : 0) | (cmd_flags & knobs.rq_fua ? BT_IO_FUA : 0) |
	       (op == BT_OP_DRV ? BT_IO_PASSTHROUGH : 0);
}

/*
 * A driver's queue_rqs issues the requests of its list one by one: counting them here costs nothing like a walk over
 * the list, whose every step is a guarded read.
 */
static __always_inline bool batch_note(__u16 hctx_id, __u64 sector, __u32 bytes)
{
	__u32 tid = bpf_get_current_pid_tgid();
	struct bt_batch_open *open = batch_of_task(tid);

	if (!open || open->tid != tid)
		return false;
	/* a sequential stream turned round: the request ends where the one before it begins */
	if (!open->taken)
		open->hctx_id = hctx_id;
	else if (sector < open->last_sector && sector + bytes / 512 == open->last_sector)
		open->inversions++;
	open->last_sector = sector;
	open->taken++;
	return true;
}

static __always_inline int rq_issue(bool typed, struct request *rq)
{
	struct bt_slot *slot;
	struct subject s;
	struct bt_row *row;
	__u32 cmd_flags;

	if (!find_subject(typed, rq, &s) || !s.slot || s.slot->state == BT_SLOT_SKIPPED)
		return 0;
	row = row_of(s.hctx->id);
	if (!row)
		return 0;
	slot = s.slot;
	/* the flush machinery's own request borrows the tag of a request that waits for it */
	if (s.op == BT_OP_FLUSH) {
		COUNT(row, flush_issues);
		slot->flags |= BT_IO_FLUSH_SEQ;
		return 0;
	}
	if (slot->state != BT_SLOT_HELD) {
		COUNT(row, issues_unknown);
		return 0;
	}
	if (slot->issue_ns) {
		COUNT(row, reissues);
	} else {
		cmd_flags = RD(typed, rq, cmd_flags);
		slot->op = s.op;
		slot->flags |= io_flags(cmd_flags, s.op);
		slot->sector = RD(typed, rq, __sector);
		slot->bytes = RD(typed, rq, __data_len);
		COUNT(row, issues);
		if (!slot->insert_ns && !(knobs.rec_batch && batch_note(s.hctx->id, slot->sector, slot->bytes)))
			COUNT(row, direct_issues);
		if (slot->flags & BT_IO_POLLED)
			COUNT(row, polled);
		if (s.op == BT_OP_DRV)
			COUNT(row, passthrough);
	}
	slot->tag = RD(typed, rq, tag);
	slot->issue_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(rq_issue_btf, struct request *rq)
{
	return rq_issue(true, rq);
}

SEC("raw_tp/block_rq_issue")
int rq_issue_raw(struct bpf_raw_tracepoint_args *ctx)
{
	return rq_issue(false, (void *)ctx->args[0]);
}

static __always_inline int rq_complete(bool typed, struct request *rq, __u32 error, __u32 bytes)
{
	struct bt_slot *slot;
	struct subject s;
	struct bt_row *row;
	__u64 now;

	if (!find_subject(typed, rq, &s) || !s.slot || s.slot->state == BT_SLOT_SKIPPED)
		return 0;
	row = row_of(s.hctx->id);
	if (!row)
		return 0;
	slot = s.slot;
	if (s.op == BT_OP_FLUSH) {
		COUNT(row, flush_completes);
		return 0;
	}
	if (slot->state != BT_SLOT_HELD) {
		COUNT(row, completes_unknown);
		return 0;
	}
	if (bytes < RD(typed, rq, __data_len)) {
		COUNT(row, partial_completes);
		COUNT_ADD(row, complete_bytes, bytes);
		slot->flags |= BT_IO_PARTIAL;
		return 0;
	}
	now = bpf_ktime_get_ns();
	slot->complete_ns = now;
	slot->complete_cpu = bpf_get_smp_processor_id();
	slot->status = error ? BT_ST_ERROR : BT_ST_OK;
	if (error)
		COUNT(row, errors);
	if (!slot->issue_ns) {
		COUNT(row, completes_unissued);
		return 0;
	}
	COUNT(row, completes);
	COUNT_ADD(row, complete_bytes, bytes);
	COUNT_ADD(row, device_ns, now - slot->issue_ns);
	return 0;
}

/* `error` is an int up to 5.15 and a blk_status_t since: zero is success in both. */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(rq_complete_btf, struct request *rq, int error, unsigned int bytes)
{
	return rq_complete(true, rq, error & 0xff, bytes);
}

SEC("raw_tp/block_rq_complete")
int rq_complete_raw(struct bpf_raw_tracepoint_args *ctx)
{
	return rq_complete(false, (void *)ctx->args[0], ctx->args[1] & 0xff, ctx->args[2]);
}

/* Fires for a driver's requeue and for every dispatch that the driver refused. The driver tag is put already. */
static __always_inline int rq_requeue(bool typed, struct request *rq)
{
	struct subject s;
	struct bt_row *row;
	__u64 now;

	if (!find_subject(typed, rq, &s) || s.op == BT_OP_FLUSH)
		return 0;
	row = row_of(s.hctx->id);
	if (!row || (s.slot && s.slot->state == BT_SLOT_SKIPPED))
		return 0;
	COUNT(row, requeues);
	now = bpf_ktime_get_ns();
	if (s.slot && s.slot->state == BT_SLOT_HELD) {
		s.slot->requeues++;
		if (!s.slot->refused_ns)
			s.slot->refused_ns = now;
	}
	if (!knobs.records || !knobs.rec_run)
		return 0;
	EMIT_BEGIN(rec, bt_refuse, BT_K_REQUEUE) {
		rec->hctx_id = s.hctx->id;
		rec->tag = s.slot ? s.slot->tag : BT_NO_TAG;
		rec->requeues = s.slot ? s.slot->requeues : 0;
		rec->status = BT_ST_UNKNOWN;
		rec->op = s.op;
		rec->in_flight = ~0u;
		rec->pad0 = 0;
		EMIT_END(rec, BT_K_REQUEUE, now);
	}
	return 0;
}

SEC("tp_btf/block_rq_requeue")
int BPF_PROG(rq_requeue_btf, struct request *rq)
{
	return rq_requeue(true, rq);
}

SEC("raw_tp/block_rq_requeue")
int rq_requeue_raw(struct bpf_raw_tracepoint_args *ctx)
{
	return rq_requeue(false, (void *)ctx->args[0]);
}
