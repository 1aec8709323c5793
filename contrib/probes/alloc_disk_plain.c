// SPDX-License-Identifier: GPL-2.0-or-later
/* Compile probe: blk_mq_alloc_disk() takes the set and the queue data only (6.1). */
#include <linux/blk-mq.h>

struct gendisk *probe(struct blk_mq_tag_set *set, void *data);
struct gendisk *probe(struct blk_mq_tag_set *set, void *data)
{
	return blk_mq_alloc_disk(set, data);
}
