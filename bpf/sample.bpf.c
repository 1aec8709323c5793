/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gauges, run by user space a few times a second (bpf_prog_test_run): no cost per I/O, and right from the first sample
 * whatever was in flight at attach. Input: an id. Output: the tag space's bitmap counts, or an hctx's flags.
 */
#include "bitmap.bpf.h"
#include "maps.bpf.h"

SEC("syscall")
int sample_space(struct bt_sample_space *ctx)
{
	__u32 id = ctx->space_id;
	__u64 normal, extra;
	struct bt_object *o = bpf_map_lookup_elem(&spaces, &id);
	struct sbitmap_queue *bt, *reserved;
	struct blk_mq_tags *tags;

	ctx->ok = 0;
	if (!o || o->ready != 1 || !o->ptr)
		return 0;
	tags = (void *)o->ptr;
	if (BPF_CORE_READ(tags, nr_tags) != o->depth + o->reserved)
		return 0; /* freed under us, or resized: wait for the hooks that tell */
	bt = tags_bitmap(tags);
	reserved = tags_reserved_bitmap(tags);
	normal = bitmap_count((__u64)&bt->sb);
	extra = o->reserved ? bitmap_count((__u64)&reserved->sb) : 0;
	ctx->g.space_id = id;
	ctx->g.depth = BPF_CORE_READ(bt, sb.depth);
	ctx->g.held = (__u32)normal + (__u32)extra;
	ctx->g.cleared = (normal >> 32) + (extra >> 32);
	ctx->g.reserved_held = extra;
	ctx->g.waiters = BPF_CORE_READ(bt, ws_active.counter);
	ctx->g.users = tags_active_queues(tags);
	ctx->g.wake_batch = BPF_CORE_READ(bt, wake_batch);
	ctx->g.wakes_due = sbq_wakes_due(bt);
	ctx->ok = 1;
	return 0;
}

SEC("syscall")
int sample_bits(struct bt_sample_bits *ctx)
{
	__u32 id = ctx->space_id, first = ctx->first, nr = 0, words, zero = 0;
	struct bt_bit_words *out = bpf_map_lookup_elem(&bit_words, &zero);
	struct bt_object *o = bpf_map_lookup_elem(&spaces, &id);
	struct blk_mq_tags *tags;
	struct sbitmap_word *map;
	struct sbitmap_queue *bt;

	ctx->ok = 0;
	if (!out || !o || o->ready != 1 || !o->ptr)
		return 0;
	tags = (void *)o->ptr;
	if (BPF_CORE_READ(tags, nr_tags) != o->depth + o->reserved)
		return 0;
	bt = tags_bitmap(tags);
	map = BPF_CORE_READ(bt, sb.map);
	words = BPF_CORE_READ(bt, sb.map_nr);
	for (__u32 i = 0; i < BT_SAMPLE_WORDS; i++) {
		struct sbitmap_word *w = (void *)map + (first + i) * bpf_core_type_size(struct sbitmap_word);
		__u64 word, cleared;

		if (first + i >= words)
			break;
		word = BPF_CORE_READ(w, word);
		cleared = BPF_CORE_READ(w, cleared);
		out->held[i] = word & ~cleared;
		out->cleared[i] = word & cleared;
		nr = i + 1;
	}
	ctx->nr = nr;
	ctx->words = words;
	ctx->shift = BPF_CORE_READ(bt, sb.shift);
	ctx->depth = BPF_CORE_READ(bt, sb.depth);
	ctx->ok = 1;
	return 0;
}

static __always_inline bool list_used(struct list_head *head)
{
	struct list_head *next = BPF_CORE_READ(head, next);

	return next && next != head;
}

SEC("syscall")
int sample_hctx(struct bt_sample_hctx *ctx)
{
	__u32 id = ctx->id, flags = 0;
	struct bt_object *o = bpf_map_lookup_elem(&objects, &id);
	struct blk_mq_hw_ctx *h;
	struct request_queue *q;
	__u64 state;

	ctx->ok = 0;
	if (!o || o->ready != 1 || !o->ptr || o->what != BT_ID_HCTX)
		return 0;
	h = (void *)o->ptr;
	q = BPF_CORE_READ(h, queue);
	if (BPF_CORE_READ(h, queue_num) != o->hctx_num || !q)
		return 0;
	state = BPF_CORE_READ(h, state);
	flags |= state & 1ULL << knobs.hctx_s_stopped ? BT_HG_STOPPED : 0;
	flags |= state & 1ULL << knobs.hctx_s_tag_active ? BT_HG_TAG_ACTIVE : 0;
	flags |= state & 1ULL << knobs.hctx_s_restart ? BT_HG_RESTART : 0;
	flags |= state & 1ULL << knobs.hctx_s_inactive ? BT_HG_INACTIVE : 0;
	flags |= list_used((void *)h + bpf_core_field_offset(h->dispatch)) ? BT_HG_DISPATCH : 0;
	flags |= list_used((void *)h + bpf_core_field_offset(h->dispatch_wait.entry)) ? BT_HG_PARKED : 0;
	flags |= BPF_CORE_READ(h, run_work.work.data.counter) & 1 ? BT_HG_RUN_PENDING : 0;
	flags |= bitmap_held((void *)h + bpf_core_field_offset(h->ctx_map)) ? BT_HG_CTX_PENDING : 0;
	flags |= list_used((void *)q + bpf_core_field_offset(q->requeue_list)) ? BT_HG_REQUEUE : 0;
	flags |= BPF_CORE_READ(q, queue_flags) & 1ULL << knobs.queue_quiesced ? BT_HG_QUIESCED : 0;
	flags |= BPF_CORE_READ(q, mq_freeze_depth) > 0 ? BT_HG_FROZEN : 0;
	ctx->g.hctx_id = id;
	ctx->g.flags = flags;
	ctx->g.active = queue_active(h, q, !!(BPF_CORE_READ(h, flags) & knobs.f_hctx_shared));
	ctx->g.dispatch_busy = BPF_CORE_READ(h, dispatch_busy);
	ctx->ok = 1;
	return 0;
}

/* The name of a driver's function, as kallsyms has it: "null_queue_rq [null_blk]". */
SEC("syscall")
int resolve_op(struct bt_resolve_op *ctx)
{
	__u32 id = ctx->id, which = ctx->which;
	struct bt_object *o = bpf_map_lookup_elem(&objects, &id);
	char name[BT_SYMBOL_LEN] = {};
	__u64 fn = 0;

	ctx->ok = 0;
	if (!o || o->what != BT_ID_QUEUE)
		return 0;
	if (which == BT_OP_QUEUE_RQ)
		fn = o->fn_queue_rq;
	else if (which == BT_OP_QUEUE_RQS)
		fn = o->fn_queue_rqs;
	else if (which == BT_OP_POLL)
		fn = o->fn_poll;
	else if (which == BT_OP_GET_BUDGET)
		fn = o->fn_get_budget;
	else if (which == BT_OP_PUT_BUDGET)
		fn = o->fn_put_budget;
	if (!fn || BPF_SNPRINTF(name, sizeof(name), "%ps", fn) < 0)
		return 0;
	for (int i = 0; i < BT_SYMBOL_LEN; i++)
		ctx->name[i] = name[i];
	ctx->ok = 1;
	return 0;
}
