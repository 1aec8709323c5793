// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The operations that the block layer calls: issue, batched issue, commit, poll, completion,
 * timeout, mapping. In: requests. Out: started requests handed to the service model (service.c),
 * ended requests, counters.
 */
#include <linux/ktime.h>

#include "ref_null.h"

/* What the status knobs say about this request: one of RN_STATUS_*. */
static int rn_refusal(struct rn_device *dev, struct request *rq)
{
	int status = rn_knob(dev, RN_K_STATUS);
	s64 nth, busy;

	if (likely(!status) || READ_ONCE(dev->dying) || !rn_target(dev, rq))
		return RN_STATUS_OK;
	if (rn_knob(dev, RN_K_STATUS_IDLE) && atomic_read(&dev->in_flight))
		return RN_STATUS_OK;
	busy = rn_knob(dev, RN_K_STATUS_BUSY_HCTX);
	if (busy >= 0 && (busy >= dev->nr_queues || !atomic_read(&dev->queues[busy].in_flight)))
		return RN_STATUS_OK;
	nth = rn_knob(dev, RN_K_STATUS_NTH);
	if (nth > 1 && atomic64_inc_return(&dev->status_seen) % nth)
		return RN_STATUS_OK;
	return rn_knob_take(dev, RN_K_STATUS_COUNT) ? status : RN_STATUS_OK;
}

static blk_status_t rn_refuse(struct rn_queue *queue, int status)
{
	switch (status) {
	case RN_STATUS_RESOURCE:
		REF_COUNT(queue->truth, refused_resource);
		return BLK_STS_RESOURCE;
	case RN_STATUS_DEV_RESOURCE:
		REF_COUNT(queue->truth, refused_dev_resource);
		return BLK_STS_DEV_RESOURCE;
	default:
		REF_COUNT(queue->truth, refused_zone);
		return REF_STS_ZONE_RESOURCE;
	}
}

static void rn_start(struct rn_queue *queue, struct request *rq)
{
	struct rn_cmd *cmd = blk_mq_rq_to_pdu(rq);

	atomic_inc(&queue->in_flight);
	atomic_inc(&queue->dev->in_flight);
	REF_COUNT(queue->truth, issues);
	if (req_op(rq) == REQ_OP_FLUSH)
		REF_COUNT(queue->truth, flushes);
	cmd->start_ns = ktime_get_ns();
	blk_mq_start_request(rq);
}

/* Rings the doorbell: what was started but waits for it goes to the device. */
void rn_queue_kick(struct rn_queue *queue)
{
	struct rn_cmd *cmd, *next;
	unsigned long flags;
	LIST_HEAD(list);

	spin_lock_irqsave(&queue->lock, flags);
	list_splice_init(&queue->pending, &list);
	spin_unlock_irqrestore(&queue->lock, flags);
	if (list_empty(&list))
		return;
	REF_COUNT(queue->truth, kicks);
	list_for_each_entry_safe(cmd, next, &list, node) {
		list_del_init(&cmd->node);
		rn_submit(rn_cmd_rq(cmd));
	}
}

static void rn_queue_pend(struct rn_queue *queue, struct request *rq)
{
	struct rn_cmd *cmd = blk_mq_rq_to_pdu(rq);
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	list_add_tail(&cmd->node, &queue->pending);
	spin_unlock_irqrestore(&queue->lock, flags);
}

static blk_status_t rn_queue_rq(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	struct rn_device *dev = hctx->queue->queuedata;
	struct rn_queue *queue = &dev->queues[hctx->queue_num];
	int status;

	REF_COUNT(queue->truth, arrivals);
	status = rn_refusal(dev, bd->rq);
	if (status != RN_STATUS_OK)
		return rn_refuse(queue, status);
	rn_start(queue, bd->rq);
	if (likely(list_empty_careful(&queue->pending) && !rn_knob(dev, RN_K_NEEDS_COMMIT))) {
		REF_COUNT(queue->truth, kicks);
		rn_submit(bd->rq);
		return BLK_STS_OK;
	}
	rn_queue_pend(queue, bd->rq);
	if (bd->last || READ_ONCE(dev->dying) || !rn_knob(dev, RN_K_NEEDS_COMMIT))
		rn_queue_kick(queue);
	return BLK_STS_OK;
}

static void rn_commit_rqs(struct blk_mq_hw_ctx *hctx)
{
	struct rn_device *dev = hctx->queue->queuedata;
	struct rn_queue *queue = &dev->queues[hctx->queue_num];

	REF_COUNT(queue->truth, commits);
	rn_queue_kick(queue);
}

/* Whether a batch is to leave this one on its list, where the block layer issues it alone. */
static bool rn_batch_leaves(struct rn_device *dev, struct request *rq, int mode)
{
	if (READ_ONCE(dev->dying))
		return false;
	if (mode == RN_RQS_NTH &&
	    atomic64_inc_return(&dev->rqs_seen) % rn_knob(dev, RN_K_QUEUE_RQS_NTH) == 0)
		return true;
	return rn_refusal(dev, rq) != RN_STATUS_OK;
}

static void rn_queue_rqs(ref_rqs *rqs)
{
	ref_rqs left = REF_RQS_INIT;
	struct rn_queue *queue = NULL;
	struct rn_cmd *cmd, *next;
	sector_t before = 0;
	LIST_HEAD(taken);
	struct request *rq;

	while ((rq = ref_rqs_pop(rqs))) {
		struct rn_device *dev = rn_rq_dev(rq);
		int mode = rn_knob(dev, RN_K_QUEUE_RQS);

		queue = rn_rq_queue(rq);
		REF_COUNT(queue->truth, arrivals);
		cmd = blk_mq_rq_to_pdu(rq);
		if (rn_batch_leaves(dev, rq, mode)) {
			REF_COUNT(queue->truth, batch_left);
			ref_rqs_add_tail(&left, rq);
		} else if (mode == RN_RQS_REVERSE) {
			list_add(&cmd->node, &taken);
		} else {
			list_add_tail(&cmd->node, &taken);
		}
	}
	*rqs = left;

	queue = NULL;
	list_for_each_entry_safe(cmd, next, &taken, node) {
		struct rn_queue *mine = rn_rq_queue(rn_cmd_rq(cmd));

		list_del_init(&cmd->node);
		if (!queue)
			REF_COUNT(mine->truth, batches);
		else if (queue != mine)
			rn_queue_kick(queue);
		queue = mine;
		REF_COUNT(queue->truth, batched);
		if (blk_rq_pos(rn_cmd_rq(cmd)) < before)
			REF_COUNT(queue->truth, inversions);
		before = blk_rq_pos(rn_cmd_rq(cmd));
		rn_start(queue, rn_cmd_rq(cmd));
		rn_queue_pend(queue, rn_cmd_rq(cmd));
	}
	if (queue)
		rn_queue_kick(queue);
}

/* Books a completion. False when a knob keeps the request from being handed back. */
static bool rn_done(struct request *rq)
{
	struct rn_cmd *cmd = blk_mq_rq_to_pdu(rq);
	struct rn_queue *queue = rn_rq_queue(rq);
	struct rn_device *dev = queue->dev;
	unsigned long flags;
	bool keep = false;

	ref_truth_complete(queue->truth, cmd->start_ns, ktime_get_ns());
	atomic_dec(&queue->in_flight);
	atomic_dec(&dev->in_flight);
	cmd->requeues = 0;
	rn_budget_release(rq);
	if (likely(!rn_knob(dev, RN_K_HOLD_DONE)) || !rn_target(dev, rq))
		return true;
	spin_lock_irqsave(&dev->hold_lock, flags);
	if (!READ_ONCE(dev->dying) && rn_knob_take(dev, RN_K_HOLD_DONE)) {
		list_add_tail(&cmd->node, &dev->undelivered);
		dev->nr_undelivered++;
		keep = true;
	}
	spin_unlock_irqrestore(&dev->hold_lock, flags);
	return !keep;
}

/* The end of a request, in whatever context the block layer completes it. */
void rn_complete(struct request *rq)
{
	struct rn_device *dev = rn_rq_dev(rq);
	struct request_queue *q = rq->q;

	if (!rn_done(rq)) {
		rn_budget_restart(dev);
		return;
	}
	/* the run after the end must still find the disk */
	percpu_ref_get(&q->q_usage_counter);
	blk_mq_end_request(rq, BLK_STS_OK);
	rn_budget_restart(dev);
	percpu_ref_put(&q->q_usage_counter);
}

static int rn_poll(struct blk_mq_hw_ctx *hctx, struct io_comp_batch *iob)
{
	struct rn_device *dev = hctx->queue->queuedata;
	struct rn_queue *queue = &dev->queues[hctx->queue_num];
	struct rn_cmd *cmd, *next;
	u64 now_ns = ktime_get_ns();
	int found = 0, batched = 0;
	unsigned long flags;
	LIST_HEAD(due);

	REF_COUNT(queue->truth, polls);
	spin_lock_irqsave(&queue->lock, flags);
	list_for_each_entry_safe(cmd, next, &queue->polled, node)
		if (rn_poll_due(rn_cmd_rq(cmd), now_ns))
			list_move_tail(&cmd->node, &due);
	spin_unlock_irqrestore(&queue->lock, flags);

	list_for_each_entry_safe(cmd, next, &due, node) {
		struct request *rq = rn_cmd_rq(cmd);

		list_del_init(&cmd->node);
		found++;
		REF_COUNT(queue->truth, polled);
		/* budget and knobs want the single way; the batch is for the plain case */
		if (rn_knob(dev, RN_K_REQUEUE) || rn_knob(dev, RN_K_HOLD_DONE) || cmd->token >= 0) {
			rn_finish(rq);
			continue;
		}
		rn_done(rq);
		if (blk_mq_add_to_batch(rq, iob, 0, blk_mq_end_request_batch))
			batched++;
		else
			blk_mq_end_request(rq, BLK_STS_OK);
	}
	if (batched)
		REF_COUNT(queue->truth, end_batches);
	return found;
}

/* Held requests are meant to be late; the block layer only learns that they are still here. */
static enum blk_eh_timer_return rn_timeout(struct request *rq)
{
	REF_COUNT(rn_rq_queue(rq)->truth, timeouts);
	return BLK_EH_RESET_TIMER;
}

static void rn_map_one(struct blk_mq_queue_map *map, unsigned int mode)
{
	unsigned int usable = map->nr_queues, cpu;

	if (mode == RN_MAP_SPREAD) {
		blk_mq_map_queues(map);
		return;
	}
	if (mode == RN_MAP_ZERO)
		usable = 1;
	else if (usable > 1)
		usable--;
	for_each_possible_cpu(cpu)
		map->mq_map[cpu] = map->queue_offset + cpu % usable;
}

static void rn_map_queues(struct blk_mq_tag_set *tags)
{
	struct rn_set *set = tags->driver_data;
	unsigned int polls = min_t(unsigned int, set->params.poll_queues, tags->nr_hw_queues - 1);

	tags->map[HCTX_TYPE_DEFAULT].nr_queues = tags->nr_hw_queues - polls;
	tags->map[HCTX_TYPE_DEFAULT].queue_offset = 0;
	rn_map_one(&tags->map[HCTX_TYPE_DEFAULT], set->params.map);
	if (tags->nr_maps == 1)
		return;
	tags->map[HCTX_TYPE_READ].nr_queues = 0;
	tags->map[HCTX_TYPE_POLL].nr_queues = polls;
	tags->map[HCTX_TYPE_POLL].queue_offset = tags->nr_hw_queues - polls;
	if (polls)
		rn_map_one(&tags->map[HCTX_TYPE_POLL], RN_MAP_SPREAD);
}

static int rn_init_request(struct blk_mq_tag_set *set, struct request *rq, unsigned int hctx,
			   ref_node node)
{
	rn_cmd_init(blk_mq_rq_to_pdu(rq));
	return 0;
}

static void rn_exit_request(struct blk_mq_tag_set *set, struct request *rq, unsigned int hctx)
{
	struct rn_cmd *cmd = blk_mq_rq_to_pdu(rq);

	/* the callback that ended the request may still be on its way out */
	hrtimer_cancel(&cmd->timer);
}

/* clang-format off */
#define RN_COMMON_OPS \
	.queue_rq = rn_queue_rq, .commit_rqs = rn_commit_rqs, .complete = rn_complete, \
	.poll = rn_poll, .timeout = rn_timeout, .map_queues = rn_map_queues, \
	.init_request = rn_init_request, .exit_request = rn_exit_request
/* clang-format on */

static const struct blk_mq_ops rn_ops_plain = {RN_COMMON_OPS};
static const struct blk_mq_ops rn_ops_batch = {RN_COMMON_OPS, .queue_rqs = rn_queue_rqs};
static const struct blk_mq_ops rn_ops_budget = {
	RN_COMMON_OPS,
	.get_budget = rn_get_budget,
	.put_budget = rn_put_budget,
	.set_rq_budget_token = rn_set_rq_budget_token,
	.get_rq_budget_token = rn_get_rq_budget_token,
};

/* The block layer looks at which operations exist, so every combination is a table of its own. */
const struct blk_mq_ops *rn_ops(bool budget, bool queue_rqs)
{
	if (budget)
		return &rn_ops_budget;
	return queue_rqs ? &rn_ops_batch : &rn_ops_plain;
}
