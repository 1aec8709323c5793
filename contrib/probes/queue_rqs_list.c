// SPDX-License-Identifier: GPL-2.0-or-later
/* Compile probe: queue_rqs() takes a struct rq_list (6.12.25, 6.13). */
#include <linux/blk-mq.h>

static void take(struct rq_list *list)
{
	while (!rq_list_empty(list))
		rq_list_pop(list);
}
extern const struct blk_mq_ops probe;
const struct blk_mq_ops probe = {.queue_rqs = take};
