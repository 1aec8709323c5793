/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Distributions kept in the kernel, for the live mode in which no record of a request leaves it. Input: durations as
 * they end. Output: counts in log-linear bins (the bins of agg::LogAxis), sums and maxima, in map `hists`.
 *
 * A block of six histograms belongs to one (CPU, hctx, operation) and is taken from the pool with its first request,
 * so memory follows what is in use; when the pool's CPU-private part is used up, a hctx's CPUs share a block. All adds
 * are atomic: a put in an interrupt may come between, and shared blocks have many writers.
 */
#ifndef BLKTAG_HIST_BPF_H
#define BLKTAG_HIST_BPF_H

#include "maps.bpf.h"

/* Global, so that the verifier looks at it once. */
__noinline __u32 hist_bin(__u64 v)
{
	return bt_hist_bin(v);
}

/* Zeros are not binned: they are what the block's requests have more than the bins. */
static __always_inline void hist_add(struct bt_hist *h, __u64 v)
{
	__u32 bin;

	if (!v)
		return;
	bin = hist_bin(v);
	if (bin >= BT_HIST_BINS)
		return; /* cannot be */
	__sync_fetch_and_add(&h->bin[bin], 1);
	__sync_fetch_and_add(&h->sum_ns, v);
	if (v > h->max_ns)
		h->max_ns = v;
}

/* Takes a block out of the pool; 0 = none left. `until`: where the caller's part of the pool ends. */
static __always_inline __u32 hist_take(__u32 until, __u32 hctx_id, __u8 kind, __u8 op)
{
	struct bt_hist_block *b;
	__u32 at;

	if (globals.next_hist >= until)
		return 0;
	at = __sync_fetch_and_add(&globals.next_hist, 1) + 1;
	b = at < knobs.nr_hists ? bpf_map_lookup_elem(&hists, &at) : NULL;
	if (!b)
		return 0;
	b->hctx_id = hctx_id;
	b->kind = kind;
	b->op = op;
	__sync_lock_test_and_set(&b->ready, 1);
	return at;
}

/* The block that all CPUs of an hctx share: what is rare, and what found no private one. */
__noinline __u32 hist_shared(__u32 hctx_id, __u32 which)
{
	struct bt_hstate *hs = bpf_map_lookup_elem(&hstates, &hctx_id);
	__u32 kind, at;

	if (!hs || which >= BT_NR_SHARED_HISTS)
		return 0;
	if (hs->hist[which])
		return hs->hist[which];
	kind = which < BT_NR_OPS ? BT_HB_IO : which - BT_NR_OPS + BT_HB_WAIT;
	at = hist_take(knobs.nr_hists - 1, hctx_id, kind, which < BT_NR_OPS ? which : 0);
	if (!at)
		return 0;
	/* lost the race: that block stays empty, and is this hctx's all the same */
	if (__sync_val_compare_and_swap(&hs->hist[which], 0, at))
		return hs->hist[which];
	return at;
}

/* First request of this operation on this CPU and hctx. */
__noinline __u32 hist_private(__u32 hctx_id, __u32 op)
{
	struct bt_row *row = row_of(hctx_id);
	__u32 at;

	if (!row || op >= BT_NR_OPS)
		return 0;
	at = hist_take(knobs.nr_private_hists, hctx_id, BT_HB_IO, op);
	if (!at)
		at = hist_shared(hctx_id, op);
	if (at)
		row->hist[op] = at;
	return at;
}

static __always_inline struct bt_hist_block *hist_block(__u32 at)
{
	return at ? bpf_map_lookup_elem(&hists, &at) : NULL;
}

/* A wait, or a delay, of an hctx. */
__noinline int hist_rare(__u32 hctx_id, __u32 kind, __u32 which, __u64 ns)
{
	struct bt_hist_block *b = hist_block(hist_shared(hctx_id, kind - BT_HB_WAIT + BT_NR_OPS));

	if (b && which < BT_NR_HISTS)
		hist_add(&b->h[which], ns);
	else
		__sync_fetch_and_add(&globals.hist_full, 1);
	return 0;
}

static __always_inline __u64 span(__u64 from, __u64 to)
{
	return to > from ? to - from : 0;
}

/* The phases of a request that was issued and completed, at its put: as model::split cuts its record. */
__noinline int life_hist(struct bt_slot *s, __u64 now)
{
	__u64 issue, refused, whole;
	struct bt_hist_block *b;
	struct bt_row *row;
	__u32 at;

	if (!s || !s->issue_ns || !s->complete_ns)
		return 0;
	row = row_of(s->hctx_id);
	if (!row)
		return 0;
	at = row->hist[s->op & (BT_NR_OPS - 1)];
	b = hist_block(at ? at : hist_private(s->hctx_id, s->op & (BT_NR_OPS - 1)));
	if (!b) {
		__sync_fetch_and_add(&globals.hist_full, 1);
		return 0;
	}
	issue = s->issue_ns;
	whole = span(s->start_ns, now);
	refused = s->refused_ns ? span(s->refused_ns, issue) : 0;
	__sync_fetch_and_add(&b->bytes, s->bytes);
	if (refused)
		hist_add(&b->h[BT_H_DISPATCH_WAIT], refused);
	if (s->start_ns != s->get_ns)
		hist_add(&b->h[BT_H_SUBMIT_WAIT], span(s->start_ns, s->get_ns));
	hist_add(&b->h[BT_H_QUEUED], span(s->get_ns, issue) - refused);
	hist_add(&b->h[BT_H_DEVICE], span(issue, s->complete_ns));
	hist_add(&b->h[BT_H_COMPLETION], span(s->complete_ns, now));
	hist_add(&b->h[BT_H_WHOLE], whole ? whole : 1); /* counts every request */
	return 0;
}

#endif
