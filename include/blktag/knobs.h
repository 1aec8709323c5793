/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings of the BPF programs, one struct in their read-only data, filled before load: what is off compiles to
 * nothing in the verifier. And the layouts of the maps that both sides read. Input: none. Output: types.
 */
#ifndef BLKTAG_KNOBS_H
#define BLKTAG_KNOBS_H

#include "blktag/wire.h"

/*
 * Enumerators of anonymous kernel enums and #defines move between releases: user space looks them up in the kernel's
 * BTF by name (the fallback is the value of kernels without the enumerator) and passes them here.
 */
struct bt_knobs {
	bt_u32 nr_cpus;         /* possible CPUs: rows of a counter */
	bt_u32 max_rows;        /* ids for hctxs and queues */
	bt_u32 max_spaces;
	bt_u32 nr_slots;        /* request state slots */
	bt_u32 ident_mask;      /* size of the identity table - 1, a power of two - 1 */
	bt_u32 wait_mask;       /* size of the wait table - 1 */
	bt_u32 task_mask;       /* size of the task table - 1 */
	bt_u32 ring_size_bytes; /* per CPU, a power of two */
	bt_u32 tgid;            /* filter, 0 = all */
	bt_u32 op_mask;         /* filter, 1 << bt_op, 0 = all */
	bt_u64 cgroup_id;       /* filter, 0 = all */
	bt_u32 nr_devs;         /* filter: devices in `dev`, 0 = all */
	bt_u32 dev[32];         /* major << 20 | minor */
	bt_u8 records;          /* write records; else counters only */
	bt_u8 rec_run;          /* write RESTART, RUN, ARM, REFUSE, REQUEUE records */
	bt_u8 rec_batch;
	bt_u8 rec_budget;
	bt_u8 hists;            /* keep histograms in the kernel */
	bt_u8 pad0[3];
	bt_u32 nr_hists;        /* blocks in map `hists`; block 0 is never used */
	bt_u32 nr_private_hists;/* of these: may belong to one CPU alone, so that each hctx finds a shared one */
	bt_u32 hctx_s_stopped, hctx_s_tag_active, hctx_s_restart, hctx_s_inactive; /* bit numbers of hctx->state */
	bt_u32 f_queue_shared, f_hctx_shared, f_blocking; /* masks of hctx->flags */
	bt_u32 req_nowait, req_reserved;                  /* masks of alloc_data->flags */
	bt_u32 queue_hctx_active, queue_quiesced;         /* bit numbers of queue_flags */
	bt_u32 rq_sync, rq_polled, rq_fua;                /* masks of cmd_flags, 0 = not in this kernel */
	bt_u8 op_of[64];        /* REQ_OP_* -> bt_op */
	bt_u8 status_of[32];    /* blk_status_t -> bt_status, for refused dispatches */
};

/* One CPU's ring, a value of map `rings`. The reader zeroes what it has read, then moves tail. */
#define BT_RING_HEAD_BYTES 4096
#define BT_RING_GUARD_BYTES 4096 /* a record that starts before the end runs on into it */
struct bt_ring {
	bt_u64 head;     /* bytes ever reserved; by programs */
	bt_u64 pad0[7];
	bt_u64 tail;     /* bytes ever read; by the reader */
	bt_u64 pad1[7];
	bt_u64 produced; /* records asked for, lost ones included */
	bt_u64 lost[BT_NR_RING_KINDS];
	bt_u64 pad2[BT_RING_HEAD_BYTES / 8 - 17 - BT_NR_RING_KINDS];
	bt_u8 data[];
};

/*
 * Histograms of the live mode. Bins are those of agg::LogAxis: exact below 32 ns, then 16 per power of two up to 2^42,
 * the last one for what is longer. The reader takes differences of bins, so they may wrap.
 */
#define BT_HIST_BINS 625
static inline bt_u32 bt_hist_bin(bt_u64 v)
{
	bt_u32 shift = 0;

	if (v >> 32) {
		if (v >> 42)
			return BT_HIST_BINS - 1;
		v >>= 16;
		shift = 16 << 4;
	}
	if (v >= 1 << 20) {
		v >>= 16;
		shift += 16 << 4;
	}
	if (v >= 1 << 12) {
		v >>= 8;
		shift += 8 << 4;
	}
	if (v >= 1 << 8) {
		v >>= 4;
		shift += 4 << 4;
	}
	if (v >= 1 << 6) {
		v >>= 2;
		shift += 2 << 4;
	}
	if (v >= 1 << 5) {
		v >>= 1;
		shift += 1 << 4;
	}
	return shift + (bt_u32)v;
}

struct bt_hist {
	bt_u64 sum_ns;
	bt_u64 max_ns; /* may miss a larger one by a race, never by more than its bin tells */
	bt_u32 bin[BT_HIST_BINS];
	bt_u32 pad0;
};

enum bt_hist_kind {
	BT_HB_IO = 0,    /* requests of one operation, by enum bt_hist_phase */
	BT_HB_WAIT = 1,  /* submit_waits, by enum bt_cause */
	BT_HB_DWAIT = 2, /* dispatch_waits, by enum bt_cause */
	BT_HB_RUN = 3,   /* [0] = RESTART marked -> fired */
	BT_NR_HIST_KINDS = 4,
};
/* In the order of blktag::Phase, then the whole. */
enum bt_hist_phase { BT_H_SUBMIT_WAIT, BT_H_QUEUED, BT_H_DISPATCH_WAIT, BT_H_DEVICE, BT_H_COMPLETION, BT_H_WHOLE };
#define BT_NR_HISTS 6
#define BT_NR_SHARED_HISTS (BT_NR_OPS + 3)

/* A value of map `hists`: handed out in order, never given back. */
struct bt_hist_block {
	bt_u32 ready;
	bt_u16 hctx_id;
	bt_u8 kind; /* enum bt_hist_kind */
	bt_u8 op;   /* IO: enum bt_op */
	bt_u64 bytes; /* IO: of these requests */
	struct bt_hist h[BT_NR_HISTS];
};

/* Counters of one hctx or queue on one CPU: map `rows`, index cpu * max_rows + id. */
struct bt_row {
	bt_u64 c[BT_NR_COUNTERS];
	bt_u64 run_mark_issues; /* issues when the run under way began */
	bt_u64 run_start_ns;
	bt_u32 hist[BT_NR_OPS]; /* block of this CPU's requests by operation, 0 = none yet */
};

enum bt_slot_state {
	BT_SLOT_FREE = 0,    /* or its get was not seen */
	BT_SLOT_HELD = 1,
	BT_SLOT_SKIPPED = 2, /* held by a request that a filter leaves out */
	BT_SLOT_DRIVER = 3,  /* driver tag of a request that lives on a scheduler tag */
};

/* State of the request on one tag: map `slots`, index base of the space + tag. Read by the reader while it changes. */
struct bt_slot {
	bt_u64 start_ns;
	bt_u64 get_ns;
	bt_u64 insert_ns;
	bt_u64 refused_ns;
	bt_u64 issue_ns;
	bt_u64 complete_ns;
	bt_u64 sector;
	bt_u32 bytes;
	bt_u32 tid;
	bt_u16 hctx_id;
	bt_u16 tag;
	bt_u16 flags;
	bt_u16 submit_cpu;
	bt_u16 complete_cpu;
	bt_u16 requeues;
	bt_u8 op;
	bt_u8 status;
	bt_u8 state; /* enum bt_slot_state */
	bt_u8 pad0;
};

/* One wait under way: map `waits`, found by the address of the allocation's data on its task's stack. */
struct bt_wait_slot {
	bt_u64 key; /* 0 = free */
	bt_u64 start_ns;
	bt_u64 run_delay_ns; /* the task's total then */
	bt_u64 switches;     /* the task's voluntary context switches at the latest failure */
	bt_u32 tid;
	bt_u32 attempts;
	bt_u16 hctx_id;
	bt_u16 space_id;
	bt_u16 start_cpu;
	bt_u8 cause;
	bt_u8 flags;
	bt_u32 depth, held, active, limit, users;
	bt_u8 op;
	bt_u8 stuck; /* set by the sampler */
	bt_u8 pad0[2];
};

/* What is shared over CPUs about one hctx: map `hstates`, index id. */
struct bt_hstate {
	bt_u64 park_ns;         /* dispatch_wait under way since, 0 = none */
	bt_u64 restart_mark_ns; /* RESTART seen set, 0 = clear */
	bt_u32 park_fails;
	bt_u32 park_depth, park_held, park_active, park_limit;
	bt_u8 park_cause;
	bt_u8 pad0[3];
	bt_u32 hist[BT_NR_SHARED_HISTS]; /* shared blocks: by operation, then by kind; 0 = none yet */
	bt_u32 pad1;
};

/* A named object: maps `objects` (index id of hctx or queue) and `spaces` (index space id). */
struct bt_object {
	bt_u64 ptr;      /* 0 once gone */
	bt_u64 since_ns;
	bt_u32 ready;    /* 1 = complete, 2 = gone */
	bt_u32 dev;
	bt_u16 id;
	bt_u8 what;
	bt_u8 hctx_type;
	bt_u16 queue_id;
	bt_u16 hctx_num;
	bt_u32 flags;
	bt_u32 depth;
	bt_u32 reserved;
	bt_u16 space_id;
	bt_u16 sched_space_id;
	bt_u16 set_id;
	bt_u16 nr_ctx;
	bt_u32 slot_base;
	bt_u32 filtered;
	bt_u32 initial_held; /* SPACE: bits in use when it was registered: their gets were not seen */
	bt_u32 pad0;
	bt_u64 fn_queue_rq, fn_queue_rqs, fn_poll, fn_get_budget, fn_put_budget; /* QUEUE: the driver's functions */
};

/* Totals over everything: global variables of the programs. */
struct bt_globals {
	bt_u32 next_row, next_space, next_set, next_slot;
	bt_u64 pending_waits;
	bt_u64 ident_full;  /* objects that found no id or slots: they are not measured */
	bt_u64 ident_busy;  /* events lost while another CPU gave an object its id */
	bt_u64 waits_full;  /* waits that found the wait table full: not measured */
	bt_u64 waits_broken;/* waits whose end was missed, found later and dropped */
	bt_u64 hist_full;   /* durations that found no histogram: counted, not binned */
	bt_u32 next_hist;   /* blocks handed out */
	bt_u32 pad0;
	bt_u64 changes;     /* bumped when an object comes or goes */
	bt_u64 run_work_fn; /* blk_mq_run_work_fn, as found in the first hctx */
};

/* A driver's functions, for resolve_op. */
enum bt_driver_op { BT_OP_QUEUE_RQ, BT_OP_QUEUE_RQS, BT_OP_POLL, BT_OP_GET_BUDGET, BT_OP_PUT_BUDGET, BT_NR_DRIVER_OPS };
#define BT_SYMBOL_LEN 96
struct bt_resolve_op {
	bt_u32 id;
	bt_u32 which; /* enum bt_driver_op */
	bt_u32 ok;
	bt_u32 pad0;
	char name[BT_SYMBOL_LEN];
};

/* What the feature probe found; 1 = there. */
struct bt_probe {
	bt_u32 ran;
	bt_u32 tags_embedded;
	bt_u32 queue_rqs;
	bt_u32 wake_counters;
	bt_u32 shared_active;
	bt_u32 run_delay;
};

/* In and out of the sampling programs. */
struct bt_sample_space {
	bt_u32 space_id;
	bt_u32 ok;
	struct bt_gauge g;
};
/* Words of a space's normal bitmap from `first` on; each has 1 << shift tags. */
#define BT_SAMPLE_WORDS 32
struct bt_sample_bits {
	bt_u32 space_id;
	bt_u32 ok;
	bt_u32 first;
	bt_u32 nr; /* filled in */
	bt_u32 words; /* in the whole bitmap */
	bt_u32 shift;
	bt_u32 depth;
	bt_u32 pad0;
};
/* What it reads, in map `bit_words`: a program's context takes no variable index. */
struct bt_bit_words {
	bt_u64 held[BT_SAMPLE_WORDS];    /* word & ~cleared */
	bt_u64 cleared[BT_SAMPLE_WORDS]; /* word & cleared */
};
struct bt_sample_hctx {
	bt_u32 id;
	bt_u32 ok;
	struct bt_hgauge g;
	bt_u32 budget_in_use;
	bt_u32 pad0;
};

#endif
