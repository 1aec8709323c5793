/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dispatch budgets, per request queue: a SCSI LUN, or any driver with get_budget. Input: the driver's get_budget and
 * put_budget, SCSI's give-back at completion. Output: counters and a record for each refusal and each unused return.
 */
#include "life.bpf.h"
#include "bitmap.bpf.h"
#include "ident.bpf.h"

/* What is known of the device behind the queue; only SCSI tells. */
struct budget_view {
	__u32 in_use, limit;
	__u8 blocked;
};

static __always_inline void budget_record(__u16 queue_id, __u8 flags, struct budget_view *v)
{
	if (!knobs.records || !knobs.rec_budget)
		return;
	EMIT_BEGIN(rec, bt_budget, BT_K_BUDGET) {
		rec->queue_id = queue_id;
		rec->flags = flags;
		rec->blocked = v->blocked;
		rec->in_use = v->in_use;
		rec->limit = v->limit;
		rec->pad0 = 0;
		EMIT_END(rec, BT_K_BUDGET, bpf_ktime_get_ns());
	}
}

static __always_inline int budget_asked(struct request_queue *q, int token, struct budget_view *v)
{
	struct bt_ident_entry *e = ident_find((__u64)q);
	struct bt_row *row = e && !e->filtered ? row_of(e->id) : NULL;

	if (!row)
		return 0;
	if (token >= 0) {
		COUNT(row, budget_taken);
		return 0;
	}
	COUNT(row, budget_refused);
	budget_record(e->id, 0, v);
	return 0;
}

static __always_inline int budget_returned(struct request_queue *q, struct budget_view *v)
{
	struct bt_ident_entry *e = ident_find((__u64)q);
	struct bt_row *row = e && !e->filtered ? row_of(e->id) : NULL;

	if (!row)
		return 0;
	COUNT(row, budget_returned);
	budget_record(e->id, BT_B_RETURNED, v);
	return 0;
}

static const struct budget_view no_view = { .in_use = ~0u, .limit = ~0u };

SEC("fexit")
int BPF_PROG(get_budget_fexit, struct request_queue *q, int token)
{
	struct budget_view v = no_view;

	return budget_asked(q, token, &v);
}

SEC("kprobe")
int BPF_KPROBE(get_budget_kprobe, struct request_queue *q)
{
	return call_enter(CALL_BUDGET, (__u64)q, 0);
}

SEC("kretprobe")
int BPF_KRETPROBE(get_budget_kretprobe, int token)
{
	struct budget_view v = no_view;
	struct bt_call c;

	return call_leave(CALL_BUDGET, &c) ? budget_asked((void *)c.a, token, &v) : 0;
}

SEC("fentry")
int BPF_PROG(put_budget_fentry, struct request_queue *q)
{
	struct budget_view v = no_view;

	return budget_returned(q, &v);
}

SEC("kprobe")
int BPF_KPROBE(put_budget_kprobe, struct request_queue *q)
{
	struct budget_view v = no_view;

	return budget_returned(q, &v);
}

/* A device without a budget_map (the pseudo device for reserved commands, 7.x) has no limit to show. */
static __always_inline void scsi_look(struct request_queue *q, struct budget_view *v)
{
	struct scsi_device *sdev = BPF_CORE_READ(q, queuedata);

	*v = no_view;
	if (!sdev || !BPF_CORE_READ(sdev, budget_map.map))
		return;
	v->in_use = bitmap_held((void *)sdev + bpf_core_field_offset(sdev->budget_map));
	v->limit = BPF_CORE_READ(sdev, queue_depth);
	v->blocked = BPF_CORE_READ(sdev, device_blocked.counter) > 0;
}

SEC("fexit")
int BPF_PROG(scsi_get_budget_fexit, struct request_queue *q, int token)
{
	struct budget_view v = no_view;

	if (token < 0)
		scsi_look(q, &v);
	return budget_asked(q, token, &v);
}

SEC("fentry")
int BPF_PROG(scsi_put_budget_fentry, struct request_queue *q)
{
	struct budget_view v;

	scsi_look(q, &v);
	return budget_returned(q, &v);
}

/* The budget of a finished or refused command comes back here; scsi_queue_rq gives back inlined on its error paths. */
static __always_inline int budget_completed(struct request_queue *q)
{
	struct bt_ident_entry *e = ident_find((__u64)q);
	struct bt_row *row = e && !e->filtered ? row_of(e->id) : NULL;

	if (row)
		__sync_fetch_and_add(&row->c[BT_C_budget_completed], 1);
	return 0;
}

SEC("fentry")
int BPF_PROG(scsi_unbusy_fentry, struct scsi_device *sdev)
{
	return budget_completed(BPF_CORE_READ(sdev, request_queue));
}

SEC("kprobe")
int BPF_KPROBE(scsi_unbusy_kprobe, struct scsi_device *sdev)
{
	return budget_completed(BPF_CORE_READ(sdev, request_queue));
}

SEC("fexit")
int BPF_PROG(scsi_queue_rq_fexit, struct blk_mq_hw_ctx *hctx, void *bd, __u64 status)
{
	return status & 0xff ? budget_completed(hctx->queue) : 0;
}
