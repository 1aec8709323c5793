/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happens to a hardware context: driver tags missing in dispatch (no task sleeps), RESTART, queue runs; and its
 * coming and going. Input: dispatch-side functions of blk-mq. Output: counters, dispatch_wait, restart and run records.
 */
#include "hist.bpf.h"
#include "life.bpf.h"
#include "wait.bpf.h"

/* An argument as a plain number, where the typed pointer would not do. */
static __always_inline __u64 argument(void *ctx, __u32 n)
{
	__u64 value = 0;

	bpf_get_func_arg(ctx, n, &value);
	return value;
}

static __always_inline struct bt_hstate *hstate_of(__u32 id)
{
	return bpf_map_lookup_elem(&hstates, &id);
}

/* `rq`: the request that found no driver tag, the first one of its hctx since the last that did. */
__noinline int park_begin(__u32 id, __u64 rq_ptr, __u32 reserved)
{
	struct blk_mq_hw_ctx *hctx = BPF_CORE_READ((struct request *)rq_ptr, mq_hctx);
	struct bt_hstate *hs = hstate_of(id);
	struct refusal r = {};

	if (!hs)
		return 0;
	classify(&r, (__u64)hctx, (__u64)BPF_CORE_READ(hctx, tags), 0, reserved ? CLASSIFY_RESERVED : 0);
	hs->park_fails = 0;
	hs->park_depth = r.depth;
	hs->park_held = r.held;
	hs->park_active = r.active;
	hs->park_limit = r.limit;
	hs->park_cause = r.cause;
	return 0;
}

__noinline int park_end(__u64 now, __u64 since, __u32 ids)
{
	struct bt_row *row = row_of(ids & 0xffff);
	struct bt_hstate *hs = hstate_of(ids & 0xffff);

	if (!hs || !row)
		return 0;
	__sync_fetch_and_add(&row->c[BT_C_dispatch_waits], 1);
	__sync_fetch_and_add(&row->c[BT_C_dispatch_wait_ns], now - since);
	if (hs->park_cause == BT_CAUSE_FAIR_SHARE)
		__sync_fetch_and_add(&row->c[BT_C_dispatch_waits_fair_share], 1);
	if (knobs.hists)
		hist_rare(ids & 0xffff, BT_HB_DWAIT, hs->park_cause, now - since);
	if (!knobs.records)
		return 0;
	EMIT_BEGIN(rec, bt_dwait, BT_K_DWAIT) {
		rec->start_ns = since;
		rec->hctx_id = ids & 0xffff;
		rec->space_id = ids >> 16;
		rec->fails = hs->park_fails > 0xffff ? 0xffff : hs->park_fails;
		rec->cause = hs->park_cause;
		rec->flags = 0;
		rec->depth = hs->park_depth;
		rec->held = hs->park_held;
		rec->active = hs->park_active;
		rec->limit = hs->park_limit;
		EMIT_END(rec, BT_K_DWAIT, now);
	}
	return 0;
}

/* A request that lives on a scheduler tag asks for its driver tag. The hctx is parked from the first failure on. */
static __always_inline int driver_tag(bool typed, struct request *rq, __u64 ptr, bool got)
{
	struct blk_mq_hw_ctx *hctx = RD(typed, rq, mq_hctx);
	int sched_tag = RD(typed, rq, internal_tag);
	struct bt_slot *s, *life;
	struct bt_ident_entry *e;
	struct bt_hstate *hs;
	struct bt_row *row;
	__u64 now, since;
	__u32 id;

	if (!hctx || sched_tag < 0)
		return 0; /* no scheduler: the tag was taken at allocation */
	e = hctx_known(typed, hctx);
	if (!e || e->filtered)
		return 0;
	id = e->id;
	row = row_of(id);
	hs = hstate_of(id);
	life = slot_at(e->sched_base, sched_tag, e->sched_depth);
	if (!row || !hs || (life && life->state == BT_SLOT_SKIPPED))
		return 0;
	if (!got) {
		now = bpf_ktime_get_ns();
		COUNT(row, driver_fails);
		if (life && life->state == BT_SLOT_HELD && !life->refused_ns)
			life->refused_ns = now;
		if (!hs->park_ns && !__sync_val_compare_and_swap(&hs->park_ns, 0, now))
			park_begin(id, ptr, sched_tag < e->sched_reserved);
		__sync_fetch_and_add(&hs->park_fails, 1);
		return 0;
	}
	s = slot_at(e->base, RD(typed, rq, tag), e->depth);
	if (s) {
		if (s->state == BT_SLOT_DRIVER && s->sector == (__u64)sched_tag && s->hctx_id == id)
			return 0; /* asked again with the tag in hand (kernels before 6.8) */
		s->hctx_id = id;
		s->sector = sched_tag;
		s->get_ns = life ? life->get_ns : 0;
		s->tid = life ? life->tid : 0;
		s->state = BT_SLOT_DRIVER;
	}
	COUNT(row, driver_gets);
	since = hs->park_ns;
	if (since && __sync_val_compare_and_swap(&hs->park_ns, since, 0) == since)
		park_end(bpf_ktime_get_ns(), since, id | (__u32)e->space_id << 16);
	return 0;
}

SEC("fexit/__blk_mq_alloc_driver_tag")
int BPF_PROG(driver_tag_alloc_fexit, struct request *rq, bool got)
{
	return driver_tag(true, rq, argument(ctx, 0), got);
}

SEC("fexit/__blk_mq_get_driver_tag")
int BPF_PROG(driver_tag_get_fexit, struct blk_mq_hw_ctx *hctx, struct request *rq, bool got)
{
	return driver_tag(true, rq, argument(ctx, 1), got);
}

SEC("fexit/blk_mq_get_driver_tag")
int BPF_PROG(driver_tag_old_fexit, struct request *rq, bool got)
{
	return driver_tag(true, rq, argument(ctx, 0), got);
}

SEC("kprobe/__blk_mq_alloc_driver_tag")
int BPF_KPROBE(driver_tag_kprobe_rq1, struct request *rq)
{
	return call_enter(CALL_DRIVER_TAG, (__u64)rq, 0);
}

SEC("kprobe/__blk_mq_get_driver_tag")
int BPF_KPROBE(driver_tag_kprobe_rq2, void *hctx_unused, struct request *rq)
{
	return call_enter(CALL_DRIVER_TAG, (__u64)rq, 0);
}

SEC("kretprobe/__blk_mq_alloc_driver_tag")
int BPF_KRETPROBE(driver_tag_kretprobe, __u64 got)
{
	struct bt_call c;

	return call_leave(CALL_DRIVER_TAG, &c) ? driver_tag(false, (void *)c.a, c.a, got & 0xff) : 0;
}

static __always_inline int dispatch_wake(struct wait_queue_entry *wait)
{
	struct blk_mq_hw_ctx *h = NULL;
	struct bt_ident_entry *e = ident_find((__u64)wait - bpf_core_field_offset(h->dispatch_wait));
	struct bt_row *row;

	if (!e || e->filtered)
		return 0;
	row = row_of(e->id);
	if (row)
		COUNT(row, dispatch_wakes);
	return 0;
}

SEC("fentry/blk_mq_dispatch_wake")
int BPF_PROG(dispatch_wake_fentry, struct wait_queue_entry *wait)
{
	return dispatch_wake(wait);
}

SEC("kprobe/blk_mq_dispatch_wake")
int BPF_KPROBE(dispatch_wake_kprobe, struct wait_queue_entry *wait)
{
	return dispatch_wake(wait);
}

static __always_inline int restart(struct blk_mq_hw_ctx *hctx)
{
	struct bt_ident_entry *e = ident_find((__u64)hctx);
	struct bt_hstate *hs;
	struct bt_row *row;
	__u64 marked, now;

	if (!e || e->filtered)
		return 0;
	row = row_of(e->id);
	hs = hstate_of(e->id);
	if (!row || !hs)
		return 0;
	COUNT(row, restarts);
	marked = __sync_lock_test_and_set(&hs->restart_mark_ns, 0);
	if (!marked) /* set and fired between two looks at the bit */
		__sync_fetch_and_add(&row->c[BT_C_restarts_marked], 1);
	if (!knobs.hists && (!knobs.records || !knobs.rec_run))
		return 0;
	now = bpf_ktime_get_ns();
	if (knobs.hists && marked)
		hist_rare(e->id, BT_HB_RUN, 0, now - marked);
	if (!knobs.records || !knobs.rec_run)
		return 0;
	EMIT_BEGIN(rec, bt_restart, BT_K_RESTART) {
		rec->marked_ns = marked;
		rec->hctx_id = e->id;
		rec->pad0[0] = rec->pad0[1] = rec->pad0[2] = 0;
		EMIT_END(rec, BT_K_RESTART, now);
	}
	return 0;
}

/* Called only with the bit set (since 5.16). */
SEC("fentry/__blk_mq_sched_restart")
int BPF_PROG(restart_fentry, struct blk_mq_hw_ctx *hctx)
{
	return restart(hctx);
}

SEC("kprobe/__blk_mq_sched_restart")
int BPF_KPROBE(restart_kprobe, struct blk_mq_hw_ctx *hctx)
{
	return restart(hctx);
}

static __always_inline int run_ask(struct blk_mq_hw_ctx *hctx)
{
	struct bt_ident_entry *e = ident_find((__u64)hctx);
	struct bt_row *row;

	if (!e || e->filtered)
		return 0;
	row = row_of(e->id);
	if (row)
		COUNT(row, runs_asked);
	return 0;
}

SEC("fentry/blk_mq_run_hw_queue")
int BPF_PROG(run_ask_fentry, struct blk_mq_hw_ctx *hctx)
{
	return run_ask(hctx);
}

SEC("kprobe/blk_mq_run_hw_queue")
int BPF_KPROBE(run_ask_kprobe, struct blk_mq_hw_ctx *hctx)
{
	return run_ask(hctx);
}

/* Every run that goes to kblockd passes here, whoever inlined what before. `delay` is in jiffies. */
static __always_inline int run_arm(bool typed, struct delayed_work *dwork, unsigned long delay)
{
	struct blk_mq_hw_ctx *h = NULL;
	struct bt_ident_entry *e;
	struct bt_row *row;
	bool pending;

	if ((__u64)RD(typed, dwork, work.func) != globals.run_work_fn)
		return 0;
	e = ident_find((__u64)dwork - bpf_core_field_offset(h->run_work));
	if (!e || e->filtered || e->what != BT_ID_HCTX)
		return 0;
	row = row_of(e->id);
	if (!row)
		return 0;
	pending = RD(typed, dwork, work.data.counter) & 1; /* WORK_STRUCT_PENDING */
	if (delay)
		COUNT(row, runs_delayed);
	else
		COUNT(row, runs_armed);
	if (pending)
		COUNT(row, runs_rearmed);
	if (!knobs.records || !knobs.rec_run || !delay)
		return 0;
	EMIT_BEGIN(rec, bt_run, BT_K_ARM) {
		rec->start_ns = delay;
		rec->issued = 0;
		rec->hctx_id = e->id;
		rec->flags = pending ? BT_RUN_REARMED : 0;
		rec->pad0 = 0;
		EMIT_END(rec, BT_K_ARM, bpf_ktime_get_ns());
	}
	return 0;
}

SEC("fentry/kblockd_mod_delayed_work_on")
int BPF_PROG(run_arm_fentry, int cpu, struct delayed_work *dwork, unsigned long delay)
{
	return run_arm(true, dwork, delay);
}

SEC("kprobe/kblockd_mod_delayed_work_on")
int BPF_KPROBE(run_arm_kprobe, int cpu, struct delayed_work *dwork, unsigned long delay)
{
	return run_arm(false, dwork, delay);
}

static __always_inline int run_begin(struct blk_mq_hw_ctx *hctx)
{
	struct bt_ident_entry *e = ident_find((__u64)hctx);
	struct bt_row *row;

	if (!e || e->filtered)
		return 0;
	row = row_of(e->id);
	if (!row)
		return 0;
	row->run_mark_issues = row->c[BT_C_issues] + row->c[BT_C_reissues] + row->c[BT_C_flush_issues] +
			       row->c[BT_C_issues_unknown];
	row->run_start_ns = knobs.records && knobs.rec_run ? bpf_ktime_get_ns() : 0;
	return 0;
}

/* Issues on this CPU and hctx since run_begin are the run's: a dispatch does not migrate. */
static __always_inline int run_end(bool typed, struct blk_mq_hw_ctx *hctx)
{
	struct bt_ident_entry *e = ident_find((__u64)hctx);
	struct bt_hstate *hs;
	struct bt_row *row;
	__u64 issued;

	if (!e || e->filtered)
		return 0;
	row = row_of(e->id);
	hs = hstate_of(e->id);
	if (!row || !hs)
		return 0;
	issued = row->c[BT_C_issues] + row->c[BT_C_reissues] + row->c[BT_C_flush_issues] +
		 row->c[BT_C_issues_unknown] - row->run_mark_issues;
	COUNT(row, runs);
	if (!issued)
		COUNT(row, runs_empty);
	if (RD(typed, hctx, state) & 1ULL << knobs.hctx_s_restart && !hs->restart_mark_ns) {
		if (!__sync_val_compare_and_swap(&hs->restart_mark_ns, 0, bpf_ktime_get_ns()))
			__sync_fetch_and_add(&row->c[BT_C_restarts_marked], 1);
	}
	if (!knobs.records || !knobs.rec_run || !row->run_start_ns)
		return 0;
	EMIT_BEGIN(rec, bt_run, BT_K_RUN) {
		rec->start_ns = row->run_start_ns;
		rec->issued = issued;
		rec->hctx_id = e->id;
		rec->flags = issued ? 0 : BT_RUN_EMPTY;
		rec->pad0 = 0;
		EMIT_END(rec, BT_K_RUN, bpf_ktime_get_ns());
	}
	return 0;
}

SEC("fentry/blk_mq_sched_dispatch_requests")
int BPF_PROG(run_begin_fentry, struct blk_mq_hw_ctx *hctx)
{
	return run_begin(hctx);
}

SEC("fexit/blk_mq_sched_dispatch_requests")
int BPF_PROG(run_end_fexit, struct blk_mq_hw_ctx *hctx)
{
	return run_end(true, hctx);
}

SEC("kprobe/blk_mq_sched_dispatch_requests")
int BPF_KPROBE(run_begin_kprobe, struct blk_mq_hw_ctx *hctx)
{
	run_begin(hctx);
	return call_enter(CALL_RUN, (__u64)hctx, 0);
}

SEC("kretprobe/blk_mq_sched_dispatch_requests")
int BPF_KRETPROBE(run_end_kretprobe)
{
	struct bt_call c;

	return call_leave(CALL_RUN, &c) ? run_end(false, (void *)c.a) : 0;
}

/* Reading /sys/block/<disk>/mq/<n>/nr_tags shows us every hctx before it carries I/O. */
SEC("fentry/blk_mq_hw_sysfs_nr_tags_show")
int BPF_PROG(prime_fentry, struct blk_mq_hw_ctx *hctx)
{
	if (!ident_find((__u64)hctx))
		hctx_register(argument(ctx, 0));
	return 0;
}

SEC("kprobe/blk_mq_hw_sysfs_nr_tags_show")
int BPF_KPROBE(prime_kprobe, struct blk_mq_hw_ctx *hctx)
{
	if (!ident_find((__u64)hctx))
		hctx_register((__u64)hctx);
	return 0;
}

/* Going away: whatever comes to this address later is another object. */
SEC("fentry/blk_mq_exit_hctx")
int BPF_PROG(gone_hctx_fentry, void *q, void *set, void *hctx)
{
	ident_drop((__u64)hctx);
	return 0;
}

SEC("kprobe/blk_mq_exit_hctx")
int BPF_KPROBE(gone_hctx_kprobe, void *q, void *set, void *hctx)
{
	ident_drop((__u64)hctx);
	return 0;
}

SEC("fentry/blk_mq_exit_queue")
int BPF_PROG(gone_queue_fentry, void *q)
{
	ident_drop((__u64)q);
	return 0;
}

SEC("kprobe/blk_mq_exit_queue")
int BPF_KPROBE(gone_queue_kprobe, void *q)
{
	ident_drop((__u64)q);
	return 0;
}

static __always_inline int gone_space(__u64 tags)
{
	struct bt_ident_entry *e = tags > 1 ? ident_find(tags) : NULL;

	if (e && e->what == BT_ID_SPACE)
		ident_drop(tags);
	return 0;
}

/* blk_mq_free_tags: the tags come first, or second behind the set (6.18): chosen by the number of arguments in BTF. */
SEC("fentry/blk_mq_free_tags")
int BPF_PROG(gone_space_1st_fentry, void *tags)
{
	return gone_space((__u64)tags);
}

SEC("fentry/blk_mq_free_tags")
int BPF_PROG(gone_space_2nd_fentry, void *set, void *tags)
{
	return gone_space((__u64)tags);
}

/* A set is no tag space, so looking at both arguments does no harm. */
SEC("kprobe/blk_mq_free_tags")
int BPF_KPROBE(gone_space_kprobe, __u64 first, __u64 second)
{
	gone_space(first);
	return gone_space(second);
}

SEC("fentry/blk_mq_free_tag_set")
int BPF_PROG(gone_set_fentry, void *set)
{
	ident_drop((__u64)set);
	return 0;
}

SEC("kprobe/blk_mq_free_tag_set")
int BPF_KPROBE(gone_set_kprobe, void *set)
{
	ident_drop((__u64)set);
	return 0;
}
