// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes and removes a disk with its tag set and rings.
 * In: parameters. Out: a disk that serves requests, and its removal with everything drained.
 */
#include <linux/debugfs.h>
#include <linux/slab.h>

#include "ref_virt.h"

static const struct block_device_operations rv_fops = {
	.owner = THIS_MODULE,
};

static int rv_disk_tags(struct rv_disk *disk)
{
	const struct rv_params *params = &disk->params;
	struct blk_mq_tag_set *tags = &disk->tags;
	int err;

	tags->ops = rv_ops(params->queue_rqs);
	tags->nr_hw_queues = params->num_queues + params->poll_queues;
	tags->nr_maps = params->poll_queues ? HCTX_MAX_TYPES : 1;
	tags->queue_depth = params->queue_depth;
	tags->numa_node = NUMA_NO_NODE;
	tags->cmd_size = sizeof(struct rv_cmd);
	tags->flags = REF_F_MERGE;
	tags->driver_data = disk;
	err = blk_mq_alloc_tag_set(tags);
	if (err)
		return err;
	disk->has_tags = true;
	disk->nr_rings = tags->nr_hw_queues;
	if (disk->nr_rings < params->num_queues + params->poll_queues)
		pr_info("ref_virt: the kernel allows only %u rings here\n", disk->nr_rings);
	return 0;
}

static int rv_disk_rings(struct rv_disk *disk)
{
	unsigned int i;

	disk->rings = kcalloc(disk->nr_rings, sizeof(*disk->rings), GFP_KERNEL);
	disk->truth = kcalloc(disk->nr_rings, sizeof(*disk->truth), GFP_KERNEL);
	if (!disk->rings || !disk->truth)
		return -ENOMEM;
	for (i = 0; i < disk->nr_rings; i++) {
		if (ref_truth_init(&disk->truth[i]))
			return -ENOMEM;
		rv_ring_init(&disk->rings[i], disk, i);
	}
	return ref_truth_init(&disk->device_truth);
}

/* Frees whatever of a disk was made, except the gendisk. */
static void rv_disk_free(struct rv_disk *disk)
{
	unsigned int i;

	if (disk->has_tags)
		blk_mq_free_tag_set(&disk->tags);
	for (i = 0; disk->rings && disk->truth && i < disk->nr_rings; i++) {
		/* the callback that ended the last request may still be on its way out */
		if (disk->rings[i].disk)
			hrtimer_cancel(&disk->rings[i].interrupt);
		ref_truth_free(&disk->truth[i]);
	}
	ref_truth_free(&disk->device_truth);
	kfree(disk->rings);
	kfree(disk->truth);
	kfree(disk->knobs);
	kfree(disk);
}

struct rv_disk *rv_disk_create(const struct rv_params *params, int index, struct dentry *parent)
{
	struct ref_disk_shape shape = {
		.block_bytes = 512, .max_sectors = 2560, .max_segments = 126};
	struct rv_disk *disk = kzalloc(sizeof(*disk), GFP_KERNEL);
	int err;

	if (!disk)
		return ERR_PTR(-ENOMEM);
	disk->params = *params;
	/* the largest request must fit into an empty ring */
	if (!params->indirect)
		shape.max_segments = min_t(u64, shape.max_segments, params->ring_size - 2);
	err = -ENOMEM;
	disk->knobs = ref_knobs_alloc(rv_knobs, disk);
	if (!disk->knobs)
		goto out;
	atomic64_set(&disk->knobs[RV_K_KICK_NS].value, params->kick_ns);
	atomic64_set(&disk->knobs[RV_K_SERVICE_NS].value, params->service_ns);
	atomic64_set(&disk->knobs[RV_K_LATENCY_NS].value, params->latency_ns);
	atomic64_set(&disk->knobs[RV_K_IRQ_GAP_NS].value, params->irq_gap_ns);
	atomic64_set(&disk->knobs[RV_K_BATCH_COMPLETE].value, params->batch_complete);
	err = rv_disk_tags(disk) ?: rv_disk_rings(disk);
	if (err)
		goto out;
	disk->disk = ref_alloc_disk(&disk->tags, &shape, disk);
	err = PTR_ERR_OR_ZERO(disk->disk);
	if (err)
		goto out;
	disk->disk->fops = &rv_fops;
	disk->disk->private_data = disk;
	/* no partition scan: the first request that the counters see is the user's */
	disk->disk->flags |= GENHD_FL_NO_PART;
	snprintf(disk->disk->disk_name, DISK_NAME_LEN, "rvirt%d", index);
	set_capacity(disk->disk, (sector_t)params->size_mb << 11);
	err = add_disk(disk->disk);
	if (err) {
		put_disk(disk->disk);
		goto out;
	}
	rv_debugfs_create(disk, parent);
	return disk;
out:
	rv_disk_free(disk);
	return ERR_PTR(err);
}

void rv_disk_destroy(struct rv_disk *disk)
{
	debugfs_remove(disk->dir);
	del_gendisk(disk->disk);
	put_disk(disk->disk);
	rv_disk_free(disk);
}
