/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counting a sbitmap's bits. Input: a struct sbitmap. Output: bits in use. lib/sbitmap.c cannot be traced on stock
 * kernels, so what it does is read from its memory.
 */
#ifndef BLKTAG_BITMAP_BPF_H
#define BLKTAG_BITMAP_BPF_H

#include "compat.bpf.h"

#define MAX_BITMAP_WORDS 256

/*
 * Bits in use (set and not lazily cleared) in the low half, lazily cleared ones in the high half. Read without locks:
 * exact when nothing changes meanwhile. Global, so that the verifier checks it once.
 */
__noinline __u64 bitmap_count(__u64 sb_ptr)
{
	struct sbitmap *sb = (void *)sb_ptr;
	struct sbitmap_word *map = BPF_CORE_READ(sb, map);
	__u32 nr = BPF_CORE_READ(sb, map_nr), held = 0, lazily = 0;

	for (__u32 i = 0; i < MAX_BITMAP_WORDS; i++) {
		struct sbitmap_word *w = (void *)map + i * bpf_core_type_size(struct sbitmap_word);
		__u64 word, cleared;

		if (i >= nr)
			break;
		word = BPF_CORE_READ(w, word);
		cleared = BPF_CORE_READ(w, cleared);
		held += __builtin_popcountll(word & ~cleared);
		lazily += __builtin_popcountll(word & cleared);
	}
	return (__u64)lazily << 32 | held;
}

static __always_inline __u32 bitmap_held(struct sbitmap *sb)
{
	return bitmap_count((__u64)sb);
}

#endif
