/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What crosses from the BPF programs to user space: record kinds, their structs, shared tables. One definition for
 * BPF C, C11 and C++. Input: none. Output: the live wire format; the file format is another one (blktag-trace(5)).
 *
 * Rules: fixed-width integers only; every byte named, padding zeroed by the writer; kinds, ids and flag bits are
 * numbered by hand and only ever appended; a struct only grows at its end. Times are CLOCK_MONOTONIC nanoseconds
 * stamped by our own programs (stamps kept in struct request can be stale), 0 = did not happen.
 */
#ifndef BLKTAG_WIRE_H
#define BLKTAG_WIRE_H

#ifdef __bpf__
typedef __u8 bt_u8;
typedef __u16 bt_u16;
typedef __u32 bt_u32;
typedef __u64 bt_u64;
#else
#include <stddef.h>
#include <stdint.h>
typedef uint8_t bt_u8;
typedef uint16_t bt_u16;
typedef uint32_t bt_u32;
typedef uint64_t bt_u64;
#endif

#ifdef __cplusplus
#define BT_ASSERT(cond) static_assert(cond, #cond)
#else
#define BT_ASSERT(cond) _Static_assert(cond, #cond)
#endif
#ifdef __bpf__
#define BT_LAYOUT(type, last, size) BT_ASSERT(sizeof(struct type) == (size))
#else
#define BT_LAYOUT(type, last, size)                                                                                    \
	BT_ASSERT(sizeof(struct type) == (size) && sizeof(((struct type *)0)->last) + offsetof(struct type, last) == (size))
#endif

#define BT_WIRE_MAJOR 1
#define BT_WIRE_MINOR 0

#define BT_NO_ID 0xffffu  /* no hctx, space or queue */
#define BT_NO_TAG 0xffffu /* no tag; kernel depths end at 10240 */
#define BT_COMM_LEN 16

enum bt_counter {
#define BT_COUNTER(name, scope, unit, help) BT_C_##name,
#include "blktag/counters.def"
#undef BT_COUNTER
	BT_NR_COUNTERS
};

/* Record kinds. The programs emit 1..15; 32.. are made by the capture library from maps and sysfs. */
enum bt_kind {
	BT_K_NONE = 0,
	BT_K_IO = 1,       /* one request's life, short form */
	BT_K_IO_LONG = 2,  /* one request's life with waits, insert or requeues */
	BT_K_TASK = 3,     /* a task seen for the first time, or under a new name */
	BT_K_WAIT = 4,     /* one submit_wait */
	BT_K_DWAIT = 5,    /* one dispatch_wait */
	BT_K_RESTART = 6,  /* RESTART fired */
	BT_K_RUN = 7,      /* an hctx run was executed */
	BT_K_ARM = 8,      /* a run was armed at kblockd */
	BT_K_REFUSE = 9,   /* the driver's queue_rq did not return OK */
	BT_K_REQUEUE = 10, /* a request was taken back */
	BT_K_BATCH = 11,   /* a queue_rqs call with more than one request, or with left-overs */
	BT_K_BUDGET = 12,  /* a dispatch budget was refused, or given back unused */
	BT_K_OTHER = 13,   /* a wait that is not for tags: throttle, queue entry, freeze */
	BT_K_IDENT = 14,   /* an hctx, tag space or queue got an id, or lost it */
	BT_K_COUNTERS = 32,/* counters of one hctx or queue at one moment, running totals */
	BT_K_GAUGE = 33,   /* one tag space, sampled from its bitmap */
	BT_K_HGAUGE = 34,  /* one hctx's flags and lists, sampled */
	BT_K_LOSS = 35,    /* records lost on one CPU since the last one */
};
#define BT_NR_RING_KINDS 16

struct bt_hdr {
	bt_u16 size; /* whole record in bytes, a multiple of 8; written last: 0 = not ready */
	bt_u8 kind;  /* enum bt_kind */
	bt_u8 pad0;
	bt_u32 cpu;  /* that wrote the record */
	bt_u64 ts_ns;/* when the described thing ended */
};
BT_LAYOUT(bt_hdr, ts_ns, 16);

/* Operation ids: ours, translated from the running kernel's req_op by name. */
enum bt_op {
	BT_OP_READ = 0,
	BT_OP_WRITE = 1,
	BT_OP_FLUSH = 2,
	BT_OP_DISCARD = 3,
	BT_OP_WRITE_ZEROES = 4,
	BT_OP_ZONE = 5,  /* append, reset, open, close, finish */
	BT_OP_DRV = 6,   /* passthrough: REQ_OP_DRV_IN, REQ_OP_DRV_OUT */
	BT_OP_OTHER = 7,
	BT_NR_OPS = 8,
};

/* Completion status, ours. */
enum bt_status {
	BT_ST_OK = 0,
	BT_ST_ERROR = 1,        /* any error not below */
	BT_ST_RESOURCE = 2,     /* BLK_STS_RESOURCE: the block layer retries by timer */
	BT_ST_DEV_RESOURCE = 3, /* BLK_STS_DEV_RESOURCE: a completion is promised to restart the queue */
	BT_ST_AGAIN = 4,
	BT_ST_UNKNOWN = 5,      /* no completion seen */
};

#define BT_IO_SYNC 0x0001u
#define BT_IO_POLLED 0x0002u
#define BT_IO_PASSTHROUGH 0x0004u
#define BT_IO_BATCH_GET 0x0008u  /* the tag came from a batch allocation: get may lie well before submission */
#define BT_IO_SCHED 0x0010u      /* lives on a scheduler tag */
#define BT_IO_RESERVED 0x0020u
#define BT_IO_UNUSED 0x0040u     /* put back without ever being issued */
#define BT_IO_BATCH_PUT 0x0080u  /* completed in a batch */
#define BT_IO_FLUSH_SEQ 0x0100u  /* a flush borrowed this request's tag */
#define BT_IO_PARTIAL 0x0200u    /* completed in more than one step */
#define BT_IO_FUA 0x0400u
#define BT_IO_WAITED 0x0800u     /* its tag was waited for: start_ns < get_ns */
#define BT_IO_ORPHAN 0x1000u     /* the put was not seen; ts is the next get of the tag */

/* ts_ns = put. All differences below 2^32 ns (4.29 s), else the long form is used. */
struct bt_io {
	struct bt_hdr h;
	bt_u64 sector;
	bt_u32 bytes;
	bt_u32 tid;
	bt_u32 get_to_issue_ns;
	bt_u32 issue_to_complete_ns;
	bt_u32 complete_to_put_ns;
	bt_u16 hctx_id;
	bt_u16 tag;
	bt_u16 flags; /* BT_IO_* */
	bt_u16 submit_cpu;
	bt_u8 op;     /* enum bt_op */
	bt_u8 status; /* enum bt_status */
	bt_u16 pad0;
};
BT_LAYOUT(bt_io, pad0, 56);

struct bt_io_long {
	struct bt_hdr h;
	bt_u64 sector;
	bt_u32 bytes;
	bt_u32 tid;
	bt_u64 start_ns;    /* first attempt to get the tag; = get_ns where it did not wait */
	bt_u64 get_ns;
	bt_u64 insert_ns;   /* into a scheduler or software queue */
	bt_u64 refused_ns;  /* first refused for want of a driver tag, budget or by the driver */
	bt_u64 issue_ns;    /* the last one */
	bt_u64 complete_ns;
	bt_u16 hctx_id;
	bt_u16 tag;         /* driver tag, BT_NO_TAG where it never had one */
	bt_u16 sched_tag;   /* BT_NO_TAG without a scheduler */
	bt_u16 flags;       /* BT_IO_* */
	bt_u16 submit_cpu;
	bt_u16 complete_cpu;
	bt_u16 requeues;
	bt_u8 op;
	bt_u8 status;
};
BT_LAYOUT(bt_io_long, status, 96);

struct bt_task {
	struct bt_hdr h;
	bt_u32 tid;
	bt_u32 tgid;
	bt_u64 cgroup_id;
	bt_u64 start_ns; /* task start, boot time clock: tells a reused tid apart */
	bt_u8 comm[BT_COMM_LEN]; /* bytes as the task set them, not a string to trust */
};
BT_LAYOUT(bt_task, comm, 56);

enum bt_cause {
	BT_CAUSE_EXHAUSTED = 0,   /* no free tag */
	BT_CAUSE_FAIR_SHARE = 1,  /* free tags, the queue's share of a shared set is used up */
	BT_CAUSE_SCHED_DEPTH = 2, /* the scheduler limits the depth (async_depth) */
	BT_CAUSE_RESERVED = 3,    /* the reserved pool */
	BT_CAUSE_STUCK = 4,       /* free tags, no rule in the way, for long */
	BT_NR_CAUSES = 5,
};

#define BT_W_RESERVED 0x01u /* on the reserved pool */
#define BT_W_SCHED 0x02u    /* on scheduler tags */
#define BT_W_WON 0x04u      /* won without sleeping */
#define BT_W_OPEN 0x08u     /* still waiting when the recording ended: ts is that moment */
#define BT_W_MOVED 0x10u    /* ended on another hctx */

/* ts_ns = tag got. */
struct bt_wait {
	struct bt_hdr h;
	bt_u64 start_ns;    /* first failed attempt */
	bt_u64 runnable_ns; /* of the wait: woken, not yet on a CPU */
	bt_u32 tid;
	bt_u32 attempts;    /* failed ones */
	bt_u32 sleeps;
	bt_u16 hctx_id;     /* where it began */
	bt_u16 end_hctx_id; /* where it got its tag */
	bt_u16 space_id;    /* where it began */
	bt_u16 tag;         /* got in the end */
	bt_u16 start_cpu;
	bt_u8 cause;        /* enum bt_cause */
	bt_u8 flags;        /* BT_W_* */
	bt_u32 depth;       /* of the pool, at the first failure */
	bt_u32 held;        /* bits in use then */
	bt_u32 active;      /* the queue's active requests then, 0 where the set is not shared */
	bt_u32 limit;       /* that bound: fair share or scheduler depth, else depth */
	bt_u32 users;       /* active queues on the set */
	bt_u8 op;
	bt_u8 pad0[3];
};
BT_LAYOUT(bt_wait, pad0, 80);

/* ts_ns = the hctx got a driver tag again. */
struct bt_dwait {
	struct bt_hdr h;
	bt_u64 start_ns;
	bt_u16 hctx_id;
	bt_u16 space_id;
	bt_u16 fails;  /* failed allocations while parked, saturating */
	bt_u8 cause;   /* exhausted, fair share or reserved */
	bt_u8 flags;   /* BT_W_OPEN */
	bt_u32 depth;
	bt_u32 held;
	bt_u32 active;
	bt_u32 limit;
};
BT_LAYOUT(bt_dwait, limit, 48);

struct bt_restart {
	struct bt_hdr h;
	bt_u64 marked_ns; /* 0 where the marking was not seen */
	bt_u16 hctx_id;
	bt_u16 pad0[3];
};
BT_LAYOUT(bt_restart, pad0, 32);

#define BT_RUN_EMPTY 0x01u
#define BT_RUN_ASYNC 0x02u   /* by kblockd */
#define BT_RUN_REARMED 0x04u /* ARM: was pending already */
struct bt_run {
	struct bt_hdr h;
	bt_u64 start_ns; /* RUN: start. ARM: the delay asked for */
	bt_u32 issued;   /* RUN: requests started */
	bt_u16 hctx_id;
	bt_u8 flags;     /* BT_RUN_* */
	bt_u8 pad0;
};
BT_LAYOUT(bt_run, pad0, 32);

/* REFUSE: queue_rq's status. REQUEUE: status is BT_ST_UNKNOWN. */
struct bt_refuse {
	struct bt_hdr h;
	bt_u16 hctx_id;
	bt_u16 tag;
	bt_u16 requeues; /* of this request so far */
	bt_u8 status;    /* enum bt_status */
	bt_u8 op;
	bt_u32 in_flight;/* of the queue at that moment; 0xffffffff = not measured */
	bt_u32 pad0;
};
BT_LAYOUT(bt_refuse, pad0, 32);

struct bt_batch {
	struct bt_hdr h;
	bt_u16 hctx_id; /* of the first request */
	bt_u16 offered;
	bt_u16 left;
	bt_u16 inversions;
};
BT_LAYOUT(bt_batch, inversions, 24);

#define BT_B_RETURNED 0x01u /* given back unused; else refused */
struct bt_budget {
	struct bt_hdr h;
	bt_u16 queue_id;
	bt_u8 flags; /* BT_B_* */
	bt_u8 blocked; /* device_blocked > 0: the driver had said busy */
	bt_u32 in_use;
	bt_u32 limit;
	bt_u32 pad0;
};
BT_LAYOUT(bt_budget, pad0, 32);

enum bt_other { BT_OTHER_THROTTLE = 0, BT_OTHER_ENTER = 1, BT_OTHER_FREEZE = 2 };
struct bt_other_wait {
	struct bt_hdr h;
	bt_u64 start_ns;
	bt_u32 tid;
	bt_u16 queue_id;
	bt_u8 what; /* enum bt_other */
	bt_u8 pad0;
};
BT_LAYOUT(bt_other_wait, pad0, 32);

enum bt_ident { BT_ID_QUEUE = 0, BT_ID_HCTX = 1, BT_ID_SPACE = 2 };
#define BT_IDF_GONE 0x01u        /* the object went away; its id is not used again */
#define BT_IDF_SCHED 0x02u       /* SPACE: scheduler tags */
#define BT_IDF_HCTX_SHARED 0x04u /* SPACE: one bitmap for all hctxs of the set (host-wide tags) */
#define BT_IDF_QUEUE_SHARED 0x08u/* HCTX: several queues on the set */
#define BT_IDF_BLOCKING 0x10u    /* HCTX: queue_rq may sleep */
#define BT_IDF_ELEVATOR 0x20u    /* QUEUE: has an I/O scheduler */
#define BT_IDF_QUEUE_RQS 0x40u   /* QUEUE: the driver offers queue_rqs */
#define BT_IDF_BUDGET 0x80u      /* QUEUE: the driver has get_budget */
#define BT_IDF_POLL 0x100u       /* QUEUE: the driver offers poll */
struct bt_ident_rec {
	struct bt_hdr h;
	bt_u16 id;
	bt_u8 what;     /* enum bt_ident */
	bt_u8 hctx_type;/* HCTX: 0 default, 1 read, 2 poll */
	bt_u16 queue_id;/* HCTX: its queue */
	bt_u16 hctx_num;/* HCTX: queue_num */
	bt_u32 flags;   /* BT_IDF_* */
	bt_u32 dev;     /* QUEUE: major << 20 | minor, 0 without a disk */
	bt_u32 depth;   /* SPACE: tags without the reserved ones. QUEUE: nr_requests */
	bt_u32 reserved;/* SPACE: reserved tags. QUEUE: nr_hw_queues */
	bt_u16 space_id;/* HCTX: its driver tags */
	bt_u16 sched_space_id; /* HCTX: its scheduler tags, or BT_NO_ID */
	bt_u16 set_id;  /* QUEUE, SPACE: the tag set; equal ids share driver tags */
	bt_u16 nr_ctx;  /* HCTX: software queues mapped to it; 0 = unmapped */
	bt_u32 slot_base; /* SPACE: first index in the slot array */
	bt_u32 pad0;
};
BT_LAYOUT(bt_ident_rec, pad0, 56);

/* Made by the capture library. */
struct bt_counters {
	struct bt_hdr h;
	bt_u16 id;   /* hctx_id or queue_id */
	bt_u8 what;  /* BT_ID_HCTX or BT_ID_QUEUE */
	bt_u8 pad0;
	bt_u32 count;/* values that follow: BT_NR_COUNTERS of the recording tool, in counters.def order */
	bt_u64 value[BT_NR_COUNTERS];
};
BT_LAYOUT(bt_counters, value, 24 + 8 * BT_NR_COUNTERS);

struct bt_gauge {
	struct bt_hdr h;
	bt_u16 space_id;
	bt_u16 pad0;
	bt_u32 depth;     /* of the bitmap right now */
	bt_u32 held;      /* popcount(word & ~cleared), both pools */
	bt_u32 cleared;   /* freed lazily, not yet folded in */
	bt_u32 waiters;   /* ws_active: wait queues with sleepers */
	bt_u32 users;     /* active_queues */
	bt_u32 wake_batch;
	bt_u32 wakes_due; /* completion_cnt - wakeup_cnt; 0xffffffff = not in this kernel */
	bt_u32 in_flight; /* slots issued and not completed */
	bt_u32 reserved_held;
	bt_u64 oldest_get_ns; /* of the held tags whose get was seen, 0 = none */
};
BT_LAYOUT(bt_gauge, oldest_get_ns, 64);

#define BT_HG_STOPPED 0x01u
#define BT_HG_TAG_ACTIVE 0x02u
#define BT_HG_RESTART 0x04u
#define BT_HG_INACTIVE 0x08u
#define BT_HG_DISPATCH 0x10u     /* hctx->dispatch not empty */
#define BT_HG_RUN_PENDING 0x20u  /* run_work armed */
#define BT_HG_PARKED 0x40u       /* on a tag wait queue (dispatch_wait) */
#define BT_HG_CTX_PENDING 0x80u  /* software queues not empty */
#define BT_HG_REQUEUE 0x100u     /* q->requeue_list not empty */
#define BT_HG_QUIESCED 0x200u
#define BT_HG_FROZEN 0x400u
struct bt_hgauge {
	struct bt_hdr h;
	bt_u16 hctx_id;
	bt_u16 pad0;
	bt_u32 flags;  /* BT_HG_* */
	bt_u32 active; /* nr_active, or the queue's where host-wide */
	bt_u32 dispatch_busy;
};
BT_LAYOUT(bt_hgauge, dispatch_busy, 32);

struct bt_loss {
	struct bt_hdr h;
	bt_u64 from_ns; /* the loss lies between from_ns and ts_ns */
	bt_u32 of_cpu;
	bt_u32 pad0;
	bt_u64 lost[BT_NR_RING_KINDS]; /* by kind, since the last BT_K_LOSS of this CPU */
};
BT_LAYOUT(bt_loss, lost, 32 + 8 * BT_NR_RING_KINDS);

#define BT_MAX_RECORD_BYTES (24 + 8 * BT_NR_COUNTERS)

#endif
