/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why an allocation was refused, and the table of waits under way. Input: the refused allocation's queue, hctx and
 * pool. Output: cause, depth, held, active and limit at that moment. Slow path only: nothing here runs for a tag that
 * is got at once.
 */
#ifndef BLKTAG_WAIT_BPF_H
#define BLKTAG_WAIT_BPF_H

#include "bitmap.bpf.h"
#include "ident.bpf.h"

#define WAIT_PROBES 32

/* What the pool looked like at a refusal. */
struct refusal {
	__u32 depth;
	__u32 held;
	__u32 active;
	__u32 limit;
	__u32 users;
	__u8 cause;
};

/*
 * The kernel's order (hctx_may_queue, then the bitmap): denied by fair share only where free tags are left, else the
 * pool is exhausted and the share is not to blame. A free tag that appeared since the refusal cannot be told from one
 * that was there: where no rule forbids it the pool was exhausted.
 */
#define CLASSIFY_RESERVED 1u
#define CLASSIFY_NO_SHARE 2u /* an I/O scheduler: its tags are not shared out */
__noinline int classify(struct refusal *r, __u64 hctx_ptr, __u64 tags_ptr, __u32 shallow, __u32 how)
{
	struct blk_mq_hw_ctx *hctx = (void *)hctx_ptr;
	struct blk_mq_tags *tags = (void *)tags_ptr;
	bool reserved = how & CLASSIFY_RESERVED;
	struct sbitmap_queue *bt = reserved ? tags_reserved_bitmap(tags) : tags_bitmap(tags);
	__u64 flags = BPF_CORE_READ(hctx, flags);
	bool hctx_shared = !!(flags & knobs.f_hctx_shared);
	struct request_queue *q = BPF_CORE_READ(hctx, queue);

	if (!r)
		return 0;
	r->depth = BPF_CORE_READ(bt, sb.depth);
	r->limit = r->depth;
	r->held = r->depth;
	r->active = 0;
	r->users = 0;
	r->cause = reserved ? BT_CAUSE_RESERVED : BT_CAUSE_EXHAUSTED;
	if (shallow) {
		r->held = bitmap_held(&bt->sb);
		r->limit = shallow;
		if (r->held < r->depth)
			r->cause = BT_CAUSE_SCHED_DEPTH;
		return 0;
	}
	if (how & CLASSIFY_NO_SHARE || !(flags & knobs.f_queue_shared))
		return 0;
	r->users = tags_active_queues(tags);
	r->active = queue_active(hctx, q, hctx_shared);
	r->held = bitmap_held(&bt->sb);
	if (r->users && r->depth > 1 && !reserved) {
		__u32 share = (r->depth + r->users - 1) / r->users;

		r->limit = share < 4 ? 4 : share;
		if (r->limit > r->depth)
			r->limit = r->depth;
		if (r->held < r->depth && r->limit < r->depth)
			r->cause = BT_CAUSE_FAIR_SHARE;
	}
	return 0;
}

static __always_inline struct bt_wait_slot *wait_find(__u64 key)
{
	__u32 h = ptr_hash(key);

	for (int i = 0; i < WAIT_PROBES; i++) {
		__u32 at = (h + i) & knobs.wait_mask;
		struct bt_wait_slot *w = bpf_map_lookup_elem(&waits, &at);

		if (!w || w->key == key)
			return w;
	}
	return NULL;
}

static __always_inline struct bt_wait_slot *wait_claim(__u64 key)
{
	__u32 h = ptr_hash(key);

	for (int i = 0; i < WAIT_PROBES; i++) {
		__u32 at = (h + i) & knobs.wait_mask;
		struct bt_wait_slot *w = bpf_map_lookup_elem(&waits, &at);

		if (!w)
			break;
		if (!w->key && !__sync_val_compare_and_swap(&w->key, 0, key))
			return w;
	}
	__sync_fetch_and_add(&globals.waits_full, 1);
	return NULL;
}

#endif
