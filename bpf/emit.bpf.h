/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records into this CPU's ring: reserve exactly what is needed, fill in, commit. Input: kind and size. Output: space,
 * or NULL with the loss counted. Loss is counted here and nowhere else, so produced = recorded + lost.
 *
 * Own rings in memory that the reader maps: a reservation is one compare-and-swap (a program of another context may
 * interrupt this one on the same CPU), a commit is one exchange of the size word, and nobody is woken: the reader
 * polls. That is a fifth of what a bpf ring buffer record costs (ARCHITECTURE.md, cost).
 */
#ifndef BLKTAG_EMIT_BPF_H
#define BLKTAG_EMIT_BPF_H

#include "maps.bpf.h"

static __always_inline void *ring_reserve(__u8 kind, __u32 size)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct bt_ring *r = bpf_map_lookup_elem(&rings, &cpu);

	if (!r)
		return NULL; /* cannot be: one ring for every possible CPU */
	__sync_fetch_and_add(&r->produced, 1);
	for (int i = 0; i < 4; i++) {
		__u64 head = *(volatile __u64 *)&r->head;

		if (head + size - *(volatile __u64 *)&r->tail > knobs.ring_size_bytes)
			break;
		if (__sync_val_compare_and_swap(&r->head, head, head + size) == head) {
			__u64 off = head & (knobs.ring_size_bytes - 8); /* sizes are multiples of 8 */

			return (void *)r + BT_RING_HEAD_BYTES + off;
		}
	}
	__sync_fetch_and_add(&r->lost[kind & (BT_NR_RING_KINDS - 1)], 1);
	return NULL;
}

/* Fills in the header; its first word goes last and makes the record visible to the reader. */
static __always_inline void ring_commit(struct bt_hdr *h, __u8 kind, __u16 size, __u64 ts_ns)
{
	h->cpu = bpf_get_smp_processor_id();
	h->ts_ns = ts_ns;
	__sync_lock_test_and_set((__u32 *)h, (__u32)kind << 16 | size);
}

#define EMIT_BEGIN(rec, type, kind)                          \
	struct type *rec = ring_reserve(kind, sizeof(*rec)); \
	if (rec)
#define EMIT_END(rec, kind, ts) ring_commit(&(rec)->h, kind, sizeof(*(rec)), ts)

#endif
