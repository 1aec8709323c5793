// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Takes commands from the midlayer, or refuses them as the knobs want, and hands them back.
 * In: queuecommand(), timeouts. Out: commands given to the service model, scsi_done(), the truth.
 */
#include <linux/ktime.h>

#include "ref_scsi.h"

enum { RS_OK, RS_HOST_BUSY, RS_DEVICE_BUSY, RS_TARGET_BUSY, RS_TASK_SET_FULL, RS_BUSY, RS_REQUEUE };

/* The answer that the knobs have for this command. */
static int rs_status(struct rs_cmd *cmd)
{
	struct rs_host *host = cmd->host;
	s64 status = rs_knob(host, RS_K_STATUS);

	if (likely(status == RS_OK) || READ_ONCE(host->dying) || !rs_target(cmd))
		return RS_OK;
	if (rs_knob(host, RS_K_STATUS_IDLE) && atomic_read(&cmd->lun->truth.held))
		return RS_OK;
	if (atomic64_inc_return(&host->status_seen) % rs_knob(host, RS_K_STATUS_NTH))
		return RS_OK;
	return ref_knob_take(&host->knobs[RS_K_STATUS_COUNT]) ? status : RS_OK;
}

/* Answers that say no at once: the midlayer keeps the command. 0 for all others. */
static ref_scsi_taken rs_refuse(struct rs_cmd *cmd, int status)
{
	switch (status) {
	case RS_HOST_BUSY:
		RS_COUNT(cmd, refused_host);
		return SCSI_MLQUEUE_HOST_BUSY;
	case RS_DEVICE_BUSY:
		RS_COUNT(cmd, refused_device);
		return SCSI_MLQUEUE_DEVICE_BUSY;
	case RS_TARGET_BUSY:
		RS_COUNT(cmd, refused_target);
		return SCSI_MLQUEUE_TARGET_BUSY;
	default:
		return 0;
	}
}

/* Answers that a device gives after taking the command; true when this is one. */
static bool rs_reject(struct rs_cmd *cmd, int status)
{
	struct scsi_cmnd *scmd = rs_cmd_scsi(cmd);

	switch (status) {
	case RS_TASK_SET_FULL:
		RS_COUNT(cmd, task_set_full);
		scmd->result = SAM_STAT_TASK_SET_FULL;
		break;
	case RS_BUSY:
		RS_COUNT(cmd, busy);
		scmd->result = SAM_STAT_BUSY;
		break;
	case RS_REQUEUE:
		RS_COUNT(cmd, requeues);
		scmd->result = DID_REQUEUE << 16;
		break;
	default:
		return false;
	}
	rs_finish(cmd);
	return true;
}

static void rs_take(struct rs_cmd *cmd)
{
	cmd->start_ns = ktime_get_ns();
	RS_COUNT(cmd, issues);
	rs_truth_hold(&cmd->queue->truth);
	rs_truth_hold(&cmd->lun->truth);
	rs_truth_hold(&cmd->host->truth);
	switch (cmd->op) {
	case RS_OP_READ:
		RS_COUNT(cmd, reads);
		break;
	case RS_OP_WRITE:
		RS_COUNT(cmd, writes);
		break;
	case RS_OP_FLUSH:
		RS_COUNT(cmd, flushes);
		break;
	default:
		break;
	}
}

ref_scsi_taken rs_queuecommand(struct Scsi_Host *shost, struct scsi_cmnd *scmd)
{
	struct rs_cmd *cmd = scsi_cmd_priv(scmd);
	struct rs_host *host = rs_host_of(shost);
	ref_scsi_taken refusal;
	int status;

	cmd->host = host;
	cmd->queue = &host->queues[scsi_cmd_to_rq(scmd)->mq_hctx->queue_num];
	cmd->lun = scmd->device->hostdata;
	cmd->op = rs_classify(scmd);
	RS_COUNT(cmd, arrivals);
	status = rs_status(cmd);
	refusal = rs_refuse(cmd, status);
	if (refusal)
		return refusal;
	rs_take(cmd);
	if (rs_reject(cmd, status))
		return 0;
	rs_answer(cmd);
	rs_submit(cmd);
	return 0;
}

/* Hands a command back; its result is set. */
void rs_finish(struct rs_cmd *cmd)
{
	u64 ns = ktime_get_ns() - cmd->start_ns;

	rs_truth_complete(&cmd->queue->truth, ns);
	rs_truth_complete(&cmd->lun->truth, ns);
	rs_truth_complete(&cmd->host->truth, ns);
	scsi_done(rs_cmd_scsi(cmd));
}

/* A command that is kept for long is no error here: wait for it. */
ref_scsi_late rs_timed_out(struct scsi_cmnd *scmd)
{
	struct rs_cmd *cmd = scsi_cmd_priv(scmd);

	RS_COUNT(cmd, timeouts);
	return REF_SCSI_LATE_AGAIN;
}
