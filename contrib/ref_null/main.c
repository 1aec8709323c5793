// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loads and unloads ref_null, a block driver whose true answer is known.
 * In: module parameters, and the debugfs file `ctl` (add, remove N). Out: disks rnull0, rnull1, ...
 */
#include <linux/debugfs.h>
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "ref_null.h"

const char *const rn_map_words[] = {"spread", "zero", "unmapped", NULL};
const char *const rn_restart_words[] = {"delay", "all", "none", NULL};
const char *const rn_time_words[] = {"fixed", "exp", "two", NULL};
const char *const rn_rqs_words[] = {"absent", "all", "nth", "reverse", NULL};

REF_PARAMS_DEFINE(rn_params, RN_PARAMS)

static DEFINE_MUTEX(rn_mutex); /* the list, the shared set's users, add and remove */
static LIST_HEAD(rn_devices);
static DEFINE_IDA(rn_ids);
static struct rn_set *rn_shared_set;
static struct dentry *rn_dir;

static void rn_set_put(struct rn_set *set)
{
	if (--set->users == 0)
		rn_set_destroy(set);
}

static int rn_add(void)
{
	struct rn_device *dev;
	struct rn_set *set = rn_shared_set;
	int index = ida_alloc_max(&rn_ids, 4095, GFP_KERNEL);

	if (index < 0)
		return index;
	if (!set)
		set = rn_set_create(&params);
	if (IS_ERR(set)) {
		ida_free(&rn_ids, index);
		return PTR_ERR(set);
	}
	set->users++;
	dev = rn_device_create(set, index, rn_dir);
	if (IS_ERR(dev)) {
		rn_set_put(set);
		ida_free(&rn_ids, index);
		return PTR_ERR(dev);
	}
	list_add_tail(&dev->in_module, &rn_devices);
	return 0;
}

static void rn_remove(struct rn_device *dev)
{
	struct rn_set *set = dev->set;
	int index = dev->index;

	list_del(&dev->in_module);
	rn_device_destroy(dev);
	rn_set_put(set);
	ida_free(&rn_ids, index);
}

static int rn_remove_index(int index)
{
	struct rn_device *dev;

	list_for_each_entry(dev, &rn_devices, in_module) {
		if (dev->index == index) {
			rn_remove(dev);
			return 0;
		}
	}
	return -ENODEV;
}

static ssize_t rn_ctl_write(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	char text[32] = {};
	int err, index;

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, count))
		return -EFAULT;
	mutex_lock(&rn_mutex);
	if (sysfs_streq(text, "add")) {
		err = rn_add();
	} else if (sscanf(text, "remove %d", &index) == 1) {
		err = rn_remove_index(index);
	} else {
		pr_warn("ref_null: ctl takes 'add' or 'remove N'\n");
		err = -EINVAL;
	}
	mutex_unlock(&rn_mutex);
	return err ?: count;
}

static const struct file_operations rn_ctl_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = rn_ctl_write,
};

/* What the range check of one parameter cannot see. */
static int rn_check_together(void)
{
	const char *why = NULL;

	if (params.block_bytes & (params.block_bytes - 1))
		why = "block_bytes is no power of two";
	else if (params.max_sectors * 512 < params.block_bytes)
		why = "max_sectors is less than one block";
	else if (params.reserved_tags >= params.hw_queue_depth)
		why = "reserved_tags leaves no tag: it must be below hw_queue_depth";
	else if (params.map == RN_MAP_UNMAPPED && params.submit_queues < 2)
		why = "map=unmapped needs submit_queues of 2 or more";
	else if (params.budget && params.queue_rqs != RN_RQS_ABSENT)
		why = "budget and queue_rqs exclude each other: batched issue asks no budget";
	else if (params.budget_shared && (!params.budget || !params.shared_tags))
		why = "budget_shared needs budget and shared_tags=1";
	if (!why)
		return 0;
	pr_err("ref_null: %s\n", why);
	return -EINVAL;
}

static void rn_remove_all(void)
{
	struct rn_device *dev, *next;

	mutex_lock(&rn_mutex);
	list_for_each_entry_safe(dev, next, &rn_devices, in_module)
		rn_remove(dev);
	if (rn_shared_set)
		rn_set_put(rn_shared_set);
	rn_shared_set = NULL;
	mutex_unlock(&rn_mutex);
}

static int rn_add_all(void)
{
	int i, err = 0;

	mutex_lock(&rn_mutex);
	if (params.shared_tags) {
		rn_shared_set = rn_set_create(&params);
		err = PTR_ERR_OR_ZERO(rn_shared_set);
		if (err)
			rn_shared_set = NULL;
		else
			rn_shared_set->users = 1;
	}
	for (i = 0; i < params.nr_devices && !err; i++)
		err = rn_add();
	mutex_unlock(&rn_mutex);
	return err;
}

static int __init rn_init(void)
{
	struct dentry *ctl;
	int err = params_check() ?: rn_check_together();

	if (err)
		return err;
	rn_dir = debugfs_create_dir("ref_null", NULL);
	err = rn_add_all();
	if (err) {
		pr_err("ref_null: no disks: error %d\n", err);
		rn_remove_all();
		debugfs_remove(rn_dir);
		return err;
	}
	ctl = debugfs_create_file("ctl", 0200, rn_dir, NULL, &rn_ctl_fops);
	if (IS_ERR(ctl))
		pr_info("ref_null: no debugfs, so no knobs and no truth\n");
	return 0;
}

static void __exit rn_exit(void)
{
	/* a write to ctl holds the module, so none is under way */
	rn_remove_all();
	debugfs_remove(rn_dir);
	ida_destroy(&rn_ids);
}

module_init(rn_init);
module_exit(rn_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("block driver with known truth: tag sets, budget, refusals, batches");
