// SPDX-License-Identifier: GPL-2.0-or-later
/* Compile probe: must compile on every kernel. */
#include <linux/blk-mq.h>

int probe(struct request *rq);
int probe(struct request *rq)
{
	return rq->tag;
}
