// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A dispatch budget like a SCSI device's queue depth, with two ways to make up for a refusal.
 * In: get_budget()/put_budget() of the block layer, ends of requests. Out: tokens, refusals, queue
 * runs.
 *
 * restart=all is what the block layer did before 4.14 for queues that share a set: every completion
 * runs them all. restart=delay is what replaced it: a completion runs its own disk if that was
 * refused, and a refusal with nothing out runs the refused disk a little later.
 */
#include "ref_null.h"

static bool rn_take_below(atomic_t *out, int limit)
{
	int now = atomic_read(out);

	do {
		if (now >= limit)
			return false;
	} while (!atomic_try_cmpxchg(out, &now, now + 1));
	return true;
}

static bool rn_budget_take(struct rn_device *dev)
{
	/* a disk that goes away lets everything through, or it could never drain */
	int limit = READ_ONCE(dev->dying) ? INT_MAX : rn_knob(dev, RN_K_BUDGET);

	if (!dev->set->params.budget_shared)
		return rn_take_below(&dev->budget_out, limit);
	if (!rn_take_below(&dev->set->budget_out, limit))
		return false;
	atomic_inc(&dev->budget_out);
	return true;
}

static void rn_budget_give(struct rn_device *dev)
{
	atomic_dec(&dev->budget_out);
	if (dev->set->params.budget_shared)
		atomic_dec(&dev->set->budget_out);
	REF_COUNT(&dev->device_truth, budget_puts);
}

static void rn_run(struct rn_device *dev)
{
	REF_COUNT(&dev->device_truth, runs_asked);
	blk_mq_run_hw_queues(dev->disk->queue, true);
}

int rn_get_budget(struct request_queue *q)
{
	struct rn_device *dev = q->queuedata;

	if (likely(rn_budget_take(dev)))
		goto given;
	REF_COUNT(&dev->device_truth, budget_refused);
	atomic_set(&dev->refused, 1);
	/* pairs with the exchange in rn_budget_restart(): a token given back from here on causes a
	 * run */
	smp_mb__after_atomic();
	if (rn_knob(dev, RN_K_RESTART) == RN_RESTART_DELAY && !atomic_read(&dev->budget_out)) {
		REF_COUNT(&dev->device_truth, runs_asked);
		blk_mq_delay_run_hw_queues(q, dev->set->params.restart_delay_ms);
	}
	return -1;
given:
	REF_COUNT(&dev->device_truth, budget_gets);
	return 0;
}

/* The block layer found nothing to issue with the token it took. */
void rn_put_budget(struct request_queue *q, int token)
{
	struct rn_device *dev = q->queuedata;

	REF_COUNT(&dev->device_truth, budget_unused);
	rn_budget_give(dev);
}

void rn_set_rq_budget_token(struct request *rq, int token)
{
	struct rn_cmd *cmd = blk_mq_rq_to_pdu(rq);

	cmd->token = token;
}

int rn_get_rq_budget_token(struct request *rq)
{
	struct rn_cmd *cmd = blk_mq_rq_to_pdu(rq);

	return cmd->token;
}

/* The end of a started request, or its way back to the queue. */
void rn_budget_release(struct request *rq)
{
	struct rn_cmd *cmd = blk_mq_rq_to_pdu(rq);

	if (cmd->token < 0)
		return;
	cmd->token = -1;
	rn_budget_give(rn_rq_dev(rq));
}

/* Runs the queues that the policy wants run after a completion. */
void rn_budget_restart(struct rn_device *dev)
{
	struct rn_set *set = dev->set;
	struct rn_device *other;
	unsigned long flags;

	if (!set->params.budget)
		return;
	switch (rn_knob(dev, RN_K_RESTART)) {
	case RN_RESTART_DELAY:
		smp_mb(); /* the token given back before the mark read here */
		if (atomic_read(&dev->refused) && atomic_xchg(&dev->refused, 0))
			rn_run(dev);
		break;
	case RN_RESTART_ALL:
		spin_lock_irqsave(&set->lock, flags);
		list_for_each_entry(other, &set->devices, in_set)
			rn_run(other);
		spin_unlock_irqrestore(&set->lock, flags);
		break;
	}
}
