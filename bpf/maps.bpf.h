/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All maps and global variables. Input: knobs set before load (sizes are set by user space: the ones here are only
 * placeholders). Output: definitions, once in each of the two objects; the driver object is loaded onto the main
 * object's maps.
 *
 * Arrays, never hashes, on the path of every request: look-ups in them are a few inlined instructions.
 */
#ifndef BLKTAG_MAPS_BPF_H
#define BLKTAG_MAPS_BPF_H

#include "compat.bpf.h"
#include "blktag/knobs.h"

#define BT_ARRAY(name, value_type)                   \
	struct {                                     \
		__uint(type, BPF_MAP_TYPE_ARRAY);    \
		__uint(map_flags, BPF_F_MMAPABLE);   \
		__uint(max_entries, 1);              \
		__type(key, __u32);                  \
		__type(value, struct value_type);    \
	} name SEC(".maps")

/* Kernel object -> id and slot base: open addressing, found by the object's address, which stays in here. */
struct bt_ident_entry {
	__u64 ptr;      /* 0 free, 1 was used, address + 1 being filled in */
	__u64 tags;     /* HCTX: its tag spaces when it was registered: a change makes the entry stale */
	__u64 sched_tags;
	__u32 base;     /* slot index of tag 0: of the driver tags (HCTX) or of the space itself */
	__u32 sched_base;
	__u16 id;       /* row of an HCTX or QUEUE, id of a SPACE or SET */
	__u16 depth;    /* tags, reserved ones included */
	__u16 sched_depth;
	__u16 reserved;
	__u16 sched_reserved;
	__u16 space_id; /* HCTX: driver tags. SPACE: row of the hctx that registered it */
	__u16 sched_space_id;
	__u16 queue_id;
	__u8 what;      /* enum bt_ident, BT_ID_SET */
	__u8 filtered;  /* left out by a filter, or found no room */
	__u8 sched;     /* SPACE: scheduler tags */
	__u8 pad0[5];
};
#define BT_ID_SET 3 /* only in here: a tag set */

/* A task whose name has been told. */
struct bt_task_entry {
	__u32 tid;
	__u32 exec_id;
};

/* Arguments kept from a function's entry to its return, and starts of sleeps. */
struct bt_call {
	__u64 a;
	__u64 b;
	__u64 ns;
};

/*
 * The queue_rqs call under way of a task: map `batch_open`, index tid & (BT_NR_BATCH_OPEN - 1). By task and not by CPU,
 * as the driver may be preempted and moved while it holds the list.
 */
#define BT_NR_BATCH_OPEN 4096
struct bt_batch_open {
	__u32 tid;         /* 0 = none */
	__u16 hctx_id;     /* of the first request */
	__u16 taken;       /* issued so far */
	__u64 last_sector; /* where the latest issued one begins */
	__u16 inversions;
	__u16 pad0[3];
};

BT_ARRAY(idents, bt_ident_entry);
BT_ARRAY(rows, bt_row);
BT_ARRAY(slots, bt_slot);
BT_ARRAY(waits, bt_wait_slot);
BT_ARRAY(tasks, bt_task_entry);
BT_ARRAY(hstates, bt_hstate);
BT_ARRAY(objects, bt_object);
BT_ARRAY(spaces, bt_object);
BT_ARRAY(rings, bt_ring);
BT_ARRAY(hists, bt_hist_block);
BT_ARRAY(bit_words, bt_bit_words);

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, BT_NR_BATCH_OPEN);
	__type(key, __u32);
	__type(value, struct bt_batch_open);
} batch_open SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, __u64); /* tid << 8 | which call */
	__type(value, struct bt_call);
} calls SEC(".maps");

const volatile struct bt_knobs knobs = {};
struct bt_globals globals = {};

static __always_inline struct bt_row *row_of(__u32 id)
{
	__u32 i = bpf_get_smp_processor_id() * knobs.max_rows + id;

	return bpf_map_lookup_elem(&rows, &i);
}

/* Where this task's queue_rqs call is kept; what it holds may be another task's: see its tid. */
static __always_inline struct bt_batch_open *batch_of_task(__u32 tid)
{
	__u32 i = tid & (BT_NR_BATCH_OPEN - 1);

	return bpf_map_lookup_elem(&batch_open, &i);
}

#define COUNT(row, name) ((row)->c[BT_C_##name]++)
#define COUNT_ADD(row, name, n) ((row)->c[BT_C_##name] += (n))

#endif
