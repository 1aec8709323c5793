// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decides when a started request is done: parking by knob, then serial service of its hardware
 * queue, then the servers and caps of its disk. In: started requests. Out: rn_finish() at the
 * planned time, from a timer, from poll, or at once.
 *
 * Times are planned in virtual time: a stage starts at the planned end of the one before, not when
 * its timer happened to fire, so that throughput is what the parameters say however late timers
 * are.
 */
#include <linux/bitops.h>
#include <linux/ktime.h>
#include <linux/math64.h>

#include "ref_null.h"

enum { RN_OP_ANY, RN_OP_READ, RN_OP_WRITE, RN_OP_FLUSH, RN_OP_OTHER };

/* Whether the knobs are aimed at this request. */
bool rn_target(struct rn_device *dev, struct request *rq)
{
	s64 hctx = rn_knob(dev, RN_K_TARGET_HCTX);
	int op;

	if (hctx >= 0 && hctx != rq->mq_hctx->queue_num)
		return false;
	switch (req_op(rq)) {
	case REQ_OP_READ:
		op = RN_OP_READ;
		break;
	case REQ_OP_WRITE:
		op = RN_OP_WRITE;
		break;
	case REQ_OP_FLUSH:
		op = RN_OP_FLUSH;
		break;
	default:
		op = RN_OP_OTHER;
	}
	return rn_knob(dev, RN_K_TARGET_OP) == RN_OP_ANY || rn_knob(dev, RN_K_TARGET_OP) == op;
}

/* A number in 1..2^32-1; under model_lock. Marsaglia's xorshift, so that a seed gives the same run
 * again. */
static u32 rn_random(struct rn_device *dev)
{
	u32 x = dev->random;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	dev->random = x;
	return x;
}

/* -ln(u / 2^32) in 1/65536, for u >= 1: base-2 logarithm by table, off by less than 0.0005. */
static u64 rn_neg_log(u32 u)
{
	static const u32 log2_table[] = {
		/* 65536 * log2(1 + i / 16) */
		0,     5732,  11136, 16248, 21098, 25711, 30109, 34312, 38336,
		42196, 45904, 49472, 52911, 56229, 59434, 62534, 65536,
	};
	unsigned int top = fls(u) - 1;
	u32 mantissa = (u << (31 - top)) & 0x7fffffff; /* 31 bits behind the point */
	unsigned int i = mantissa >> 27;
	u64 part = mantissa & ((1U << 27) - 1);
	u64 log2 = ((u64)top << 16) + log2_table[i] +
		   ((part * (log2_table[i + 1] - log2_table[i])) >> 27);

	return (((32ULL << 16) - log2) * 45426) >> 16; /* times ln 2 */
}

static u64 rn_draw_ns(struct rn_device *dev, struct request *rq)
{
	u64 mean_ns = rn_knob(dev, RN_K_TIME_NS);

	if (req_op(rq) == REQ_OP_FLUSH)
		return rn_knob(dev, RN_K_FLUSH_NS);
	switch (rn_knob(dev, RN_K_TIME)) {
	case RN_TIME_EXP:
		return mul_u64_u64_div_u64(mean_ns, rn_neg_log(rn_random(dev)), 65536);
	case RN_TIME_TWO:
		return rn_random(dev) % 100 < rn_knob(dev, RN_K_TIME2_PCT)
			       ? rn_knob(dev, RN_K_TIME2_NS)
			       : mean_ns;
	default:
		return mean_ns;
	}
}

/* Books one slot of `length_ns` behind those booked before; returns its start. */
static u64 rn_book(u64 *free_ns, u64 ready_ns, u64 length_ns)
{
	u64 start_ns = max(*free_ns, ready_ns);

	*free_ns = start_ns + length_ns;
	return start_ns;
}

/* When the disk is done with a request that reaches it at `ready_ns`. */
static u64 rn_device_end(struct rn_device *dev, struct request *rq, u64 ready_ns)
{
	u64 servers = rn_knob(dev, RN_K_SERVERS);
	u64 iops = rn_knob(dev, RN_K_MAX_IOPS), mbps = rn_knob(dev, RN_K_MAX_MBPS);
	u64 end_ns = ready_ns, length_ns;
	unsigned int i, best = 0;
	unsigned long flags;

	spin_lock_irqsave(&dev->model_lock, flags);
	length_ns = rn_draw_ns(dev, rq);
	for (i = 1; i < servers; i++)
		if (dev->server_free_ns[i] < dev->server_free_ns[best])
			best = i;
	if (servers)
		end_ns = rn_book(&dev->server_free_ns[best], ready_ns, length_ns);
	end_ns += length_ns;
	if (iops)
		end_ns = max(end_ns,
			     rn_book(&dev->iops_free_ns, ready_ns, div64_u64(RN_SECOND_NS, iops)));
	if (mbps)
		end_ns = max(end_ns, rn_book(&dev->bytes_free_ns, ready_ns,
					     div64_u64(blk_rq_bytes(rq) * 1000ULL, mbps)));
	spin_unlock_irqrestore(&dev->model_lock, flags);
	return end_ns;
}

/* Moves a request through its stages as far as `now_ns` allows; true when it is done. */
static bool rn_due(struct request *rq, u64 now_ns)
{
	struct rn_cmd *cmd = blk_mq_rq_to_pdu(rq);

	while (cmd->event_ns <= now_ns) {
		if (cmd->stage == RN_STAGE_DEVICE)
			return true;
		cmd->stage = RN_STAGE_DEVICE;
		cmd->event_ns = rn_device_end(rn_rq_dev(rq), rq, cmd->event_ns);
	}
	return false;
}

bool rn_poll_due(struct request *rq, u64 now_ns)
{
	return rn_due(rq, now_ns);
}

static enum hrtimer_restart rn_timer(struct hrtimer *timer)
{
	struct rn_cmd *cmd = container_of(timer, struct rn_cmd, timer);

	if (!rn_due(rn_cmd_rq(cmd), ktime_get_ns())) {
		hrtimer_set_expires(timer, ns_to_ktime(cmd->event_ns));
		return HRTIMER_RESTART;
	}
	rn_finish(rn_cmd_rq(cmd));
	return HRTIMER_NORESTART;
}

void rn_cmd_init(struct rn_cmd *cmd)
{
	ref_hrtimer_init(&cmd->timer, rn_timer);
	INIT_LIST_HEAD(&cmd->node);
	cmd->requeues = 0;
	cmd->token = -1;
}

/* Gives a request to the device. */
static void rn_serve(struct request *rq)
{
	struct rn_cmd *cmd = blk_mq_rq_to_pdu(rq);
	struct rn_queue *queue = rn_rq_queue(rq);
	struct rn_device *dev = queue->dev;
	u64 queue_ns = rn_knob(dev, RN_K_QUEUE_SERVICE_NS), now_ns = ktime_get_ns();
	unsigned long flags;
	bool polled = false;

	cmd->stage = RN_STAGE_QUEUE;
	cmd->event_ns = now_ns;
	if (READ_ONCE(dev->dying)) {
		cmd->stage = RN_STAGE_DEVICE;
	} else if (queue_ns) {
		spin_lock_irqsave(&queue->hwq->lock, flags);
		cmd->event_ns = rn_book(&queue->hwq->free_ns, now_ns, queue_ns) + queue_ns;
		spin_unlock_irqrestore(&queue->hwq->lock, flags);
	}
	if (rq->mq_hctx->type == HCTX_TYPE_POLL) {
		spin_lock_irqsave(&queue->lock, flags);
		polled = !READ_ONCE(dev->dying);
		if (polled)
			list_add_tail(&cmd->node, &queue->polled);
		spin_unlock_irqrestore(&queue->lock, flags);
	}
	if (polled)
		return;
	if (rn_due(rq, now_ns))
		rn_finish(rq);
	else
		hrtimer_start(&cmd->timer, ns_to_ktime(cmd->event_ns), HRTIMER_MODE_ABS);
}

/* Keeps a request aside if the knob says so; true when it did. */
static bool rn_park(struct request *rq, enum rn_knob_id knob, struct list_head *list,
		    unsigned int *nr)
{
	struct rn_cmd *cmd = blk_mq_rq_to_pdu(rq);
	struct rn_device *dev = rn_rq_dev(rq);
	unsigned long flags;
	bool parked = false;

	if (likely(!rn_knob(dev, knob)) || !rn_target(dev, rq))
		return false;
	spin_lock_irqsave(&dev->hold_lock, flags);
	if (!READ_ONCE(dev->dying) && rn_knob_take(dev, knob)) {
		list_add_tail(&cmd->node, list);
		(*nr)++;
		parked = true;
	}
	spin_unlock_irqrestore(&dev->hold_lock, flags);
	return parked;
}

/* A started request whose doorbell was rung. */
void rn_submit(struct request *rq)
{
	struct rn_device *dev = rn_rq_dev(rq);

	if (!rn_park(rq, RN_K_NEVER, &dev->never, &dev->nr_never) &&
	    !rn_park(rq, RN_K_HOLD, &dev->held, &dev->nr_held))
		rn_serve(rq);
}

/* The device is done with a request: back to the queue if the requeue knob wants so, else complete.
 */
void rn_finish(struct request *rq)
{
	struct rn_cmd *cmd = blk_mq_rq_to_pdu(rq);
	struct rn_queue *queue = rn_rq_queue(rq);
	struct rn_device *dev = queue->dev;

	if (likely(cmd->requeues >= rn_knob(dev, RN_K_REQUEUE)) || READ_ONCE(dev->dying) ||
	    !rn_target(dev, rq)) {
		blk_mq_complete_request(rq);
		return;
	}
	cmd->requeues++;
	REF_COUNT(queue->truth, requeues);
	atomic_dec(&queue->in_flight);
	atomic_dec(&dev->in_flight);
	rn_budget_release(rq);
	rn_budget_restart(dev);
	blk_mq_requeue_request(rq, rn_knob(dev, RN_K_REQUEUE_KICK));
}

/* Lets go the `count` oldest of a list of parked requests, all for -1. */
void rn_release(struct rn_device *dev, struct list_head *list, unsigned int *nr, s64 count)
{
	bool ended = list == &dev->undelivered;
	struct rn_cmd *cmd;

	while (count--) {
		spin_lock_irq(&dev->hold_lock);
		cmd = list_first_entry_or_null(list, struct rn_cmd, node);
		if (cmd) {
			list_del_init(&cmd->node);
			(*nr)--;
		}
		spin_unlock_irq(&dev->hold_lock);
		if (!cmd)
			return;
		if (ended)
			blk_mq_end_request(rn_cmd_rq(cmd), BLK_STS_OK);
		else
			rn_serve(rn_cmd_rq(cmd));
	}
}

/* Opens every way out, once `dying` is set: after this the block layer can drain the disk. */
void rn_flow_out(struct rn_device *dev)
{
	struct blk_mq_hw_ctx *hctx;
	struct rn_cmd *cmd, *next;
	unsigned long i;
	LIST_HEAD(polled);

	/* whoever saw the disk alive adds to a list under its lock: pass every lock once */
	rn_release(dev, &dev->never, &dev->nr_never, -1);
	rn_release(dev, &dev->held, &dev->nr_held, -1);
	rn_release(dev, &dev->undelivered, &dev->nr_undelivered, -1);
	for (i = 0; i < dev->nr_queues; i++) {
		rn_queue_kick(&dev->queues[i]);
		spin_lock_irq(&dev->queues[i].lock);
		list_splice_init(&dev->queues[i].polled, &polled);
		spin_unlock_irq(&dev->queues[i].lock);
	}
	list_for_each_entry_safe(cmd, next, &polled, node) {
		list_del_init(&cmd->node);
		blk_mq_complete_request(rn_cmd_rq(cmd));
	}
	queue_for_each_hw_ctx(dev->disk->queue, hctx, i)
		blk_mq_start_stopped_hw_queue(hctx, true);
	blk_mq_kick_requeue_list(dev->disk->queue);
	blk_mq_run_hw_queues(dev->disk->queue, true);
}
