/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tag allocation: gets, waits for them, puts. Input: __blk_mq_get_tag, blk_mq_get_tags, blk_mq_put_tag(s). Output:
 * counters, wait records, and at a put the record of the request's life.
 *
 * __blk_mq_get_tag is one attempt, up to three a round: at once, after running the hctx, after queueing for a wake-up.
 * Its failures and its later success in the same allocation are the wait, so the sleep itself needs no probe: sleeps =
 * (failures - 1) / 2. An allocation that gets its tag at once pays one program.
 */
#include "wait.bpf.h"
#include "hist.bpf.h"
#include "life.bpf.h"

static __always_inline bool task_is_wanted(__u32 op)
{
	if (knobs.tgid && bpf_get_current_pid_tgid() >> 32 != knobs.tgid)
		return false;
	if (knobs.cgroup_id && bpf_get_current_cgroup_id() != knobs.cgroup_id)
		return false;
	if (knobs.op_mask && !(knobs.op_mask & 1u << (knobs.op_of[op & 63] & 7)))
		return false;
	return true;
}

/* Tells user space the task's name once, and again after exec. A lost record is told again by the next get. */
static __always_inline void note_task(__u32 tid)
{
	struct bt_task_entry *t;
	struct task_struct *task;
	__u32 at, exec_id;

	if (!knobs.records)
		return;
	task = bpf_get_current_task_btf();
	at = tid & knobs.task_mask;
	exec_id = task->self_exec_id + 1;
	t = bpf_map_lookup_elem(&tasks, &at);
	if (!t || (t->tid == tid && t->exec_id == exec_id))
		return;
	EMIT_BEGIN(rec, bt_task, BT_K_TASK) {
		rec->tid = tid;
		rec->tgid = task->tgid;
		rec->cgroup_id = bpf_get_current_cgroup_id();
		rec->start_ns = task->start_boottime;
		bpf_get_current_comm(rec->comm, sizeof(rec->comm));
		EMIT_END(rec, BT_K_TASK, bpf_ktime_get_ns());
		t->tid = tid;
		t->exec_id = exec_id;
	}
}

static __always_inline void slot_take(struct bt_slot *s, __u64 now, __u64 start, __u32 hctx_id, __u32 tid, __u16 flags)
{
	s->start_ns = start;
	s->get_ns = now;
	s->insert_ns = 0;
	s->refused_ns = 0;
	s->issue_ns = 0;
	s->complete_ns = 0;
	/* neighbours in one store each: bytes and tid; hctx_id, tag, flags, submit_cpu; complete_cpu to state */
	*(__u64 *)&s->bytes = (__u64)tid << 32;
	*(__u64 *)&s->hctx_id = (__u64)bpf_get_smp_processor_id() << 48 | (__u64)flags << 32 | BT_NO_TAG << 16 | hctx_id;
	*(__u64 *)&s->complete_cpu = (__u64)BT_SLOT_HELD << 48 | (__u64)BT_ST_UNKNOWN << 40;
}

static __always_inline void wait_emit(struct bt_wait_slot *w, __u64 now, __u32 sleeps, __u64 runnable, __u32 end)
{
	EMIT_BEGIN(rec, bt_wait, BT_K_WAIT) {
		rec->start_ns = w->start_ns;
		rec->runnable_ns = runnable;
		rec->tid = w->tid;
		rec->attempts = w->attempts;
		rec->sleeps = sleeps;
		rec->hctx_id = w->hctx_id;
		rec->end_hctx_id = end & 0xffff;
		rec->space_id = w->space_id;
		rec->tag = end >> 16;
		rec->start_cpu = w->start_cpu;
		rec->cause = w->cause;
		rec->flags = w->flags;
		rec->depth = w->depth;
		rec->held = w->held;
		rec->active = w->active;
		rec->limit = w->limit;
		rec->users = w->users;
		rec->op = w->op;
		rec->pad0[0] = rec->pad0[1] = rec->pad0[2] = 0;
		EMIT_END(rec, BT_K_WAIT, now);
	}
}

/* The wait of this allocation ended with a tag: `end` is hctx id | tag << 16. Returns when it had begun. */
__noinline __u64 wait_end(struct bt_wait_slot *w, __u64 now, __u32 end)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 start, runnable;
	__u32 sleeps, begun_on;
	struct bt_row *row;

	if (!w)
		return now;
	start = w->start_ns;
	sleeps = (w->attempts - 1) / 2;
	begun_on = w->hctx_id;
	row = row_of(begun_on);
	if (row && !sleeps)
		COUNT(row, retries_won);
	if (row && sleeps) {
		runnable = task->sched_info.run_delay - w->run_delay_ns;
		if (runnable > now - start)
			runnable = now - start;
		COUNT(row, submit_waits);
		COUNT_ADD(row, submit_wait_ns, now - start);
		COUNT_ADD(row, submit_sleeps, sleeps);
		COUNT_ADD(row, submit_runnable_ns, runnable);
		if (w->stuck)
			w->cause = BT_CAUSE_STUCK;
		if (w->cause < BT_NR_CAUSES)
			row->c[BT_C_waits_exhausted + w->cause]++;
		if (knobs.hists)
			hist_rare(begun_on, BT_HB_WAIT, w->cause, now - start);
		if (begun_on != (end & 0xffff)) {
			COUNT(row, waits_moved);
			w->flags |= BT_W_MOVED;
		}
		if (knobs.records)
			wait_emit(w, now, sleeps, runnable, end);
	}
	__sync_fetch_and_add(&globals.pending_waits, -1ULL);
	__sync_lock_test_and_set(&w->key, 0);
	return sleeps ? start : now;
}

/* First failed attempt of an allocation that may sleep. `ids`: hctx id | space id << 16. */
__noinline int wait_begin(__u64 data_ptr, __u32 ids)
{
	struct blk_mq_alloc_data *data = (void *)data_ptr;
	struct blk_mq_hw_ctx *hctx = BPF_CORE_READ(data, hctx);
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 reserved = BPF_CORE_READ(data, flags) & knobs.req_reserved;
	__u32 sched = !!BPF_CORE_READ(data, q, elevator);
	struct bt_wait_slot *w = wait_claim(data_ptr);
	struct refusal r = {};

	if (!w)
		return 0;
	classify(&r, (__u64)hctx, (__u64)(sched ? BPF_CORE_READ(hctx, sched_tags) : BPF_CORE_READ(hctx, tags)),
		 BPF_CORE_READ(data, shallow_depth), (reserved ? CLASSIFY_RESERVED : 0) | (sched ? CLASSIFY_NO_SHARE : 0));
	w->start_ns = bpf_ktime_get_ns();
	w->run_delay_ns = task->sched_info.run_delay;
	w->tid = bpf_get_current_pid_tgid();
	w->attempts = 1;
	w->switches = task->nvcsw;
	w->hctx_id = ids;
	w->space_id = ids >> 16;
	w->start_cpu = bpf_get_smp_processor_id();
	w->flags = (sched ? BT_W_SCHED : 0) | (reserved ? BT_W_RESERVED : 0);
	w->depth = r.depth;
	w->held = r.held;
	w->active = r.active;
	w->limit = r.limit;
	w->users = r.users;
	w->cause = r.cause;
	w->stuck = 0;
	w->op = knobs.op_of[BPF_CORE_READ(data, cmd_flags) & 63];
	__sync_fetch_and_add(&globals.pending_waits, 1);
	return 0;
}

/*
 * Where the kernel preempts a program, other tasks' runs of it on that CPU are skipped (recursion_misses), and an
 * allocation's success can be among them. The task's next allocation then finds the old wait: told by the task having
 * slept more than once since the latest failure, or being another one. A driver that may sleep hides that.
 */
static __always_inline bool wait_is_stale(struct bt_wait_slot *w, bool may_block)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return w->tid != (__u32)task->pid || (!may_block && task->nvcsw - w->switches > 1);
}

static __always_inline void wait_drop(struct bt_wait_slot *w)
{
	__sync_fetch_and_add(&globals.waits_broken, 1);
	__sync_fetch_and_add(&globals.pending_waits, -1ULL);
	__sync_lock_test_and_set(&w->key, 0);
}

static __always_inline int tag_missed(bool typed, struct blk_mq_alloc_data *data, __u64 data_ptr,
				      struct bt_ident_entry *e, bool sched, bool hctx_may_block)
{
	struct bt_wait_slot *w;

	if (RD(typed, data, flags) & knobs.req_nowait) {
		struct bt_row *row = row_of(e->id);

		if (row && task_is_wanted(RD(typed, data, cmd_flags)))
			COUNT(row, nowait_fails);
		return 0;
	}
	w = globals.pending_waits ? wait_find((__u64)data) : NULL;
	if (w && !wait_is_stale(w, hctx_may_block)) {
		struct task_struct *task = bpf_get_current_task_btf();

		w->attempts++;
		w->switches = task->nvcsw;
		return 0;
	}
	if (w)
		wait_drop(w);
	if (!task_is_wanted(RD(typed, data, cmd_flags)))
		return 0;
	wait_begin(data_ptr, e->id | (__u32)(sched ? e->sched_space_id : e->space_id) << 16);
	return 0;
}

/* `data_ptr`: the same address as a plain number; `got`: the bit, or negative. */
static __always_inline int tag_get(bool typed, struct blk_mq_alloc_data *data, __u64 data_ptr, int got)
{
	struct blk_mq_hw_ctx *hctx = RD(typed, data, hctx);
	struct bt_ident_entry *e = hctx_ident(typed, hctx, &data->hctx);
	bool sched = e && e->sched_tags; /* they come and go with the queue's elevator, while it is frozen */
	bool reserved = RD(typed, data, flags) & knobs.req_reserved;
	__u64 now, start;
	struct bt_slot *s;
	struct bt_row *row;
	__u32 tag, tid;

	if (!e || e->filtered)
		return 0;
	if (got < 0)
		return tag_missed(typed, data, data_ptr, e, sched, RD(typed, hctx, flags) & knobs.f_blocking);
	row = row_of(e->id);
	tag = got + (reserved ? 0 : sched ? e->sched_reserved : e->reserved);
	s = slot_at(sched ? e->sched_base : e->base, tag, sched ? e->sched_depth : e->depth);
	if (!row || !s)
		return 0;
	start = now = bpf_ktime_get_ns();
	if (globals.pending_waits) {
		struct bt_wait_slot *w = wait_find((__u64)data);

		if (w && wait_is_stale(w, RD(typed, hctx, flags) & knobs.f_blocking))
			wait_drop(w);
		else if (w)
			start = wait_end(w, now, e->id | tag << 16);
	}
	if (!task_is_wanted(RD(typed, data, cmd_flags))) {
		s->state = BT_SLOT_SKIPPED;
		return 0;
	}
	COUNT(row, gets_single);
	if (reserved)
		COUNT(row, gets_reserved);
	/* an hctx whose last CPU went away: the kernel gives the tag back at once, inlined, and tries elsewhere */
	if (RD(typed, hctx, state) & 1ULL << knobs.hctx_s_inactive) {
		COUNT(row, inactive_retries);
		s->state = BT_SLOT_FREE;
		return 0;
	}
	if (s->state == BT_SLOT_HELD)
		COUNT(row, gets_overwritten);
	tid = bpf_get_current_pid_tgid();
	slot_take(s, now, start, e->id, tid,
		  (sched ? BT_IO_SCHED : 0) | (reserved ? BT_IO_RESERVED : 0) | (start != now ? BT_IO_WAITED : 0));
	note_task(tid);
	return 0;
}

SEC("fexit/__blk_mq_get_tag")
int BPF_PROG(tag_get_fexit, struct blk_mq_alloc_data *data, struct sbitmap_queue *bt, int got)
{
	__u64 data_ptr = 0;

	if (got < 0)
		bpf_get_func_arg(ctx, 0, &data_ptr);
	return tag_get(true, data, data_ptr, got);
}

SEC("kprobe/__blk_mq_get_tag")
int BPF_KPROBE(tag_get_kprobe, struct blk_mq_alloc_data *data)
{
	return call_enter(CALL_TAG_GET, (__u64)data, 0);
}

SEC("kretprobe/__blk_mq_get_tag")
int BPF_KRETPROBE(tag_get_kretprobe, int got)
{
	struct bt_call c;

	return call_leave(CALL_TAG_GET, &c) ? tag_get(false, (void *)c.a, c.a, got) : 0;
}

/* Up to 64 tags at once for the plug's request cache; `offset` includes the reserved tags. */
static __always_inline int tag_get_batch(bool typed, struct blk_mq_alloc_data *data, unsigned int *offset, __u64 mask)
{
	struct blk_mq_hw_ctx *hctx = RD(typed, data, hctx);
	struct bt_ident_entry *e;
	bool sched, wanted;
	__u32 first = 0, tid, depth, base;
	struct bt_row *row;
	__u64 now;

	if (!mask)
		return 0;
	e = hctx_ident(typed, hctx, &data->hctx);
	if (!e || e->filtered)
		return 0;
	row = row_of(e->id);
	if (!row || bpf_probe_read_kernel(&first, sizeof(first), offset))
		return 0;
	sched = e->sched_tags;
	wanted = task_is_wanted(RD(typed, data, cmd_flags));
	now = bpf_ktime_get_ns();
	tid = bpf_get_current_pid_tgid();
	base = sched ? e->sched_base : e->base;
	depth = sched ? e->sched_depth : e->depth;
	for (__u32 i = 0; i < 64; i++) {
		struct bt_slot *s;

		if (!(mask >> i))
			break;
		s = mask >> i & 1 ? slot_at(base, first + i, depth) : NULL;
		if (!s)
			continue;
		if (!wanted) {
			s->state = BT_SLOT_SKIPPED;
			continue;
		}
		if (s->state == BT_SLOT_HELD)
			__sync_fetch_and_add(&row->c[BT_C_gets_overwritten], 1);
		slot_take(s, now, now, e->id, tid, BT_IO_BATCH_GET | (sched ? BT_IO_SCHED : 0));
	}
	if (wanted) {
		COUNT(row, batch_gets);
		COUNT_ADD(row, gets_batch, __builtin_popcountll(mask));
		note_task(tid);
	}
	return 0;
}

SEC("fexit/blk_mq_get_tags")
int BPF_PROG(tag_get_batch_fexit, struct blk_mq_alloc_data *data, int nr, unsigned int *offset, unsigned long mask)
{
	return tag_get_batch(true, data, offset, mask);
}

SEC("kprobe/blk_mq_get_tags")
int BPF_KPROBE(tag_get_batch_kprobe, struct blk_mq_alloc_data *data, int nr, unsigned int *offset)
{
	return call_enter(CALL_TAG_GET_BATCH, (__u64)data, (__u64)offset);
}

SEC("kretprobe/blk_mq_get_tags")
int BPF_KRETPROBE(tag_get_batch_kretprobe, unsigned long mask)
{
	struct bt_call c;

	return call_leave(CALL_TAG_GET_BATCH, &c) ? tag_get_batch(false, (void *)c.a, (void *)c.b, mask) : 0;
}

static __always_inline int tag_put(__u64 tags, __u32 tag)
{
	struct bt_ident_entry *e = ident_find(tags);
	struct bt_slot *s;
	struct bt_row *row;
	__u64 now;

	if (!e || e->filtered)
		return 0;
	s = slot_at(e->base, tag, e->depth);
	if (!s)
		return 0;
	if (s->state == BT_SLOT_HELD) {
		row = row_of(s->hctx_id);
		if (row) {
			COUNT(row, puts_single);
			if (!s->issue_ns && !s->complete_ns) {
				COUNT(row, puts_unused);
				s->flags |= BT_IO_UNUSED;
			}
		}
		now = bpf_ktime_get_ns();
		if (knobs.records)
			life_end(s, now, e->sched ? tag : BT_NO_TAG, e->sched ? s->tag : tag);
		if (knobs.hists)
			life_hist(s, now);
	} else if (s->state == BT_SLOT_DRIVER) {
		row = row_of(s->hctx_id);
		if (row)
			COUNT(row, driver_puts);
	} else if (s->state == BT_SLOT_FREE) {
		row = row_of(e->space_id);
		if (row)
			COUNT(row, puts_unknown);
	}
	s->state = BT_SLOT_FREE;
	return 0;
}

SEC("fentry/blk_mq_put_tag")
int BPF_PROG(tag_put_fentry, struct blk_mq_tags *tags, void *ctx_unused, unsigned int tag)
{
	return tag_put((__u64)tags, tag);
}

SEC("kprobe/blk_mq_put_tag")
int BPF_KPROBE(tag_put_kprobe, struct blk_mq_tags *tags, void *ctx_unused, unsigned int tag)
{
	return tag_put((__u64)tags, tag);
}

/* Batched completion: driver tags only, at most 32 at a time (TAG_COMP_BATCH). */
static __always_inline int tag_put_batch(__u64 tags, int *array, int nr)
{
	struct bt_ident_entry *e = ident_find(tags);
	struct bt_row *row = NULL;
	int tag[32];
	__u64 now;

	if (!e || e->filtered || nr <= 0 || bpf_probe_read_kernel(tag, sizeof(tag), array))
		return 0;
	now = bpf_ktime_get_ns();
	for (int i = 0; i < 32; i++) {
		struct bt_slot *s;

		if (i >= nr)
			break;
		s = slot_at(e->base, tag[i], e->depth);
		if (!s)
			continue;
		if (s->state == BT_SLOT_HELD) {
			row = row_of(s->hctx_id);
			if (row)
				COUNT(row, puts_batch);
			s->flags |= BT_IO_BATCH_PUT;
			if (knobs.records)
				life_end(s, now, BT_NO_TAG, tag[i]);
			if (knobs.hists)
				life_hist(s, now);
		} else if (s->state == BT_SLOT_FREE) {
			struct bt_row *unknown = row_of(e->space_id);

			if (unknown)
				__sync_fetch_and_add(&unknown->c[BT_C_puts_unknown], 1);
		}
		s->state = BT_SLOT_FREE;
	}
	if (row)
		COUNT(row, complete_batches);
	return 0;
}

SEC("fentry/blk_mq_put_tags")
int BPF_PROG(tag_put_batch_fentry, struct blk_mq_tags *tags, int *array, int nr)
{
	return tag_put_batch((__u64)tags, array, nr);
}

SEC("kprobe/blk_mq_put_tags")
int BPF_KPROBE(tag_put_batch_kprobe, struct blk_mq_tags *tags, int *array, int nr)
{
	return tag_put_batch((__u64)tags, array, nr);
}
