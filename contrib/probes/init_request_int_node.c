// SPDX-License-Identifier: GPL-2.0-or-later
/* Compile probe: init_request() takes the node as int (by 7.2). */
#include <linux/blk-mq.h>

static int init(struct blk_mq_tag_set *set, struct request *rq, unsigned int hctx, int node)
{
	return 0;
}
extern const struct blk_mq_ops probe;
const struct blk_mq_ops probe = {.init_request = init};
