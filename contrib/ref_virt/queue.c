// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The driver's side of ref_virt: the operations that the block layer calls.
 * In: requests. Out: requests in rings, doorbells, ended requests, counters.
 *
 * A full ring stops its hardware queue, and the next interrupt starts all stopped ones. In a batch,
 * a request for which the ring has no room goes back through the requeue list, as virtio-blk does.
 */
#include <linux/ktime.h>

#include "ref_virt.h"

static void rv_start(struct rv_ring *ring, struct request *rq)
{
	struct rv_cmd *cmd = blk_mq_rq_to_pdu(rq);

	atomic_inc(&ring->disk->in_flight);
	REF_COUNT(ring->truth, issues);
	cmd->start_ns = ktime_get_ns();
	blk_mq_start_request(rq);
}

static blk_status_t rv_queue_rq(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	struct rv_disk *disk = hctx->queue->queuedata;
	struct rv_ring *ring = &disk->rings[hctx->queue_num];

	REF_COUNT(ring->truth, arrivals);
	if (!rv_ring_reserve(ring, bd->rq)) {
		/* what sits in the ring must run, or no interrupt would ever start this queue again
		 */
		rv_ring_kick(ring);
		REF_COUNT(ring->truth, refused_dev_resource);
		REF_COUNT(ring->truth, stops);
		blk_mq_stop_hw_queue(hctx);
		/* an interrupt between the look and the stop started nothing: look again */
		if (rv_ring_has_room(ring, bd->rq)) {
			REF_COUNT(ring->truth, starts);
			blk_mq_start_stopped_hw_queue(hctx, true);
		}
		return BLK_STS_DEV_RESOURCE;
	}
	rv_start(ring, bd->rq);
	rv_ring_add(ring, bd->rq);
	if (bd->last)
		rv_ring_kick(ring);
	return BLK_STS_OK;
}

static void rv_commit_rqs(struct blk_mq_hw_ctx *hctx)
{
	struct rv_disk *disk = hctx->queue->queuedata;
	struct rv_ring *ring = &disk->rings[hctx->queue_num];

	REF_COUNT(ring->truth, commits);
	rv_ring_kick(ring);
}

static void rv_queue_rqs(ref_rqs *rqs)
{
	struct rv_ring *ring = NULL;
	sector_t before = 0;
	struct request *rq;

	while ((rq = ref_rqs_pop(rqs))) {
		struct rv_ring *mine = rv_rq_ring(rq);

		if (ring && ring != mine)
			rv_ring_kick(ring);
		if (!ring)
			REF_COUNT(mine->truth, batches);
		ring = mine;
		REF_COUNT(ring->truth, arrivals);
		REF_COUNT(ring->truth, batched);
		if (blk_rq_pos(rq) < before)
			REF_COUNT(ring->truth, inversions);
		before = blk_rq_pos(rq);
		rv_start(ring, rq);
		if (rv_ring_reserve(ring, rq)) {
			rv_ring_add(ring, rq);
			continue;
		}
		atomic_dec(&ring->disk->in_flight);
		REF_COUNT(ring->truth, requeues);
		blk_mq_requeue_request(rq, true);
	}
	if (ring)
		rv_ring_kick(ring);
}

/* Books a completion; the request still has to be ended. */
static void rv_done(struct request *rq)
{
	struct rv_cmd *cmd = blk_mq_rq_to_pdu(rq);
	struct rv_ring *ring = rv_rq_ring(rq);

	ref_truth_complete(ring->truth, cmd->start_ns, ktime_get_ns());
	atomic_dec(&ring->disk->in_flight);
}

static void rv_complete(struct request *rq)
{
	rv_done(rq);
	blk_mq_end_request(rq, BLK_STS_OK);
}

/* Starts what a full ring stopped. Called while a request is still held, so the queue is there. */
static void rv_start_stopped(struct rv_ring *ring)
{
	struct request_queue *q = ring->disk->disk->queue;
	struct blk_mq_hw_ctx *hctx;
	unsigned long i;

	queue_for_each_hw_ctx(q, hctx, i) {
		if (!test_bit(BLK_MQ_S_STOPPED, &hctx->state))
			continue;
		REF_COUNT(&ring->disk->truth[i], starts);
		blk_mq_start_stopped_hw_queue(hctx, true);
	}
}

/* Completes what was collected from a ring: into the batch if there is one and it takes them. */
void rv_reap(struct rv_ring *ring, struct io_comp_batch *iob, struct list_head *done)
{
	struct request_queue *q = ring->disk->disk->queue;
	struct rv_cmd *cmd, *next;
	bool batched = false;

	if (list_empty(done))
		return;
	percpu_ref_get(&q->q_usage_counter);
	list_for_each_entry_safe(cmd, next, done, node) {
		struct request *rq = blk_mq_rq_from_pdu(cmd);

		list_del_init(&cmd->node);
		if (ring->polled)
			REF_COUNT(ring->truth, polled);
		if (iob && blk_mq_add_to_batch(rq, iob, 0, blk_mq_end_request_batch)) {
			rv_done(rq);
			batched = true;
		} else {
			blk_mq_complete_request(rq);
		}
	}
	if (batched)
		REF_COUNT(ring->truth, end_batches);
	rv_start_stopped(ring);
	percpu_ref_put(&q->q_usage_counter);
}

static int rv_poll(struct blk_mq_hw_ctx *hctx, struct io_comp_batch *iob)
{
	struct rv_disk *disk = hctx->queue->queuedata;
	struct rv_ring *ring = &disk->rings[hctx->queue_num];
	struct rv_cmd *cmd;
	unsigned long flags;
	LIST_HEAD(done);
	int found = 0;

	REF_COUNT(ring->truth, polls);
	spin_lock_irqsave(&ring->lock, flags);
	rv_ring_collect(ring, ktime_get_ns(), &done);
	spin_unlock_irqrestore(&ring->lock, flags);
	list_for_each_entry(cmd, &done, node)
		found++;
	rv_reap(ring, iob, &done);
	return found;
}

static enum blk_eh_timer_return rv_timeout(struct request *rq)
{
	REF_COUNT(rv_rq_ring(rq)->truth, timeouts);
	return BLK_EH_RESET_TIMER;
}

static void rv_map_queues(struct blk_mq_tag_set *tags)
{
	struct rv_disk *disk = tags->driver_data;
	unsigned int polls = min_t(unsigned int, disk->params.poll_queues, tags->nr_hw_queues - 1);

	tags->map[HCTX_TYPE_DEFAULT].nr_queues = tags->nr_hw_queues - polls;
	tags->map[HCTX_TYPE_DEFAULT].queue_offset = 0;
	blk_mq_map_queues(&tags->map[HCTX_TYPE_DEFAULT]);
	if (tags->nr_maps == 1)
		return;
	tags->map[HCTX_TYPE_READ].nr_queues = 0;
	tags->map[HCTX_TYPE_POLL].nr_queues = polls;
	tags->map[HCTX_TYPE_POLL].queue_offset = tags->nr_hw_queues - polls;
	if (polls)
		blk_mq_map_queues(&tags->map[HCTX_TYPE_POLL]);
}

#define RV_COMMON_OPS                                                                              \
	.queue_rq = rv_queue_rq, .commit_rqs = rv_commit_rqs, .complete = rv_complete,             \
	.poll = rv_poll, .timeout = rv_timeout, .map_queues = rv_map_queues

static const struct blk_mq_ops rv_ops_single = {RV_COMMON_OPS};
static const struct blk_mq_ops rv_ops_batch = {RV_COMMON_OPS, .queue_rqs = rv_queue_rqs};

/* The block layer looks at whether queue_rqs() exists, so there are two tables. */
const struct blk_mq_ops *rv_ops(bool queue_rqs)
{
	return queue_rqs ? &rv_ops_batch : &rv_ops_single;
}
