/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of ref_fault share: the functions that can be skipped, and the aim at one queue.
 * In: nothing. Out: included by every .c file of the module.
 */
#ifndef REF_FAULT_H
#define REF_FAULT_H

#include <linux/atomic.h>
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>

enum rf_space { RF_SPACE_ANY, RF_SPACE_DRIVER, RF_SPACE_SCHED };
enum rf_work { RF_WORK_ANY, RF_WORK_RUN, RF_WORK_REQUEUE };

/* What is to be skipped, as the user said it. */
struct rf_aim {
	dev_t dev;
	int hctx;		/* hardware queue, -1 for any */
	enum rf_space space;
	enum rf_work work;
	unsigned int nth;	/* every nth hit only */
	int count;
};

struct rf_target;

/* One function: how to tell whether a call concerns the queue, and what a skipped call returns. */
struct rf_kind {
	const char *name;
	const char *use;
	bool (*match)(const struct rf_target *target, struct pt_regs *regs);
	bool has_hctx;		/* calls can be told apart by hardware queue */
	bool has_space;		/* calls can be told apart by tag space */
	bool has_work;		/* calls can be told apart by the work that is queued */
	unsigned long returns;
};

/*
 * The state of one function. Everything but the counters is fixed while the probe is there, so the
 * handler reads it without a lock.
 */
struct rf_target {
	const struct rf_kind *kind;
	struct ftrace_ops ops;	/* where the function starts with an ftrace location */
	struct kprobe probe;	/* elsewhere */
	bool by_ftrace;		/* which of them */
	bool placed;		/* and it is there; under the mutex of skip.c */
	struct rf_aim aim;
	struct request_queue *queue;		/* held */
	struct blk_mq_hw_ctx **hctxs;
	unsigned int nr_hctxs;
	atomic_t armed;		/* skips left */
	atomic64_t calls, hits, skipped;
};

/* targets.c */
extern const struct rf_kind rf_kinds[];
extern const unsigned int rf_nr_kinds;

/* skip.c */
int rf_init(void);
void rf_exit(void);
int rf_arm(const char *name, const struct rf_aim *aim);
int rf_disarm(const char *name);
void rf_for_each(void (*fn)(struct rf_target *target, void *data), void *data);
int rf_find_entry(const char *name, unsigned long *address, bool *ftrace);

/* files.c */
void rf_files_create(void);
void rf_files_remove(void);

#endif
