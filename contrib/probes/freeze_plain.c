// SPDX-License-Identifier: GPL-2.0-or-later
/* Compile probe: freezing a queue returns nothing (until 6.13). */
#include <linux/blk-mq.h>

void probe(struct request_queue *q);
void probe(struct request_queue *q)
{
	blk_mq_freeze_queue(q);
	blk_mq_unfreeze_queue(q);
}
