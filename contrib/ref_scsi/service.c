// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decides when a taken command is done: parking by knob, then the fixed service time and the caps of the device.
 * In: taken commands. Out: rs_finish() at the planned time, from a timer or at once.
 *
 * Nothing is ever refused for a cap. Each command books its share of the device behind those booked before, in
 * planned time and not when timers happen to fire, so that latency grows as the cap is reached and throughput is
 * what the parameters say however late timers are.
 */
#include <linux/ktime.h>
#include <linux/math64.h>

#include "ref_scsi.h"

/* Whether the knobs are aimed at this command. */
bool rs_target(struct rs_cmd *cmd)
{
	struct rs_host *host = cmd->host;
	s64 hctx = rs_knob(host, RS_K_TARGET_HCTX), lun = rs_knob(host, RS_K_TARGET_LUN);
	s64 op = rs_knob(host, RS_K_TARGET_OP);

	if (hctx >= 0 && hctx != cmd->queue - host->queues)
		return false;
	if (lun >= 0 && lun != cmd->lun - host->luns)
		return false;
	if (op == RS_OP_IO)
		return cmd->op == RS_OP_READ || cmd->op == RS_OP_WRITE;
	return op == RS_OP_ANY || op == cmd->op;
}

/* Books `length_ns` behind what is booked already; returns its start. */
static u64 rs_book(u64 *free_ns, u64 ready_ns, u64 length_ns)
{
	u64 start_ns = max(*free_ns, ready_ns);

	*free_ns = start_ns + length_ns;
	return start_ns;
}

/* When the device is done with a command that reaches it now. */
static u64 rs_end_ns(struct rs_cmd *cmd, u64 now_ns)
{
	struct rs_host *host = cmd->host;
	struct rs_model *model = host->params.cap_scope == RS_SCOPE_HOST ? &host->model : &cmd->lun->model;
	u64 iops = rs_knob(host, RS_K_MAX_IOPS), mbps = rs_knob(host, RS_K_MAX_MBPS);
	u64 ready_ns = now_ns, end_ns;
	unsigned long flags;

	if (cmd->op == RS_OP_FLUSH)
		return now_ns + rs_knob(host, RS_K_FLUSH_NS);
	if (cmd->op == RS_OP_OTHER)
		return now_ns;
	if (iops || mbps) {
		u64 bytes = scsi_bufflen(rs_cmd_scsi(cmd));

		spin_lock_irqsave(&model->lock, flags);
		if (iops)
			ready_ns = rs_book(&model->iops_free_ns, now_ns, div64_u64(RS_SECOND_NS, iops));
		if (mbps) {
			end_ns = rs_book(&model->bytes_free_ns, now_ns, div64_u64(bytes * 1000, mbps));
			ready_ns = max(ready_ns, end_ns);
		}
		spin_unlock_irqrestore(&model->lock, flags);
	}
	return ready_ns + rs_knob(host, RS_K_SERVICE_NS);
}

static enum hrtimer_restart rs_timer(struct hrtimer *timer)
{
	rs_finish(container_of(timer, struct rs_cmd, timer));
	return HRTIMER_NORESTART;
}

int rs_init_cmd(struct Scsi_Host *shost, struct scsi_cmnd *scmd)
{
	struct rs_cmd *cmd = scsi_cmd_priv(scmd);

	ref_hrtimer_init(&cmd->timer, rs_timer);
	INIT_LIST_HEAD(&cmd->node);
	return 0;
}

/* The last timer may still be on its way out of rs_timer(). */
int rs_exit_cmd(struct Scsi_Host *shost, struct scsi_cmnd *scmd)
{
	struct rs_cmd *cmd = scsi_cmd_priv(scmd);

	hrtimer_cancel(&cmd->timer);
	return 0;
}

static void rs_serve(struct rs_cmd *cmd)
{
	u64 now_ns = ktime_get_ns(), end_ns = now_ns;

	if (!READ_ONCE(cmd->host->dying))
		end_ns = rs_end_ns(cmd, now_ns);
	if (end_ns > now_ns)
		hrtimer_start(&cmd->timer, ns_to_ktime(end_ns), HRTIMER_MODE_ABS);
	else
		rs_finish(cmd);
}

/* Keeps a command aside if the knob says so; true when it did. */
static bool rs_park(struct rs_cmd *cmd)
{
	struct rs_host *host = cmd->host;
	unsigned long flags;
	bool parked = false;

	if (likely(!rs_knob(host, RS_K_HOLD)) || !rs_target(cmd))
		return false;
	spin_lock_irqsave(&host->hold_lock, flags);
	if (!READ_ONCE(host->dying) && ref_knob_take(&host->knobs[RS_K_HOLD])) {
		list_add_tail(&cmd->node, &host->held);
		host->nr_held++;
		parked = true;
	}
	spin_unlock_irqrestore(&host->hold_lock, flags);
	return parked;
}

/* A taken command whose answer is ready. */
void rs_submit(struct rs_cmd *cmd)
{
	if (!rs_park(cmd))
		rs_serve(cmd);
}

/* Lets go the `count` oldest parked commands, all for -1. */
void rs_release(struct rs_host *host, s64 count)
{
	struct rs_cmd *cmd;

	while (count--) {
		spin_lock_irq(&host->hold_lock);
		cmd = list_first_entry_or_null(&host->held, struct rs_cmd, node);
		if (cmd) {
			list_del_init(&cmd->node);
			host->nr_held--;
		}
		spin_unlock_irq(&host->hold_lock);
		if (!cmd)
			return;
		rs_serve(cmd);
	}
}
