// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes and removes tag sets and disks.
 * In: parameters. Out: a disk that serves requests, and its removal with everything drained.
 */
#include <linux/debugfs.h>
#include <linux/slab.h>

#include "ref_null.h"

static const struct block_device_operations rn_fops = {
	.owner = THIS_MODULE,
};

struct rn_set *rn_set_create(const struct rn_params *params)
{
	struct rn_set *set = kzalloc(sizeof(*set), GFP_KERNEL);
	int err = -ENOMEM;
	unsigned int i;

	if (!set)
		return ERR_PTR(-ENOMEM);
	set->params = *params;
	spin_lock_init(&set->lock);
	INIT_LIST_HEAD(&set->devices);
	set->tags.ops = rn_ops(params->budget, params->queue_rqs != RN_RQS_ABSENT);
	set->tags.nr_hw_queues = params->submit_queues + params->poll_queues;
	set->tags.nr_maps = params->poll_queues ? HCTX_MAX_TYPES : 1;
	set->tags.queue_depth = params->hw_queue_depth;
	set->tags.reserved_tags = params->reserved_tags;
	set->tags.numa_node = NUMA_NO_NODE;
	set->tags.cmd_size = sizeof(struct rn_cmd);
	set->tags.flags = REF_F_MERGE;
	if (params->host_tags)
		set->tags.flags |= BLK_MQ_F_TAG_HCTX_SHARED;
	set->tags.driver_data = set;
	err = blk_mq_alloc_tag_set(&set->tags);
	if (err)
		goto out;
	set->mapped = true;
	if (set->tags.nr_hw_queues < params->submit_queues + params->poll_queues)
		pr_info("ref_null: the kernel allows only %u hardware queues here\n",
			set->tags.nr_hw_queues);
	err = -ENOMEM;
	set->hwqs = kcalloc(set->tags.nr_hw_queues, sizeof(*set->hwqs), GFP_KERNEL);
	if (!set->hwqs)
		goto out;
	for (i = 0; i < set->tags.nr_hw_queues; i++)
		spin_lock_init(&set->hwqs[i].lock);
	return set;
out:
	rn_set_destroy(set);
	return ERR_PTR(err);
}

void rn_set_destroy(struct rn_set *set)
{
	if (set->mapped)
		blk_mq_free_tag_set(&set->tags);
	kfree(set->hwqs);
	kfree(set);
}

/* Frees what rn_device_alloc() got, whole or in part. */
static void rn_device_free(struct rn_device *dev)
{
	unsigned int i;

	if (dev->truth)
		for (i = 0; i < dev->nr_queues; i++)
			ref_truth_free(&dev->truth[i]);
	ref_truth_free(&dev->device_truth);
	kfree(dev->truth);
	kfree(dev->queues);
	kfree(dev->knobs);
	kfree(dev);
}

static int rn_device_queues(struct rn_device *dev)
{
	unsigned int i;

	dev->queues = kcalloc(dev->nr_queues, sizeof(*dev->queues), GFP_KERNEL);
	dev->truth = kcalloc(dev->nr_queues, sizeof(*dev->truth), GFP_KERNEL);
	if (!dev->queues || !dev->truth)
		return -ENOMEM;
	for (i = 0; i < dev->nr_queues; i++) {
		struct rn_queue *queue = &dev->queues[i];

		if (ref_truth_init(&dev->truth[i]))
			return -ENOMEM;
		spin_lock_init(&queue->lock);
		INIT_LIST_HEAD(&queue->pending);
		INIT_LIST_HEAD(&queue->polled);
		queue->hwq = &dev->set->hwqs[i];
		queue->dev = dev;
		queue->truth = &dev->truth[i];
	}
	return ref_truth_init(&dev->device_truth);
}

static struct rn_device *rn_device_alloc(struct rn_set *set, int index)
{
	struct rn_device *dev = kzalloc(sizeof(*dev), GFP_KERNEL);

	if (!dev)
		return NULL;
	dev->set = set;
	dev->index = index;
	dev->nr_queues = set->tags.nr_hw_queues;
	spin_lock_init(&dev->model_lock);
	spin_lock_init(&dev->hold_lock);
	mutex_init(&dev->reserve_lock);
	INIT_LIST_HEAD(&dev->in_set);
	INIT_LIST_HEAD(&dev->held);
	INIT_LIST_HEAD(&dev->never);
	INIT_LIST_HEAD(&dev->undelivered);
	INIT_LIST_HEAD(&dev->reserved);
	dev->random = set->params.seed + index;
	dev->knobs = ref_knobs_alloc(rn_knobs, dev);
	if (!dev->knobs || rn_device_queues(dev)) {
		rn_device_free(dev);
		return NULL;
	}
	rn_knobs_apply_params(dev, &set->params);
	return dev;
}

static void rn_set_join(struct rn_device *dev)
{
	spin_lock_irq(&dev->set->lock);
	list_add_tail(&dev->in_set, &dev->set->devices);
	spin_unlock_irq(&dev->set->lock);
}

static void rn_set_leave(struct rn_device *dev)
{
	spin_lock_irq(&dev->set->lock);
	list_del_init(&dev->in_set);
	spin_unlock_irq(&dev->set->lock);
}

struct rn_device *rn_device_create(struct rn_set *set, int index, struct dentry *parent)
{
	const struct rn_params *params = &set->params;
	struct ref_disk_shape shape = {
		.block_bytes = params->block_bytes,
		.max_sectors = params->max_sectors,
		.max_segments = 128,
		.write_cache = params->cache,
	};
	struct rn_device *dev = rn_device_alloc(set, index);
	int err;

	if (!dev)
		return ERR_PTR(-ENOMEM);
	dev->disk = ref_alloc_disk(&set->tags, &shape, dev);
	if (IS_ERR(dev->disk)) {
		err = PTR_ERR(dev->disk);
		goto out_free;
	}
	dev->disk->fops = &rn_fops;
	dev->disk->private_data = dev;
	/* no partition scan: the first request that the counters see is the user's */
	dev->disk->flags |= GENHD_FL_NO_PART;
	snprintf(dev->disk->disk_name, DISK_NAME_LEN, "rnull%d", index);
	set_capacity(dev->disk, (sector_t)params->size_mb << 11);
	rn_set_join(dev);
	err = add_disk(dev->disk);
	if (err)
		goto out_disk;
	rn_debugfs_create(dev, parent);
	return dev;
out_disk:
	rn_set_leave(dev);
	put_disk(dev->disk);
out_free:
	rn_device_free(dev);
	return ERR_PTR(err);
}

void rn_device_destroy(struct rn_device *dev)
{
	/* blocked writers of `reserve` must get out before their file can go */
	WRITE_ONCE(dev->dying, true);
	rn_unreserve(dev, -1);
	debugfs_remove(dev->dir);
	rn_flow_out(dev);
	rn_unreserve(dev, -1);
	del_gendisk(dev->disk);
	rn_set_leave(dev);
	put_disk(dev->disk);
	rn_device_free(dev);
}
