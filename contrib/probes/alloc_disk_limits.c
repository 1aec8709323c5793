// SPDX-License-Identifier: GPL-2.0-or-later
/* Compile probe: blk_mq_alloc_disk() takes the queue limits (by 6.11). */
#include <linux/blk-mq.h>

struct gendisk *probe(struct blk_mq_tag_set *set, struct queue_limits *lim, void *data);
struct gendisk *probe(struct blk_mq_tag_set *set, struct queue_limits *lim, void *data)
{
	return blk_mq_alloc_disk(set, lim, data);
}
