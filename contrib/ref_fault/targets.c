// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of functions that can be skipped.
 * In: the arguments of a call, as registers. Out: whether the call concerns the queue that was aimed at.
 * These run inside a probe: no locks, no sleeping, and only pointers that are compared or known to stay.
 */
#include <linux/workqueue.h>
#include <scsi/scsi_device.h>

#include "ref_fault.h"

static void *rf_arg(struct pt_regs *regs, unsigned int n)
{
	return (void *)regs_get_kernel_argument(regs, n);
}

static bool rf_is_hctx(const struct rf_target *target, const struct blk_mq_hw_ctx *hctx)
{
	int want = target->aim.hctx;
	unsigned int i;

	for (i = 0; i < target->nr_hctxs; i++)
		if (target->hctxs[i] == hctx)
			return want < 0 || want == i;
	return false;
}

/* Whether `tags` is a tag space of the queue that is wanted; these pointers are never followed. */
static bool rf_is_space(const struct rf_target *target, const struct blk_mq_tags *tags)
{
	int want = target->aim.hctx;
	unsigned int i;

	for (i = 0; i < target->nr_hctxs; i++) {
		const struct blk_mq_hw_ctx *hctx = target->hctxs[i];

		if (want >= 0 && want != i)
			continue;
		if (target->aim.space != RF_SPACE_SCHED && READ_ONCE(hctx->tags) == tags)
			return true;
		if (target->aim.space != RF_SPACE_DRIVER && READ_ONCE(hctx->sched_tags) == tags)
			return true;
	}
	return false;
}

static bool rf_match_queue(const struct rf_target *target, struct pt_regs *regs)
{
	return rf_arg(regs, 0) == target->queue;
}

static bool rf_match_hctx(const struct rf_target *target, struct pt_regs *regs)
{
	return rf_is_hctx(target, rf_arg(regs, 0));
}

static bool rf_match_sdev(const struct rf_target *target, struct pt_regs *regs)
{
	const struct scsi_device *sdev = rf_arg(regs, 0);

	return sdev->request_queue == target->queue;
}

static bool rf_match_run_work(const struct rf_target *target, struct pt_regs *regs)
{
	struct work_struct *work = rf_arg(regs, 0);

	return rf_is_hctx(target, container_of(work, struct blk_mq_hw_ctx, run_work.work));
}

static bool rf_match_requeue_work(const struct rf_target *target, struct pt_regs *regs)
{
	return rf_arg(regs, 0) == &target->queue->requeue_work.work;
}

/* (cpu, work, delay): the work is to run a hardware queue, or to look at the requeue list */
static bool rf_match_delayed_work(const struct rf_target *target, struct pt_regs *regs)
{
	struct delayed_work *work = rf_arg(regs, 1);

	if (work == &target->queue->requeue_work)
		return target->aim.work != RF_WORK_RUN && target->aim.hctx < 0;
	return target->aim.work != RF_WORK_REQUEUE &&
	       rf_is_hctx(target, container_of(work, struct blk_mq_hw_ctx, run_work));
}

static bool rf_match_dispatch_wait(const struct rf_target *target, struct pt_regs *regs)
{
	struct wait_queue_entry *wait = rf_arg(regs, 0);

	return rf_is_hctx(target, container_of(wait, struct blk_mq_hw_ctx, dispatch_wait));
}

/* (tags, ctx, tag): the software queue tells the disk even where disks share their tags */
static bool rf_match_put_tag(const struct rf_target *target, struct pt_regs *regs)
{
	/* the type is the block layer's own, and only the address matters */
	void __percpu *ctxs = (void __percpu *)target->queue->queue_ctx;
	void *ctx = rf_arg(regs, 1);
	int cpu;

	if (!rf_is_space(target, rf_arg(regs, 0)))
		return false;
	for_each_possible_cpu(cpu)
		if (per_cpu_ptr(ctxs, cpu) == ctx)
			return true;
	return false;
}

/* (bitmap): bitmaps belong to tag spaces, so disks that share one cannot be told apart here */
static bool rf_match_bitmap(const struct rf_target *target, struct pt_regs *regs)
{
	struct sbitmap_queue *bitmap = rf_arg(regs, 0);

	return rf_is_space(target, container_of(bitmap, struct blk_mq_tags, bitmap_tags)) ||
	       rf_is_space(target, container_of(bitmap, struct blk_mq_tags, breserved_tags));
}

const struct rf_kind rf_kinds[] = {
	{ .name = "sbitmap_queue_wake_up", .use = "lost wake-up of tasks that wait for a tag",
	  .match = rf_match_bitmap, .has_hctx = true, .has_space = true },
	{ .name = "blk_mq_put_tag", .use = "leaked tag",
	  .match = rf_match_put_tag, .has_hctx = true, .has_space = true },
	{ .name = "scsi_mq_put_budget", .use = "leaked budget: given back unused",
	  .match = rf_match_queue },
	{ .name = "scsi_device_unbusy", .use = "leaked budget: given back at completion",
	  .match = rf_match_sdev },
	{ .name = "__blk_mq_sched_restart", .use = "lost restart",
	  .match = rf_match_hctx, .has_hctx = true },
	{ .name = "blk_mq_dispatch_wake", .use = "lost wake-up of a hardware queue that waits for a driver tag",
	  .match = rf_match_dispatch_wait, .has_hctx = true, .returns = 1 },
	{ .name = "blk_mq_run_hw_queue", .use = "lost run: never asked for",
	  .match = rf_match_hctx, .has_hctx = true },
	{ .name = "blk_mq_run_hw_queues", .use = "lost run of all hardware queues",
	  .match = rf_match_queue },
	{ .name = "blk_mq_delay_run_hw_queue", .use = "lost delayed run",
	  .match = rf_match_hctx, .has_hctx = true },
	{ .name = "blk_mq_delay_run_hw_queues", .use = "lost delayed run of all hardware queues",
	  .match = rf_match_queue },
	{ .name = "kblockd_mod_delayed_work_on", .use = "lost run: never queued",
	  .match = rf_match_delayed_work, .has_hctx = true, .has_work = true, .returns = 1 },
	{ .name = "blk_mq_run_work_fn", .use = "lost run: queued, and the worker does nothing",
	  .match = rf_match_run_work, .has_hctx = true },
	{ .name = "blk_mq_kick_requeue_list", .use = "requeue list that nobody kicks",
	  .match = rf_match_queue },
	{ .name = "blk_mq_requeue_work", .use = "requeue list that was kicked and is not looked at",
	  .match = rf_match_requeue_work },
};
const unsigned int rf_nr_kinds = ARRAY_SIZE(rf_kinds);
