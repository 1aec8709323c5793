// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A ring of descriptors with a doorbell, and the device behind it.
 * In: requests added by the driver, doorbells. Out: requests that are done, by interrupt (a timer)
 * or poll.
 *
 * The device only sees what was added when the doorbell rings. It serves a ring in order:
 * `service_ns` one after the other, then `latency_ns` side by side. An interrupt comes at the end
 * of the oldest request and takes with it all that are done by then, as on real hardware; the next
 * one comes `irq_gap_ns` later at the earliest.
 */
#include <linux/ktime.h>

#include "ref_virt.h"

/* When the ring, which is busy, may interrupt next; the caller holds the lock. */
static ktime_t rv_next_interrupt(struct rv_ring *ring)
{
	struct rv_cmd *oldest = list_first_entry(&ring->busy, struct rv_cmd, node);

	return ns_to_ktime(max(oldest->end_ns, ring->quiet_until_ns));
}

static enum hrtimer_restart rv_interrupt(struct hrtimer *timer)
{
	struct rv_ring *ring = container_of(timer, struct rv_ring, interrupt);
	bool batch = rv_knob(ring->disk, RV_K_BATCH_COMPLETE);
	struct io_comp_batch iob = {};
	enum hrtimer_restart again = HRTIMER_NORESTART;
	unsigned long flags;
	LIST_HEAD(done);
	u64 now_ns;

	spin_lock_irqsave(&ring->lock, flags);
	now_ns = ktime_get_ns();
	rv_ring_collect(ring, now_ns, &done);
	ring->quiet_until_ns = now_ns + rv_knob(ring->disk, RV_K_IRQ_GAP_NS);
	if (!list_empty(&ring->busy)) {
		hrtimer_set_expires(timer, rv_next_interrupt(ring));
		again = HRTIMER_RESTART;
	}
	spin_unlock_irqrestore(&ring->lock, flags);
	rv_reap(ring, batch ? &iob : NULL, &done);
	if (iob.complete)
		iob.complete(&iob);
	return again;
}

void rv_ring_init(struct rv_ring *ring, struct rv_disk *disk, unsigned int index)
{
	unsigned int polls = min_t(unsigned int, disk->params.poll_queues, disk->nr_rings - 1);

	spin_lock_init(&ring->lock);
	INIT_LIST_HEAD(&ring->added);
	INIT_LIST_HEAD(&ring->busy);
	ref_hrtimer_init(&ring->interrupt, rv_interrupt);
	ring->free = disk->params.ring_size;
	ring->polled = index >= disk->nr_rings - polls;
	ring->disk = disk;
	ring->truth = &disk->truth[index];
}

static unsigned int rv_need(struct rv_ring *ring, struct request *rq)
{
	return ring->disk->params.indirect ? 1 : 2 + blk_rq_nr_phys_segments(rq);
}

/* Takes descriptors for a request; false when the ring has too few. */
bool rv_ring_reserve(struct rv_ring *ring, struct request *rq)
{
	struct rv_cmd *cmd = blk_mq_rq_to_pdu(rq);
	unsigned long flags;
	bool fits;

	cmd->descriptors = rv_need(ring, rq);
	spin_lock_irqsave(&ring->lock, flags);
	fits = ring->free >= cmd->descriptors;
	if (fits)
		ring->free -= cmd->descriptors;
	spin_unlock_irqrestore(&ring->lock, flags);
	return fits;
}

bool rv_ring_has_room(struct rv_ring *ring, struct request *rq)
{
	unsigned long flags;
	bool fits;

	spin_lock_irqsave(&ring->lock, flags);
	fits = ring->free >= rv_need(ring, rq);
	spin_unlock_irqrestore(&ring->lock, flags);
	return fits;
}

/* Puts a started request with its descriptors into the ring. */
void rv_ring_add(struct rv_ring *ring, struct request *rq)
{
	struct rv_cmd *cmd = blk_mq_rq_to_pdu(rq);
	unsigned long flags;

	spin_lock_irqsave(&ring->lock, flags);
	list_add_tail(&cmd->node, &ring->added);
	spin_unlock_irqrestore(&ring->lock, flags);
}

static void rv_doorbell(u64 cost_ns)
{
	u64 until_ns = ktime_get_ns() + cost_ns;

	if (cost_ns)
		while (ktime_get_ns() < until_ns)
			cpu_relax();
}

/* Rings the doorbell if anything waits for it. The caller pays for it, and only then the device
 * looks. */
bool rv_ring_kick(struct rv_ring *ring)
{
	u64 service_ns = rv_knob(ring->disk, RV_K_SERVICE_NS),
	    latency_ns = rv_knob(ring->disk, RV_K_LATENCY_NS);
	struct rv_cmd *cmd;
	unsigned long flags;
	bool idle;
	u64 now_ns;

	if (list_empty_careful(&ring->added))
		return false;
	REF_COUNT(ring->truth, kicks);
	rv_doorbell(rv_knob(ring->disk, RV_K_KICK_NS));

	spin_lock_irqsave(&ring->lock, flags);
	idle = list_empty(&ring->busy);
	now_ns = ktime_get_ns();
	list_for_each_entry(cmd, &ring->added, node) {
		ring->free_ns = max(ring->free_ns, now_ns) + service_ns;
		cmd->end_ns = ring->free_ns + latency_ns;
	}
	list_splice_tail_init(&ring->added, &ring->busy);
	if (idle && !ring->polled && !list_empty(&ring->busy))
		hrtimer_start(&ring->interrupt, rv_next_interrupt(ring), HRTIMER_MODE_ABS);
	spin_unlock_irqrestore(&ring->lock, flags);
	return true;
}

/* Takes what the device is done with out of the ring; the caller holds the lock. */
void rv_ring_collect(struct rv_ring *ring, u64 now_ns, struct list_head *done)
{
	struct rv_cmd *cmd, *next;

	list_for_each_entry_safe(cmd, next, &ring->busy, node) {
		/* a latency that was lowered meanwhile puts later ones in front: they wait for
		 * their turn */
		if (cmd->end_ns > now_ns)
			break;
		ring->free += cmd->descriptors;
		list_move_tail(&cmd->node, done);
	}
}
