// SPDX-License-Identifier: GPL-2.0-or-later
/* Compile probe: queue_rqs() takes the head of a plain chain (6.1 to early 6.12). */
#include <linux/blk-mq.h>

static void take(struct request **list)
{
	while (!rq_list_empty(*list))
		rq_list_pop(list);
}
extern const struct blk_mq_ops probe;
const struct blk_mq_ops probe = {.queue_rqs = take};
