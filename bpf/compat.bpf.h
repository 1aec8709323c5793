/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only place in BPF that knows kernels differ. Input: kernel objects. Output: one accessor for each fact whose
 * shape changed. Every entry says what changed, since when, and which test kernel runs which arm (tests/vm/expect).
 */
#ifndef BLKTAG_COMPAT_BPF_H
#define BLKTAG_COMPAT_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/*
 * One body serves typed programs (fentry, tp_btf: members are plain loads) and untyped ones (kprobe, raw_tp: members
 * are probe reads). `typed` is a constant at every call, so only one arm survives compilation.
 */
#define RD(typed, p, member) ((typed) ? (p)->member : BPF_CORE_READ((p), member))

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* 5.11 to 5.15: the bitmaps hang off pointers. Embedded again since 5.16 (commit ae0f1a732f4a). Tests: embedded arm. */
struct blk_mq_tags___pointers {
	struct sbitmap_queue *bitmap_tags;
	struct sbitmap_queue *breserved_tags;
} __attribute__((preserve_access_index));

/* 5.15: per-queue active count of host-wide tags under another name (commit 079a2e3e8625 renamed it in 5.16). */
struct request_queue___sbitmap {
	atomic_t nr_active_requests_shared_sbitmap;
} __attribute__((preserve_access_index));

/* Up to 6.2 struct rq_qos points at the queue, then at the disk (commit ba91c849fa50). Tests: 6.1 and 6.12. */
struct rq_qos___queue {
	struct request_queue *q;
} __attribute__((preserve_access_index));

#pragma clang attribute pop

static __always_inline bool tags_are_embedded(void)
{
	struct blk_mq_tags *t = NULL;

	return bpf_core_field_size(t->bitmap_tags) > sizeof(void *);
}

/* The normal bitmap of a tag space. */
static __always_inline struct sbitmap_queue *tags_bitmap(struct blk_mq_tags *tags)
{
	if (tags_are_embedded())
		return (void *)tags + bpf_core_field_offset(tags->bitmap_tags);
	return BPF_CORE_READ((struct blk_mq_tags___pointers *)tags, bitmap_tags);
}

/* The bitmap of the reserved pool. */
static __always_inline struct sbitmap_queue *tags_reserved_bitmap(struct blk_mq_tags *tags)
{
	if (tags_are_embedded())
		return (void *)tags + bpf_core_field_offset(tags->breserved_tags);
	return BPF_CORE_READ((struct blk_mq_tags___pointers *)tags, breserved_tags);
}

/* active_queues was an atomic_t until the wake batch fix of 6.4 (and 6.1.39): four bytes either way. */
static __always_inline __u32 tags_active_queues(struct blk_mq_tags *tags)
{
	__u32 n = 0;

	bpf_probe_read_kernel(&n, sizeof(n), (void *)tags + bpf_core_field_offset(tags->active_queues));
	return n;
}

/* Requests of this queue that count against its fair share. From 6.8 on since tag allocation, before since dispatch. */
static __always_inline __u32 queue_active(struct blk_mq_hw_ctx *hctx, struct request_queue *q, bool hctx_shared)
{
	struct request_queue___sbitmap *old = (void *)q;

	if (!hctx_shared)
		return BPF_CORE_READ(hctx, nr_active.counter);
	if (bpf_core_field_exists(q->nr_active_requests_shared_tags))
		return BPF_CORE_READ(q, nr_active_requests_shared_tags.counter);
	if (bpf_core_field_exists(old->nr_active_requests_shared_sbitmap))
		return BPF_CORE_READ(old, nr_active_requests_shared_sbitmap.counter);
	return 0;
}

/* nr_requests: unsigned long until 7.0, then unsigned int followed by async_depth: read four bytes. */
static __always_inline __u32 queue_nr_requests(struct request_queue *q)
{
	__u32 n = 0;

	bpf_probe_read_kernel(&n, sizeof(n), (void *)q + bpf_core_field_offset(q->nr_requests));
	return n;
}

/* Wake-ups owed: freed tags counted but not yet turned into a wake-up. The counters came with 6.2 (and 6.1.x). */
static __always_inline __u32 sbq_wakes_due(struct sbitmap_queue *sbq)
{
	if (!bpf_core_field_exists(sbq->completion_cnt) || !bpf_core_field_exists(sbq->wakeup_cnt))
		return ~0u;
	return BPF_CORE_READ(sbq, completion_cnt.counter) - BPF_CORE_READ(sbq, wakeup_cnt.counter);
}

static __always_inline void *queue_rqs_op(const struct blk_mq_ops *ops)
{
	/* queue_rqs: since 5.16 */
	return bpf_core_field_exists(ops->queue_rqs) ? BPF_CORE_READ(ops, queue_rqs) : NULL;
}

static __always_inline struct request_queue *rq_qos_queue(struct rq_qos *rqos)
{
	struct rq_qos___queue *old = (void *)rqos;

	if (bpf_core_field_exists(rqos->disk))
		return BPF_CORE_READ(rqos, disk, queue);
	if (bpf_core_field_exists(old->q))
		return BPF_CORE_READ(old, q);
	return NULL;
}

#endif
