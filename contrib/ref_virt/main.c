// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loads and unloads ref_virt, a block driver with rings and doorbells like virtio-blk.
 * In: module parameters. Out: disks rvirt0, rvirt1, ...
 */
#include <linux/debugfs.h>
#include <linux/module.h>

#include "ref_virt.h"

REF_PARAMS_DEFINE(rv_params, RV_PARAMS)

static LIST_HEAD(rv_disks);
static struct dentry *rv_dir;

/* What the range check of one parameter cannot see. */
static int rv_check_together(void)
{
	/* a request without data takes two, the largest one more per segment */
	if (!params.indirect && params.ring_size < 3) {
		pr_err("ref_virt: indirect=0 needs ring_size of 3 or more\n");
		return -EINVAL;
	}
	if (!params.queue_depth)
		params.queue_depth = min(params.ring_size, 10240ULL);
	return 0;
}

static void rv_remove_all(void)
{
	struct rv_disk *disk, *next;

	list_for_each_entry_safe(disk, next, &rv_disks, in_module) {
		list_del(&disk->in_module);
		rv_disk_destroy(disk);
	}
	debugfs_remove(rv_dir);
}

static int __init rv_init(void)
{
	int i, err = params_check() ?: rv_check_together();

	if (err)
		return err;
	rv_dir = debugfs_create_dir("ref_virt", NULL);
	for (i = 0; i < params.nr_devices; i++) {
		struct rv_disk *disk = rv_disk_create(&params, i, rv_dir);

		if (IS_ERR(disk)) {
			err = PTR_ERR(disk);
			pr_err("ref_virt: no disk %d: error %d\n", i, err);
			rv_remove_all();
			return err;
		}
		list_add_tail(&disk->in_module, &rv_disks);
	}
	return 0;
}

static void __exit rv_exit(void)
{
	rv_remove_all();
}

module_init(rv_init);
module_exit(rv_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("block driver with known truth: rings, doorbells, batched issue and completion");
