// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes and removes SCSI hosts.
 * In: parameters. Out: a scanned host whose disks serve commands, and its removal with everything drained.
 */
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/device.h>
#include <linux/slab.h>

#include "ref_scsi.h"

/* Which devices exist: LUNs 0..luns-1 of the only target. */
static int rs_device_init(struct scsi_device *sdev)
{
	struct rs_host *host = rs_host_of(sdev->host);

	if (sdev->channel || sdev->id || sdev->lun >= host->nr_luns)
		return -ENXIO;
	sdev->hostdata = &host->luns[sdev->lun];
	return 0;
}

static int rs_device_configure(REF_SCSI_CONFIGURE_ARGS)
{
	/* nothing to ask for: these commands would only make noise */
	sdev->no_report_opcodes = 1;
	sdev->no_write_same = 1;
	return 0;
}

static int rs_target_init(struct scsi_target *target)
{
	target->can_queue = rs_host_of(dev_to_shost(target->dev.parent))->params.target_can_queue;
	return 0;
}

static int rs_change_queue_depth(struct scsi_device *sdev, int depth)
{
	struct rs_host *host = rs_host_of(sdev->host);
	struct rs_lun *lun = sdev->hostdata;

	rs_truth_add(&lun->truth, RS_T_depth_changes);
	rs_truth_add(&host->truth, RS_T_depth_changes);
	return scsi_change_queue_depth(sdev, depth);
}

/* Older kernels want it writable. */
static struct scsi_host_template rs_template = {
	.module = THIS_MODULE,
	.name = "ref_scsi",
	.proc_name = "ref_scsi",
	.queuecommand = rs_queuecommand,
	.change_queue_depth = rs_change_queue_depth,
	.eh_timed_out = rs_timed_out,
	.init_cmd_priv = rs_init_cmd,
	.exit_cmd_priv = rs_exit_cmd,
	.target_alloc = rs_target_init,
	.REF_SCSI_ON_INIT = rs_device_init,
	.REF_SCSI_ON_CONFIGURE = rs_device_configure,
	.cmd_size = sizeof(struct rs_cmd),
	.sg_tablesize = 128,
	.this_id = -1,
};

static void rs_host_free(struct rs_host *host)
{
	unsigned int i;

	for (i = 0; host->queues && i < host->nr_queues; i++)
		rs_truth_free(&host->queues[i].truth);
	for (i = 0; host->luns && i < host->nr_luns; i++)
		rs_truth_free(&host->luns[i].truth);
	rs_truth_free(&host->truth);
	kfree(host->queues);
	kvfree(host->luns);
	kfree(host->knobs);
	kfree(host);
}

static int rs_host_parts(struct rs_host *host)
{
	unsigned int i;

	host->queues = kcalloc(host->nr_queues, sizeof(*host->queues), GFP_KERNEL);
	host->luns = kvcalloc(host->nr_luns, sizeof(*host->luns), GFP_KERNEL);
	host->knobs = ref_knobs_alloc(rs_knobs, host);
	if (!host->queues || !host->luns || !host->knobs || rs_truth_init(&host->truth))
		return -ENOMEM;
	for (i = 0; i < host->nr_queues; i++)
		if (rs_truth_init(&host->queues[i].truth))
			return -ENOMEM;
	for (i = 0; i < host->nr_luns; i++) {
		spin_lock_init(&host->luns[i].model.lock);
		if (rs_truth_init(&host->luns[i].truth))
			return -ENOMEM;
	}
	return 0;
}

static struct rs_host *rs_host_alloc(const struct rs_params *params, int index)
{
	struct rs_host *host = kzalloc(sizeof(*host), GFP_KERNEL);

	if (!host)
		return NULL;
	host->params = *params;
	host->index = index;
	/* what blk-mq would do silently: a queue without a CPU is of no use */
	host->nr_queues = min_t(unsigned int, params->nr_hw_queues, nr_cpu_ids);
	if (host->nr_queues < params->nr_hw_queues)
		pr_info("ref_scsi: the kernel allows only %u hardware queues here\n", host->nr_queues);
	host->nr_luns = params->luns;
	spin_lock_init(&host->model.lock);
	spin_lock_init(&host->hold_lock);
	INIT_LIST_HEAD(&host->held);
	if (rs_host_parts(host)) {
		rs_host_free(host);
		return NULL;
	}
	rs_knobs_apply_params(host);
	return host;
}

/* The midlayer's side of the host, not yet added. */
static struct Scsi_Host *rs_shost_alloc(struct rs_host *host)
{
	struct Scsi_Host *shost = scsi_host_alloc(&rs_template, sizeof(host));

	if (!shost)
		return NULL;
	*(struct rs_host **)shost_priv(shost) = host;
	shost->can_queue = host->params.can_queue;
	shost->cmd_per_lun = host->params.cmd_per_lun;
	shost->nr_hw_queues = host->nr_queues;
	shost->host_tagset = host->params.host_tagset;
	shost->max_sectors = host->params.max_sectors;
	shost->max_lun = host->nr_luns;
	shost->max_id = 1;
	shost->max_channel = 0;
	shost->max_cmd_len = 16;
	return shost;
}

struct rs_host *rs_host_create(const struct rs_params *params, int index, struct dentry *parent)
{
	struct rs_host *host = rs_host_alloc(params, index);
	int err = -ENOMEM;

	if (!host)
		return ERR_PTR(-ENOMEM);
	/* the midlayer reads this one from the template; all hosts have the same parameters */
	rs_template.track_queue_depth = params->track_queue_depth;
	host->shost = rs_shost_alloc(host);
	if (!host->shost)
		goto out_free;
	err = scsi_add_host(host->shost, NULL);
	if (err)
		goto out_put;
	/* not scsi_scan_host(), which may return before it has looked */
	scsi_scan_target(&host->shost->shost_gendev, 0, 0, SCAN_WILD_CARD, SCSI_SCAN_INITIAL);
	rs_debugfs_create(host, parent);
	return host;
out_put:
	scsi_host_put(host->shost);
out_free:
	rs_host_free(host);
	return ERR_PTR(err);
}

void rs_host_destroy(struct rs_host *host)
{
	WRITE_ONCE(host->dying, true);
	debugfs_remove(host->dir);
	/* whoever saw the host alive adds to the list under its lock, so this finds it */
	rs_release(host, -1);
	scsi_remove_host(host->shost);
	scsi_host_put(host->shost);
	rs_host_free(host);
}
