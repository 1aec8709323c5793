// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The run-time knobs of one disk and its counters, as files in debugfs.
 * In: writes to ref_virt/rvirtN/KNOB. Out: rv_disk.knobs, and the files truth, state and knobs.
 */
#include "knobs_debugfs.h"
#include "ref_virt.h"

static int rv_reset(void *owner, s64 value)
{
	struct rv_disk *disk = owner;
	unsigned int i;

	if (atomic_read(&disk->in_flight))
		return -EBUSY;
	for (i = 0; i < disk->nr_rings; i++)
		ref_truth_reset(&disk->truth[i]);
	return 0;
}

/* clang-format off */
const struct ref_knob rv_knobs[RV_K_NR + 1] = {
	[RV_K_KICK_NS] = { .name = "kick_ns", .max = 10000000,
			   .help = "time that the CPU spends per doorbell" },
	[RV_K_SERVICE_NS] = { .name = "service_ns", .max = 10000000000,
			   .help = "serial time of a ring per request" },
	[RV_K_LATENCY_NS] = { .name = "latency_ns", .max = 10000000000,
			   .help = "time after that, in parallel" },
	[RV_K_IRQ_GAP_NS] = { .name = "irq_gap_ns", .max = 10000000,
			      .help = "least time between two interrupts of a ring" },
	[RV_K_BATCH_COMPLETE] = { .name = "batch_complete", .max = 1,
				  .help = "an interrupt ends its requests as one batch" },
	[RV_K_RESET] = { .name = "reset", .min = 1, .max = 1, .set = rv_reset,
			 .help = "counters to zero; refused while anything is in flight" },
};
/* clang-format on */

static int rv_truth_show(struct seq_file *out, void *unused)
{
	struct rv_disk *disk = out->private;

	ref_truth_show(out, disk->truth, disk->nr_rings, &disk->device_truth);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rv_truth);

/* What is the case now, where `truth` says what happened. */
static int rv_state_show(struct seq_file *out, void *unused)
{
	struct rv_disk *disk = out->private;
	struct blk_mq_hw_ctx *hctx;
	unsigned long i;

	seq_printf(out, "in_flight %d\n", atomic_read(&disk->in_flight));
	queue_for_each_hw_ctx(disk->disk->queue, hctx, i) {
		struct rv_ring *ring = &disk->rings[i];
		unsigned int free;

		spin_lock_irq(&ring->lock);
		free = ring->free;
		spin_unlock_irq(&ring->lock);
		seq_printf(out, "hctx%lu.free %u\n", i, free);
		seq_printf(out, "hctx%lu.polled %d\n", i, ring->polled);
		seq_printf(out, "hctx%lu.stopped %d\n", i,
			   test_bit(BLK_MQ_S_STOPPED, &hctx->state));
		seq_printf(out, "hctx%lu.cpus %*pbl\n", i, cpumask_pr_args(hctx->cpumask));
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rv_state);

void rv_debugfs_create(struct rv_disk *disk, struct dentry *parent)
{
	disk->dir = debugfs_create_dir(disk->disk->disk_name, parent);
	ref_knobs_publish(disk->knobs, disk->dir);
	debugfs_create_file("truth", 0400, disk->dir, disk, &rv_truth_fops);
	debugfs_create_file("state", 0400, disk->dir, disk, &rv_state_fops);
}
