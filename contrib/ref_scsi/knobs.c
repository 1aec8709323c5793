// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The run-time knobs of one host and what it tells, as files in debugfs.
 * In: writes to ref_scsi/N/KNOB. Out: rs_host.knobs, actions, and the files truth, state and knobs.
 */
#include "knobs_debugfs.h"
#include "ref_scsi.h"

/* In the order of enum rs_op. */
static const char *const rs_op_words[] = { "io", "read", "write", "flush", "other", "any", NULL };
/* In the order of the answers in queue.c. */
static const char *const rs_status_words[] = { "ok", "host_busy", "device_busy", "target_busy", "task_set_full",
					       "busy", "requeue", NULL };

static s64 rs_get_held(void *owner)
{
	struct rs_host *host = owner;

	return READ_ONCE(host->nr_held);
}

static int rs_set_release(void *owner, s64 value)
{
	rs_release(owner, value);
	return 0;
}

static int rs_set_complete_one(void *owner, s64 value)
{
	if (!rs_get_held(owner))
		return -ENOENT;
	rs_release(owner, 1);
	return 0;
}

static int rs_reset(void *owner, s64 value)
{
	struct rs_host *host = owner;
	unsigned int i;

	if (atomic_read(&host->truth.held))
		return -EBUSY;
	rs_truth_reset(&host->truth);
	for (i = 0; i < host->nr_queues; i++)
		rs_truth_reset(&host->queues[i].truth);
	for (i = 0; i < host->nr_luns; i++)
		rs_truth_reset(&host->luns[i].truth);
	return 0;
}

#define RS_NS_MAX 100000000000LL
#define RS_NUM(id, n, lo, hi, first, text) \
	[id] = { .name = n, .min = lo, .max = hi, .initial = first, .help = text }
#define RS_ACT(id, n, lo, hi, do_set, do_get, text) \
	[id] = { .name = n, .min = lo, .max = hi, .set = do_set, .get = do_get, .help = text }
#define RS_WORD(id, n, list, text) [id] = { .name = n, .words = list, .help = text }

const struct ref_knob rs_knobs[RS_K_NR + 1] = {
	RS_NUM(RS_K_TARGET_HCTX, "target_hctx", -1, 255, -1, "hold and status act on this hardware queue only, -1 on all"),
	RS_NUM(RS_K_TARGET_LUN, "target_lun", -1, 255, -1, "hold and status act on this LUN only, -1 on all"),
	RS_WORD(RS_K_TARGET_OP, "target_op", rs_op_words, "hold and status act on these commands; io is read and write"),
	RS_NUM(RS_K_HOLD, "hold", -1, INT_MAX, 0, "keep the next n commands, -1 all from now on"),
	RS_ACT(RS_K_RELEASE, "release", -1, INT_MAX, rs_set_release, rs_get_held,
	       "let the n oldest held commands go, -1 all; reads how many are held"),
	RS_ACT(RS_K_COMPLETE_ONE, "complete_one", 1, 1, rs_set_complete_one, rs_get_held,
	       "let the oldest held command go; reads how many are held"),
	RS_WORD(RS_K_STATUS, "status", rs_status_words, "answer to commands"),
	RS_NUM(RS_K_STATUS_NTH, "status_nth", 1, INT_MAX, 1, "give that answer to every nth command only"),
	RS_NUM(RS_K_STATUS_COUNT, "status_count", -1, INT_MAX, -1, "give that answer n more times, -1 for ever"),
	RS_NUM(RS_K_STATUS_IDLE, "status_idle", 0, 1, 0, "give that answer only while the LUN has no command"),
	RS_NUM(RS_K_SERVICE_NS, "service_ns", 0, RS_NS_MAX, 0, "service time of a read or write"),
	RS_NUM(RS_K_FLUSH_NS, "flush_ns", 0, RS_NS_MAX, 0, "service time of SYNCHRONIZE CACHE"),
	RS_NUM(RS_K_MAX_IOPS, "max_iops", 0, 100000000, 0, "cap, 0 none"),
	RS_NUM(RS_K_MAX_MBPS, "max_mbps", 0, 1000000, 0, "cap in 10^6 bytes per second, 0 none"),
	RS_ACT(RS_K_RESET, "reset", 1, 1, rs_reset, NULL, "counters to zero; refused while a command is held"),
};

/* Parameters are what the knobs of the same name start with. */
void rs_knobs_apply_params(struct rs_host *host)
{
	atomic64_set(&host->knobs[RS_K_SERVICE_NS].value, host->params.service_ns);
	atomic64_set(&host->knobs[RS_K_FLUSH_NS].value, host->params.flush_ns);
	atomic64_set(&host->knobs[RS_K_MAX_IOPS].value, host->params.max_iops);
	atomic64_set(&host->knobs[RS_K_MAX_MBPS].value, host->params.max_mbps);
}

static int rs_truth_show(struct seq_file *out, void *unused)
{
	struct rs_host *host = out->private;
	char prefix[24];
	unsigned int i;

	seq_printf(out, "nr_hctx %u\nnr_luns %u\n", host->nr_queues, host->nr_luns);
	for (i = 0; i < host->nr_queues; i++) {
		snprintf(prefix, sizeof(prefix), "hctx%u", i);
		rs_truth_print(out, prefix, &host->queues[i].truth);
	}
	for (i = 0; i < host->nr_luns; i++) {
		snprintf(prefix, sizeof(prefix), "lun%u", i);
		rs_truth_print(out, prefix, &host->luns[i].truth);
	}
	rs_truth_print(out, "total", &host->truth);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rs_truth);

/* What is the case now, where `truth` says what happened; the midlayer's own numbers beside ours. */
static int rs_state_show(struct seq_file *out, void *unused)
{
	struct rs_host *host = out->private;
	struct Scsi_Host *shost = host->shost;
	struct scsi_device *sdev;

	seq_printf(out, "host_no %u\nhost_tagset %u\ncan_queue %d\n", shost->host_no, shost->host_tagset,
		   shost->can_queue);
	seq_printf(out, "parked %u\nheld %d\n", READ_ONCE(host->nr_held), atomic_read(&host->truth.held));
	seq_printf(out, "host_busy %d\nhost_blocked %d\n", scsi_host_busy(shost), atomic_read(&shost->host_blocked));
	shost_for_each_device(sdev, shost) {
		unsigned int lun = sdev->lun;

		seq_printf(out, "lun%u.held %d\n", lun, atomic_read(&host->luns[lun].truth.held));
		seq_printf(out, "lun%u.device_busy %d\n", lun, scsi_device_busy(sdev));
		seq_printf(out, "lun%u.queue_depth %d\n", lun, sdev->queue_depth);
		seq_printf(out, "lun%u.device_blocked %d\n", lun, atomic_read(&sdev->device_blocked));
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rs_state);

void rs_debugfs_create(struct rs_host *host, struct dentry *parent)
{
	char name[12];

	snprintf(name, sizeof(name), "%d", host->index);
	host->dir = debugfs_create_dir(name, parent);
	ref_knobs_publish(host->knobs, host->dir);
	debugfs_create_file("truth", 0400, host->dir, host, &rs_truth_fops);
	debugfs_create_file("state", 0400, host->dir, host, &rs_state_fops);
}
