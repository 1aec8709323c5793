// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loads and unloads ref_scsi, a SCSI low-level driver whose true answer is known.
 * In: module parameters, and the debugfs file `ctl` (add, remove N). Out: SCSI hosts with disks.
 */
#include <linux/async.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "ref_scsi.h"

#define RS_MAX_HOSTS 64

const char *const rs_scope_words[] = { "lun", "host", NULL };

REF_PARAMS_DEFINE(rs_params, RS_PARAMS)

static DEFINE_MUTEX(rs_mutex);	/* the list, add and remove */
static LIST_HEAD(rs_hosts);
static struct dentry *rs_dir;

static struct rs_host *rs_find(int index)
{
	struct rs_host *host;

	list_for_each_entry(host, &rs_hosts, in_module)
		if (host->index == index)
			return host;
	return NULL;
}

static int rs_add(void)
{
	struct rs_host *host;
	int index = 0;

	while (rs_find(index))
		index++;
	if (index >= RS_MAX_HOSTS)
		return -ENOSPC;
	host = rs_host_create(&params, index, rs_dir);
	if (IS_ERR(host))
		return PTR_ERR(host);
	list_add_tail(&host->in_module, &rs_hosts);
	return 0;
}

static void rs_remove(struct rs_host *host)
{
	list_del(&host->in_module);
	rs_host_destroy(host);
}

static ssize_t rs_ctl_write(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	struct rs_host *host;
	char text[32] = {};
	int err = 0, index;

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, count))
		return -EFAULT;
	mutex_lock(&rs_mutex);
	if (sysfs_streq(text, "add")) {
		err = rs_add();
	} else if (sscanf(text, "remove %d", &index) == 1) {
		host = rs_find(index);
		if (host)
			rs_remove(host);
		else
			err = -ENODEV;
	} else {
		pr_warn("ref_scsi: ctl takes 'add' or 'remove N'\n");
		err = -EINVAL;
	}
	mutex_unlock(&rs_mutex);
	/* disks appear asynchronously; whoever asked for them wants to find them */
	if (!err)
		async_synchronize_full();
	return err ?: count;
}

static const struct file_operations rs_ctl_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = rs_ctl_write,
};

static void rs_remove_all(void)
{
	struct rs_host *host, *next;

	mutex_lock(&rs_mutex);
	list_for_each_entry_safe(host, next, &rs_hosts, in_module)
		rs_remove(host);
	mutex_unlock(&rs_mutex);
}

static int rs_add_all(void)
{
	int i, err = 0;

	mutex_lock(&rs_mutex);
	for (i = 0; i < params.hosts && !err; i++)
		err = rs_add();
	mutex_unlock(&rs_mutex);
	return err;
}

static int __init rs_init(void)
{
	struct dentry *ctl;
	int err = params_check();

	if (err)
		return err;
	if (params.target_can_queue && params.target_can_queue < params.luns)
		pr_info("ref_scsi: target_can_queue is less than one command per LUN\n");
	rs_dir = debugfs_create_dir("ref_scsi", NULL);
	err = rs_add_all();
	if (err) {
		pr_err("ref_scsi: no host: error %d\n", err);
		rs_remove_all();
		debugfs_remove(rs_dir);
		return err;
	}
	ctl = debugfs_create_file("ctl", 0200, rs_dir, NULL, &rs_ctl_fops);
	if (IS_ERR(ctl))
		pr_info("ref_scsi: no debugfs, so no knobs and no truth\n");
	return 0;
}

static void __exit rs_exit(void)
{
	/* a write to ctl holds the module, so none is under way */
	rs_remove_all();
	debugfs_remove(rs_dir);
}

module_init(rs_init);
module_exit(rs_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("SCSI driver with known truth: host tags, queue depth, budget, refusals, capped device");
