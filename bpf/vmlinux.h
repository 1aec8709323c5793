/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel types that the BPF programs use, and of each only the members they use, written by hand so that a build
 * host needs no BTF. Input: none. Output: types; every access is relocated at load time against the running kernel
 * (preserve_access_index), so order, offsets and missing neighbours do not matter. Members that exist only on some
 * kernels are guarded in compat.bpf.h.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u32 __wsum;
typedef _Bool bool;
enum { false = 0, true = 1 };
#define NULL ((void *)0)

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
};
enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_F_NO_PREALLOC = 1,
	BPF_F_MMAPABLE = 1024,
};

/* context of raw tracepoint programs: not a kernel type, never relocated */
struct bpf_raw_tracepoint_args {
	__u64 args[0];
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 pstate;
};
struct pt_regs {
	struct user_pt_regs user_regs;
};
#endif

typedef struct {
	int counter;
} atomic_t;

struct list_head {
	struct list_head *next, *prev;
};

struct sched_info {
	unsigned long long run_delay;
};
struct task_struct {
	int pid;
	int tgid;
	char comm[16];
	struct sched_info sched_info;
	__u64 start_boottime;
	__u32 self_exec_id;
	unsigned long nvcsw;
};

struct work_struct;
typedef void (*work_func_t)(struct work_struct *work);
struct work_struct {
	struct {
		long counter;
	} data;
	work_func_t func;
};
struct delayed_work {
	struct work_struct work;
};
struct wait_queue_entry {
	struct list_head entry;
};

struct sbitmap_word {
	unsigned long word;
	unsigned long cleared;
};
struct sbitmap {
	unsigned int depth;
	unsigned int shift;
	unsigned int map_nr;
	struct sbitmap_word *map;
};
struct sbitmap_queue {
	struct sbitmap sb;
	unsigned int wake_batch;
	atomic_t ws_active;
	atomic_t completion_cnt;
	atomic_t wakeup_cnt;
};

struct request;
struct blk_mq_tags {
	unsigned int nr_tags;
	unsigned int nr_reserved_tags;
	unsigned int active_queues;
	struct sbitmap_queue bitmap_tags;
	struct sbitmap_queue breserved_tags;
};

struct request_queue;
struct blk_mq_hw_ctx;
struct blk_mq_alloc_data {
	struct request_queue *q;
	unsigned int flags;
	unsigned int shallow_depth;
	unsigned int cmd_flags;
	struct blk_mq_hw_ctx *hctx;
};

struct io_comp_batch;
struct blk_mq_ops {
	void *queue_rq;
	void *queue_rqs;
	void *get_budget;
	void *put_budget;
	void *poll;
};
struct blk_mq_tag_set {
	unsigned int nr_hw_queues;
	unsigned int flags;
};
struct elevator_queue;
struct gendisk {
	int major;
	int first_minor;
	struct request_queue *queue;
};
struct request_queue {
	void *queuedata;
	struct elevator_queue *elevator;
	const struct blk_mq_ops *mq_ops;
	unsigned long queue_flags;
	unsigned int nr_hw_queues;
	unsigned int nr_requests; /* the low half where it is an unsigned long: see compat.bpf.h */
	int quiesce_depth;
	int mq_freeze_depth;
	struct gendisk *disk;
	int id;
	atomic_t nr_active_requests_shared_tags;
	struct list_head requeue_list;
	struct blk_mq_tag_set *tag_set;
};

struct blk_mq_hw_ctx {
	struct list_head dispatch;
	unsigned long state;
	struct delayed_work run_work;
	unsigned long flags;
	struct request_queue *queue;
	struct sbitmap ctx_map;
	unsigned int dispatch_busy;
	unsigned short type;
	unsigned short nr_ctx;
	struct wait_queue_entry dispatch_wait;
	struct blk_mq_tags *tags;
	struct blk_mq_tags *sched_tags;
	unsigned int queue_num;
	atomic_t nr_active;
};

enum mq_rq_state {
	MQ_RQ_IDLE = 0,
	MQ_RQ_IN_FLIGHT = 1,
	MQ_RQ_COMPLETE = 2,
};

struct request {
	struct request_queue *q;
	struct blk_mq_hw_ctx *mq_hctx;
	unsigned int cmd_flags;
	int tag;
	int internal_tag;
	unsigned int __data_len;
	__u64 __sector;
	struct request *rq_next;
	enum mq_rq_state state;
};

struct blk_mq_queue_data {
	struct request *rq;
};

struct rq_qos {
	struct gendisk *disk;
};
struct rq_wait {
	atomic_t inflight;
};
struct rq_wb {
	struct rq_qos rqos;
	struct rq_wait rq_wait[3];
};

struct scsi_device {
	struct request_queue *request_queue;
	struct sbitmap budget_map;
	atomic_t device_blocked;
	unsigned short queue_depth;
};

#pragma clang attribute pop

#endif
