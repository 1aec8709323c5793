/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of ref_virt share: its parameters, its structures and who offers which function.
 * In: nothing. Out: included by every .c file of the module.
 */
#ifndef REF_VIRT_H
#define REF_VIRT_H

#include "compat.h"
#include "knobs.h"
#include "params.h"
#include "truth.h"

/* The parameters of the module, once. Times and batch_complete are starting values of knobs. */
/* clang-format off */
#define RV_PARAMS(NUM, CHOICE) \
	NUM(nr_devices, 1, 1, 64, "disks") \
	NUM(size_mb, 1024, 1, 1073741824, "size of a disk") \
	NUM(num_queues, 1, 1, 256, "rings with completions by interrupt") \
	NUM(poll_queues, 0, 0, 256, "rings completed by polling, on top") \
	NUM(ring_size, 128, 2, 32768, "descriptors in a ring") \
	NUM(queue_depth, 0, 0, 10240, "tags per ring, 0 = one per descriptor") \
	NUM(indirect, 1, 0, 1, "a request takes one descriptor; with 0 two and one per segment") \
	NUM(queue_rqs, 1, 0, 1, "offer batched issue") \
	NUM(batch_complete, 0, 0, 1, "an interrupt ends its requests as one batch") \
	NUM(kick_ns, 2000, 0, 10000000, "time that the CPU spends per doorbell") \
	NUM(service_ns, 0, 0, 10000000000, "serial time of a ring per request") \
	NUM(latency_ns, 0, 0, 10000000000, "time after that, in parallel") \
	NUM(irq_gap_ns, 10000, 0, 10000000, "least time between two interrupts of a ring")
/* clang-format on */

REF_PARAMS_STRUCT(rv_params, RV_PARAMS);

/* Places in rv_disk.knobs; the table in knobs.c has the same order. */
enum rv_knob_id {
	RV_K_KICK_NS,
	RV_K_SERVICE_NS,
	RV_K_LATENCY_NS,
	RV_K_IRQ_GAP_NS,
	RV_K_BATCH_COMPLETE,
	RV_K_RESET,
	RV_K_NR
};

/* A request in the ring. */
struct rv_cmd {
	struct list_head node;
	u64 start_ns;
	u64 end_ns;               /* when the device is done with it */
	unsigned int descriptors; /* how many it takes */
};

/* A ring, its doorbell and its interrupt. */
struct rv_ring {
	spinlock_t lock;        /* everything below */
	unsigned int free;      /* descriptors */
	struct list_head added; /* put into the ring, doorbell not rung */
	struct list_head busy;  /* seen by the device, in the order of end_ns */
	u64 free_ns;            /* end of the serial service booked so far */
	u64 quiet_until_ns;     /* no interrupt before */
	struct hrtimer interrupt;
	bool polled;
	struct rv_disk *disk;
	struct ref_truth *truth;
};

struct rv_disk {
	struct list_head in_module;
	struct blk_mq_tag_set tags;
	struct rv_params params;
	struct gendisk *disk;
	struct dentry *dir;
	struct ref_knob_value *knobs;
	struct rv_ring *rings;
	unsigned int nr_rings;
	struct ref_truth *truth;
	struct ref_truth device_truth;
	atomic_t in_flight;
	bool has_tags;
};

static inline struct rv_ring *rv_rq_ring(struct request *rq)
{
	struct rv_disk *disk = rq->q->queuedata;

	return &disk->rings[rq->mq_hctx->queue_num];
}

static inline s64 rv_knob(struct rv_disk *disk, enum rv_knob_id id)
{
	return ref_knob_get(&disk->knobs[id]);
}

/* disk.c */
struct rv_disk *rv_disk_create(const struct rv_params *params, int index, struct dentry *parent);
void rv_disk_destroy(struct rv_disk *disk);

/* queue.c: the driver's side */
const struct blk_mq_ops *rv_ops(bool queue_rqs);
void rv_reap(struct rv_ring *ring, struct io_comp_batch *iob, struct list_head *done);

/* ring.c: the ring and the device behind it */
void rv_ring_init(struct rv_ring *ring, struct rv_disk *disk, unsigned int index);
bool rv_ring_reserve(struct rv_ring *ring, struct request *rq);
bool rv_ring_has_room(struct rv_ring *ring, struct request *rq);
void rv_ring_add(struct rv_ring *ring, struct request *rq);
bool rv_ring_kick(struct rv_ring *ring);
void rv_ring_collect(struct rv_ring *ring, u64 now_ns, struct list_head *done);

/* knobs.c */
extern const struct ref_knob rv_knobs[];
void rv_debugfs_create(struct rv_disk *disk, struct dentry *parent);

#endif
