/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hides what differs between kernels in the block driver interface.
 * In: the HAVE_* answers of contrib/probes (compat_config.h is included by the compiler's command
 * line). Out: one set of names, ref_*, that every reference driver uses. The only place here that
 * tests HAVE_*.
 */
#ifndef REF_COMPAT_H
#define REF_COMPAT_H

#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/hrtimer.h>

/* Merging is what drivers want on every kernel; it became the default in 6.14. */
#ifdef HAVE_FLAG_SHOULD_MERGE
#define REF_F_MERGE BLK_MQ_F_SHOULD_MERGE
#else
#define REF_F_MERGE 0
#endif

/* The third way to refuse a request. Where it is gone, REF_HAS_ZONE_RESOURCE is 0 and the value is
 * never to be used. */
#ifdef HAVE_STS_ZONE_RESOURCE
#define REF_HAS_ZONE_RESOURCE 1
#define REF_STS_ZONE_RESOURCE BLK_STS_ZONE_RESOURCE
#else
#define REF_HAS_ZONE_RESOURCE 0
#define REF_STS_ZONE_RESOURCE BLK_STS_RESOURCE
#endif

/* What queue_rqs() is given: a list head, or the address of a plain chain before 6.12.25. */
#ifdef HAVE_QUEUE_RQS_LIST
typedef struct rq_list ref_rqs;
#define ref_rqs_empty(list)        rq_list_empty(list)
#define ref_rqs_peek(list)         rq_list_peek(list)
#define ref_rqs_add_tail(list, rq) rq_list_add_tail(list, rq)
#define REF_RQS_INIT               ((struct rq_list){})
#else
typedef struct request *ref_rqs;
#define ref_rqs_empty(list) (!*(list))
#define ref_rqs_peek(list)  (*(list))
#define REF_RQS_INIT        NULL
static inline void ref_rqs_add_tail(ref_rqs *list, struct request *rq)
{
	/* Lists are at most a plug long, and leftovers are rare: walking is fine. */
	while (*list)
		list = &(*list)->rq_next;
	rq->rq_next = NULL;
	*list = rq;
}
#endif

static inline struct request *ref_rqs_pop(ref_rqs *list)
{
	struct request *rq = ref_rqs_peek(list);

#ifdef HAVE_QUEUE_RQS_LIST
	rq = rq_list_pop(list);
#else
	if (rq)
		*list = rq->rq_next;
#endif
	if (rq)
		rq->rq_next = NULL;
	return rq;
}

#ifdef HAVE_INIT_REQUEST_INT_NODE
typedef int ref_node;
#else
typedef unsigned int ref_node;
#endif

static inline void ref_hrtimer_init(struct hrtimer *timer,
				    enum hrtimer_restart (*fn)(struct hrtimer *))
{
#ifdef HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, fn, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	timer->function = fn;
#endif
}

static inline unsigned int ref_freeze(struct request_queue *q)
{
#ifdef HAVE_FREEZE_MEMFLAGS
	return blk_mq_freeze_queue(q);
#else
	blk_mq_freeze_queue(q);
	return 0;
#endif
}

static inline void ref_unfreeze(struct request_queue *q, unsigned int flags)
{
#ifdef HAVE_FREEZE_MEMFLAGS
	blk_mq_unfreeze_queue(q, flags);
#else
	blk_mq_unfreeze_queue(q);
#endif
}

/* The few properties that the reference drivers give a disk. */
struct ref_disk_shape {
	unsigned int block_bytes;
	unsigned int max_sectors;
	unsigned int max_segments;
	bool write_cache;
};

/* Returns a disk or an ERR_PTR. */
static inline struct gendisk *ref_alloc_disk(struct blk_mq_tag_set *set,
					     const struct ref_disk_shape *shape, void *queuedata)
{
#ifdef HAVE_ALLOC_DISK_LIMITS
	struct queue_limits lim = {
		.logical_block_size = shape->block_bytes,
		.physical_block_size = shape->block_bytes,
		.max_hw_sectors = shape->max_sectors,
		.max_segments = shape->max_segments,
	};

	if (shape->write_cache)
		lim.features |= BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA;
	return blk_mq_alloc_disk(set, &lim, queuedata);
#else
	struct gendisk *disk = blk_mq_alloc_disk(set, queuedata);

	if (IS_ERR(disk))
		return disk;
	blk_queue_flag_set(QUEUE_FLAG_NONROT, disk->queue);
	blk_queue_flag_clear(QUEUE_FLAG_ADD_RANDOM, disk->queue);
	blk_queue_logical_block_size(disk->queue, shape->block_bytes);
	blk_queue_physical_block_size(disk->queue, shape->block_bytes);
	blk_queue_max_hw_sectors(disk->queue, shape->max_sectors);
	blk_queue_max_segments(disk->queue, shape->max_segments);
	if (shape->write_cache)
		blk_queue_write_cache(disk->queue, true, true);
	return disk;
#endif
}

#endif
