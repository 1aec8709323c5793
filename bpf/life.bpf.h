/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * End of a request's life: its slot becomes one record. And the arguments that a return probe needs from its entry.
 * Input: slot, time. Output: a short record, or the long one where the life was not plain.
 */
#ifndef BLKTAG_LIFE_BPF_H
#define BLKTAG_LIFE_BPF_H

#include "emit.bpf.h"

enum call {
	CALL_TAG_GET,
	CALL_TAG_GET_BATCH,
	CALL_DRIVER_TAG,
	CALL_RUN,
	CALL_QUEUE_RQ,
	CALL_QUEUE_RQS,
	CALL_POLL,
	CALL_BUDGET,
	CALL_THROTTLE,
	CALL_ENTER,
	CALL_FREEZE,
};

static __always_inline __u64 call_key(enum call which)
{
	return bpf_get_current_pid_tgid() << 8 | which;
}

static __always_inline int call_enter(enum call which, __u64 a, __u64 b)
{
	struct bt_call c = { .a = a, .b = b, .ns = bpf_ktime_get_ns() };
	__u64 key = call_key(which);

	if (bpf_map_update_elem(&calls, &key, &c, BPF_ANY))
		__sync_fetch_and_add(&globals.waits_full, 1);
	return 0;
}

static __always_inline bool call_leave(enum call which, struct bt_call *out)
{
	__u64 key = call_key(which);
	struct bt_call *c = bpf_map_lookup_elem(&calls, &key);

	if (!c)
		return false;
	*out = *c;
	return !bpf_map_delete_elem(&calls, &key);
}

static __always_inline void life_end_long(struct bt_slot *s, __u64 now, __u16 sched_tag, __u16 tag)
{
	EMIT_BEGIN(rec, bt_io_long, BT_K_IO_LONG) {
		rec->sector = s->sector;
		rec->bytes = s->bytes;
		rec->tid = s->tid;
		rec->start_ns = s->start_ns;
		rec->get_ns = s->get_ns;
		rec->insert_ns = s->insert_ns;
		rec->refused_ns = s->refused_ns;
		rec->issue_ns = s->issue_ns;
		rec->complete_ns = s->complete_ns;
		rec->hctx_id = s->hctx_id;
		rec->tag = tag;
		rec->sched_tag = sched_tag;
		rec->flags = s->flags;
		rec->submit_cpu = s->submit_cpu;
		rec->complete_cpu = s->complete_cpu;
		rec->requeues = s->requeues;
		rec->op = s->op;
		rec->status = s->status;
		EMIT_END(rec, BT_K_IO_LONG, now);
	}
}

/* The tag is about to be free: the slot's record. The caller sets the slot free. */
__noinline int life_end(struct bt_slot *s, __u64 now, __u32 sched_tag, __u32 tag)
{
	__u64 queued, device, completion;

	if (!s)
		return 0;
	queued = s->issue_ns - s->get_ns;
	device = s->complete_ns - s->issue_ns;
	completion = now - s->complete_ns;
	/* plain: issued and completed once, no wait, no insert, no refusal, every part below 4.29 s */
	if (s->insert_ns | s->refused_ns | s->requeues | (s->start_ns ^ s->get_ns) |
	    (queued | device | completion) >> 32 || !s->issue_ns || !s->complete_ns) {
		life_end_long(s, now, sched_tag, tag);
		return 0;
	}
	EMIT_BEGIN(rec, bt_io, BT_K_IO) {
		rec->sector = s->sector;
		rec->bytes = s->bytes;
		rec->tid = s->tid;
		rec->get_to_issue_ns = queued;
		rec->issue_to_complete_ns = device;
		rec->complete_to_put_ns = completion;
		rec->hctx_id = s->hctx_id;
		rec->tag = tag;
		rec->flags = s->flags;
		rec->submit_cpu = s->submit_cpu;
		rec->op = s->op;
		rec->status = s->status;
		rec->pad0 = 0;
		EMIT_END(rec, BT_K_IO, now);
	}
	return 0;
}

#endif
