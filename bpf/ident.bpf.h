/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel object -> our identity. Input: an hctx, queue or tag space as a program meets it. Output: its entry: id of its
 * counters, where its request slots begin, whether a filter leaves it out. An object is registered at first sight, so
 * devices may come while tracing; user space reads `objects` and `spaces` to learn names. Addresses stay in the kernel.
 */
#ifndef BLKTAG_IDENT_BPF_H
#define BLKTAG_IDENT_BPF_H

#include "bitmap.bpf.h"
#include "maps.bpf.h"

#define IDENT_PROBES 8

/*
 * The verifier lets nobody shift a typed pointer, but a 32-bit move of one is a number to it: the low half is enough
 * to hash. The assembly keeps the compiler from computing in the pointer's own register.
 */
static __always_inline __u32 ptr_hash(__u64 ptr)
{
	__u32 low;

	asm volatile("%0 = %1" : "=w"(low) : "w"((__u32)ptr));
	return (low >> 4) * 0x9E3779B1u >> 8;
}

/* Entry of a registered object, NULL if there is none. */
static __always_inline struct bt_ident_entry *ident_find(__u64 ptr)
{
	__u32 h = ptr_hash(ptr);

	for (int i = 0; i < IDENT_PROBES; i++) {
		__u32 at = (h + i) & knobs.ident_mask;
		struct bt_ident_entry *e = bpf_map_lookup_elem(&idents, &at);

		if (!e || e->ptr == ptr)
			return e;
		if (!e->ptr)
			break;
	}
	return NULL;
}

/* Another CPU is filling the entry in: wait a little for it. */
static __always_inline bool ident_await(struct bt_ident_entry *e, __u64 ptr)
{
	for (int i = 0; i < 64; i++)
		if (*(volatile __u64 *)&e->ptr == ptr)
			return true;
	__sync_fetch_and_add(&globals.ident_busy, 1);
	return false;
}

/*
 * The functions from here to hctx_register are global: the verifier checks each of them once and not at every call, a
 * hundred thousand instructions less. So they pass numbers: addresses of kernel objects and indices of entries.
 */
#define IDENT_NONE (~0u)       /* no room, or another CPU needs longer than we wait */
#define IDENT_FOUND (1u << 31) /* with an index: published by another CPU meanwhile */

/* Claims an entry for a new object. The caller fills it in and publishes it by storing its address. */
__noinline __u32 ident_claim(__u64 ptr)
{
	__u32 h = ptr_hash(ptr);

	for (int turn = 0; turn < 3; turn++) {
		__u32 room = IDENT_NONE;
		struct bt_ident_entry *e;
		__u64 p, old = 0;

		for (int i = 0; i < IDENT_PROBES; i++) {
			__u32 at = (h + i) & knobs.ident_mask;

			e = bpf_map_lookup_elem(&idents, &at);
			if (!e)
				return IDENT_NONE;
			p = *(volatile __u64 *)&e->ptr;
			if (p == ptr || p == ptr + 1)
				return ident_await(e, ptr) ? at | IDENT_FOUND : IDENT_NONE;
			if (p <= 1 && room == IDENT_NONE) {
				room = at;
				old = p;
			}
			if (!p)
				break;
		}
		e = bpf_map_lookup_elem(&idents, &room);
		if (!e)
			break;
		if (__sync_val_compare_and_swap(&e->ptr, old, ptr + 1) == old)
			return room;
	}
	__sync_fetch_and_add(&globals.ident_full, 1);
	return IDENT_NONE;
}

static __always_inline struct bt_ident_entry *ident_at(__u32 index)
{
	index &= ~IDENT_FOUND;
	return bpf_map_lookup_elem(&idents, &index);
}

static __always_inline void ident_publish(struct bt_ident_entry *e, __u64 ptr)
{
	__sync_lock_test_and_set(&e->ptr, ptr);
	__sync_fetch_and_add(&globals.changes, 1);
}

__noinline __u32 set_register(__u64 set)
{
	__u32 at = ident_claim(set);
	struct bt_ident_entry *e = ident_at(at);

	if (!e)
		return BT_NO_ID;
	if (!(at & IDENT_FOUND)) {
		e->id = __sync_fetch_and_add(&globals.next_set, 1);
		e->what = BT_ID_SET;
		ident_publish(e, set);
	}
	return e->id;
}

static __always_inline __u32 set_id_of(__u64 set)
{
	struct bt_ident_entry *e = ident_find(set);

	return e ? e->id : set_register(set);
}

static __always_inline bool dev_is_wanted(__u32 dev)
{
	if (!knobs.nr_devs)
		return true;
	for (__u32 i = 0; i < 32; i++) {
		if (i >= knobs.nr_devs)
			break;
		if (knobs.dev[i] == dev)
			return true;
	}
	return false;
}

/* Index of the queue's entry. */
__noinline __u32 queue_register(__u64 ptr)
{
	struct request_queue *q = (void *)ptr;
	__u32 at = ident_claim(ptr), id;
	struct bt_ident_entry *e = ident_at(at);
	const struct blk_mq_ops *ops;
	struct bt_object *o;
	struct gendisk *disk;

	if (!e || at & IDENT_FOUND)
		return at;
	id = __sync_fetch_and_add(&globals.next_row, 1);
	o = bpf_map_lookup_elem(&objects, &id);
	e->id = id;
	e->what = BT_ID_QUEUE;
	e->filtered = 1;
	if (!o) {
		__sync_fetch_and_add(&globals.ident_full, 1);
		ident_publish(e, ptr);
		return at;
	}
	disk = BPF_CORE_READ(q, disk);
	if (disk)
		o->dev = BPF_CORE_READ(disk, major) << 20 | BPF_CORE_READ(disk, first_minor);
	ops = BPF_CORE_READ(q, mq_ops);
	o->ptr = (__u64)q;
	o->since_ns = bpf_ktime_get_ns();
	o->id = id;
	o->queue_id = id;
	o->what = BT_ID_QUEUE;
	o->fn_queue_rq = (__u64)BPF_CORE_READ(ops, queue_rq);
	o->fn_queue_rqs = (__u64)queue_rqs_op(ops);
	o->fn_poll = (__u64)BPF_CORE_READ(ops, poll);
	o->fn_get_budget = (__u64)BPF_CORE_READ(ops, get_budget);
	o->fn_put_budget = (__u64)BPF_CORE_READ(ops, put_budget);
	o->flags = (BPF_CORE_READ(q, elevator) ? BT_IDF_ELEVATOR : 0) | (o->fn_queue_rqs ? BT_IDF_QUEUE_RQS : 0) |
		   (o->fn_poll ? BT_IDF_POLL : 0) | (o->fn_get_budget ? BT_IDF_BUDGET : 0);
	o->depth = queue_nr_requests(q);
	o->reserved = BPF_CORE_READ(q, nr_hw_queues);
	o->set_id = set_id_of((__u64)BPF_CORE_READ(q, tag_set));
	o->filtered = !dev_is_wanted(o->dev);
	e->filtered = o->filtered;
	e->queue_id = id;
	__sync_lock_test_and_set(&o->ready, 1);
	ident_publish(e, ptr);
	return at;
}

#define SPACE_SCHED 1u
#define SPACE_HCTX_SHARED 2u

/* Registers a tag space and gives it a run of slots. `row`: the hctx that is charged for puts of unknown tags. */
__noinline __u32 space_register(__u64 ptr, __u32 row, __u32 how, __u32 set_id)
{
	struct blk_mq_tags *tags = (void *)ptr;
	__u32 at = ident_claim(ptr), id, nr, base;
	struct bt_ident_entry *e = ident_at(at);
	struct bt_object *o;

	if (!e || at & IDENT_FOUND)
		return at;
	nr = BPF_CORE_READ(tags, nr_tags);
	e->reserved = BPF_CORE_READ(tags, nr_reserved_tags);
	id = __sync_fetch_and_add(&globals.next_space, 1);
	base = __sync_fetch_and_add(&globals.next_slot, (nr + 63) & ~63u);
	o = bpf_map_lookup_elem(&spaces, &id);
	e->id = id;
	e->what = BT_ID_SPACE;
	e->sched = how & SPACE_SCHED;
	e->space_id = row;
	e->base = base;
	e->depth = nr;
	e->filtered = 0;
	if (!o || nr > 0xffff || base + nr > knobs.nr_slots) {
		e->filtered = 1;
		e->depth = 0;
		__sync_fetch_and_add(&globals.ident_full, 1);
	}
	if (o) {
		o->ptr = (__u64)tags;
		o->since_ns = bpf_ktime_get_ns();
		o->id = id;
		o->what = BT_ID_SPACE;
		o->queue_id = row;
		o->flags = (how & SPACE_SCHED ? BT_IDF_SCHED : 0) |
			   (how & SPACE_HCTX_SHARED ? BT_IDF_HCTX_SHARED : 0);
		o->depth = nr - e->reserved;
		o->reserved = e->reserved;
		o->set_id = set_id;
		o->slot_base = base;
		o->initial_held = bitmap_held(&tags_bitmap(tags)->sb) + bitmap_held(&tags_reserved_bitmap(tags)->sb);
		o->filtered = e->filtered;
		__sync_lock_test_and_set(&o->ready, 1);
	}
	ident_publish(e, ptr);
	return at;
}

static __always_inline struct bt_ident_entry *space_ident(__u64 tags, __u32 row, __u32 how, __u32 set_id)
{
	struct bt_ident_entry *s = tags ? ident_find(tags) : NULL;

	if (!s && tags)
		s = ident_at(space_register(tags, row, how, set_id));
	return s && !s->filtered ? s : NULL;
}

static __always_inline void hctx_fill_spaces(struct bt_ident_entry *e, struct bt_object *o, struct blk_mq_hw_ctx *hctx)
{
	__u64 tags = (__u64)BPF_CORE_READ(hctx, tags), sched_tags = (__u64)BPF_CORE_READ(hctx, sched_tags);
	__u32 shared = BPF_CORE_READ(hctx, flags) & knobs.f_hctx_shared ? SPACE_HCTX_SHARED : 0;
	struct bt_ident_entry *s;

	e->tags = tags;
	e->sched_tags = sched_tags;
	e->depth = e->sched_depth = 0;
	o->space_id = o->sched_space_id = BT_NO_ID;
	s = space_ident(tags, e->id, shared, o->set_id);
	if (s) {
		e->base = s->base;
		e->depth = s->depth;
		e->reserved = s->reserved;
		o->space_id = s->id;
	}
	s = space_ident(sched_tags, e->id, shared | SPACE_SCHED, BT_NO_ID);
	if (s) {
		e->sched_base = s->base;
		e->sched_depth = s->depth;
		e->sched_reserved = s->reserved;
		o->sched_space_id = s->id;
	}
	e->space_id = o->space_id;
	e->sched_space_id = o->sched_space_id;
}

static __always_inline void hctx_describe(struct bt_object *o, struct blk_mq_hw_ctx *hctx, struct request_queue *q)
{
	__u64 flags = BPF_CORE_READ(hctx, flags);

	o->ptr = (__u64)hctx;
	o->since_ns = bpf_ktime_get_ns();
	o->what = BT_ID_HCTX;
	o->hctx_type = BPF_CORE_READ(hctx, type);
	o->hctx_num = BPF_CORE_READ(hctx, queue_num);
	o->flags = (flags & knobs.f_queue_shared ? BT_IDF_QUEUE_SHARED : 0) |
		   (flags & knobs.f_blocking ? BT_IDF_BLOCKING : 0) |
		   (flags & knobs.f_hctx_shared ? BT_IDF_HCTX_SHARED : 0);
	o->set_id = set_id_of((__u64)BPF_CORE_READ(q, tag_set));
	if (!globals.run_work_fn)
		globals.run_work_fn = (__u64)BPF_CORE_READ(hctx, run_work.work.func);
}

/* A new hctx, or one whose tag spaces were replaced (scheduler switch, nr_requests): same id then, other slots. */
__noinline __u32 hctx_register(__u64 ptr)
{
	struct blk_mq_hw_ctx *hctx = (void *)ptr;
	struct request_queue *q = BPF_CORE_READ(hctx, queue);
	struct bt_ident_entry *e = ident_find(ptr), *queue = ident_find((__u64)q);
	struct bt_object *o;
	__u32 at, id;
	bool known = e;

	if (known && __sync_val_compare_and_swap(&e->ptr, ptr, ptr + 1) == ptr) {
		id = e->id;
	} else {
		if (!queue)
			queue = ident_at(queue_register((__u64)q));
		at = ident_claim(ptr); /* or waits for the CPU that is at it */
		e = ident_at(at);
		if (!queue || !e || at & IDENT_FOUND)
			return at;
		known = false;
		id = __sync_fetch_and_add(&globals.next_row, 1);
		e->id = id;
		e->what = BT_ID_HCTX;
		e->queue_id = queue->id;
		e->filtered = queue->filtered;
	}
	o = bpf_map_lookup_elem(&objects, &id);
	if (o) {
		if (!known)
			hctx_describe(o, hctx, q);
		o->id = id;
		o->queue_id = e->queue_id;
		o->nr_ctx = BPF_CORE_READ(hctx, nr_ctx);
		o->filtered = e->filtered;
		hctx_fill_spaces(e, o, hctx);
		__sync_lock_test_and_set(&o->ready, 1);
	} else {
		e->filtered = 1;
		__sync_fetch_and_add(&globals.ident_full, 1);
	}
	ident_publish(e, ptr);
	return IDENT_FOUND;
}

/* Takes an object out: its id stays its own for ever. */
static __always_inline void ident_drop(__u64 ptr)
{
	struct bt_ident_entry *e = ident_find(ptr);
	struct bt_object *o;
	__u32 id;

	if (!e || ptr <= 1)
		return;
	id = e->id;
	o = e->what == BT_ID_SPACE ? bpf_map_lookup_elem(&spaces, &id) : bpf_map_lookup_elem(&objects, &id);
	if (e->what != BT_ID_SET && o) {
		o->ptr = 0;
		__sync_lock_test_and_set(&o->ready, 2);
	}
	__sync_val_compare_and_swap(&e->ptr, ptr, 1);
	__sync_fetch_and_add(&globals.changes, 1);
}

static __always_inline bool hctx_is_current(bool typed, struct bt_ident_entry *e, struct blk_mq_hw_ctx *hctx)
{
	return e->tags == (__u64)RD(typed, hctx, tags) && e->sched_tags == (__u64)RD(typed, hctx, sched_tags);
}

/*
 * Entry of an hctx that a tag was got from before. Every request begins with a get, so only the programs on the get
 * path register: the others stay small.
 */
static __always_inline struct bt_ident_entry *hctx_known(bool typed, struct blk_mq_hw_ctx *hctx)
{
	struct bt_ident_entry *e = ident_find((__u64)hctx);

	return e && hctx_is_current(typed, e, hctx) ? e : NULL;
}

/*
 * Entry of the hctx that *where points at, registered if need be; NULL only where there is no room or another CPU is
 * at it. Read through memory where a plain number is needed: a typed pointer cannot be passed as one.
 */
static __always_inline struct bt_ident_entry *hctx_ident(bool typed, struct blk_mq_hw_ctx *hctx, void *where)
{
	struct bt_ident_entry *e = ident_find((__u64)hctx);
	__u64 ptr = 0;

	if (e && hctx_is_current(typed, e, hctx))
		return e;
	if (bpf_probe_read_kernel(&ptr, sizeof(ptr), where) || !ptr)
		return NULL;
	hctx_register(ptr);
	return ident_find(ptr);
}

/* Slot of a request's tag: the scheduler tag's where it lives on one, else the driver tag's. */
static __always_inline struct bt_slot *slot_at(__u32 base, __u32 tag, __u32 depth)
{
	__u32 i = base + tag;

	if (tag >= depth)
		return NULL;
	return bpf_map_lookup_elem(&slots, &i);
}

#endif
