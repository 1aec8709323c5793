/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits that look like tag waits and are not: write-back throttle (rq_qos), a frozen queue's entry, waiting for a
 * freeze. Input: the functions that sleep for them. Output: counters and records under their own names.
 */
#include "ident.bpf.h"
#include "life.bpf.h"

static __always_inline __u64 voluntary_switches(void)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return task->nvcsw;
}

static __always_inline int other_begin(enum call which)
{
	return call_enter(which, voluntary_switches(), 0);
}

static __noinline int other_end(__u32 what, struct request_queue *q, __u64 start, __u64 now)
{
	struct bt_ident_entry *e = q ? ident_find((__u64)q) : NULL;
	struct bt_row *row;

	if (e && e->filtered)
		return 0;
	row = e ? row_of(e->id) : NULL;
	if (row && what == BT_OTHER_THROTTLE) {
		COUNT(row, throttle_waits);
		COUNT_ADD(row, throttle_wait_ns, now - start);
	} else if (row && what == BT_OTHER_ENTER) {
		COUNT(row, enter_waits);
		COUNT_ADD(row, enter_wait_ns, now - start);
	} else if (row) {
		COUNT(row, freezes);
		COUNT_ADD(row, freeze_ns, now - start);
	}
	if (!knobs.records)
		return 0;
	EMIT_BEGIN(rec, bt_other_wait, BT_K_OTHER) {
		rec->start_ns = start;
		rec->tid = bpf_get_current_pid_tgid();
		rec->queue_id = e ? e->id : BT_NO_ID;
		rec->what = what;
		rec->pad0 = 0;
		EMIT_END(rec, BT_K_OTHER, now);
	}
	return 0;
}

/* Only calls that slept count: rq_qos_wait returns at once while the throttle has room. */
static __always_inline bool other_slept(enum call which, struct bt_call *c)
{
	return call_leave(which, c) && voluntary_switches() != c->a;
}

/* The write-back throttle passes its own state behind a pointer; other users of rq_qos_wait have no queue to name. */
static __always_inline struct request_queue *throttled_queue(__u64 rqw, void *private_data)
{
	struct rq_wb *wb = NULL;
	__u64 first;

	if (!bpf_core_type_exists(struct rq_wb) || bpf_probe_read_kernel(&wb, sizeof(wb), private_data) || !wb)
		return NULL;
	first = (__u64)wb + bpf_core_field_offset(wb->rq_wait);
	if (rqw < first || rqw >= first + bpf_core_field_size(wb->rq_wait))
		return NULL;
	return rq_qos_queue((void *)wb + bpf_core_field_offset(wb->rqos));
}

SEC("fentry/rq_qos_wait")
int BPF_PROG(throttle_begin_fentry)
{
	return other_begin(CALL_THROTTLE);
}

SEC("fexit/rq_qos_wait")
int BPF_PROG(throttle_end_fexit, void *rqw, void *private_data)
{
	struct bt_call c;

	if (other_slept(CALL_THROTTLE, &c))
		other_end(BT_OTHER_THROTTLE, throttled_queue((__u64)rqw, private_data), c.ns, bpf_ktime_get_ns());
	return 0;
}

SEC("fentry/__bio_queue_enter")
int BPF_PROG(enter_begin_fentry)
{
	return other_begin(CALL_ENTER);
}

SEC("fexit/__bio_queue_enter")
int BPF_PROG(enter_end_fexit, struct request_queue *q)
{
	struct bt_call c;

	if (other_slept(CALL_ENTER, &c))
		other_end(BT_OTHER_ENTER, q, c.ns, bpf_ktime_get_ns());
	return 0;
}

SEC("fentry/blk_mq_freeze_queue_wait")
int BPF_PROG(freeze_begin_fentry)
{
	return other_begin(CALL_FREEZE);
}

SEC("fexit/blk_mq_freeze_queue_wait")
int BPF_PROG(freeze_end_fexit, struct request_queue *q)
{
	struct bt_call c;

	if (other_slept(CALL_FREEZE, &c))
		other_end(BT_OTHER_FREEZE, q, c.ns, bpf_ktime_get_ns());
	return 0;
}
