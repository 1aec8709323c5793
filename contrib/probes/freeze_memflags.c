// SPDX-License-Identifier: GPL-2.0-or-later
/* Compile probe: freezing a queue returns flags that unfreezing wants back (6.14). */
#include <linux/blk-mq.h>

void probe(struct request_queue *q);
void probe(struct request_queue *q)
{
	unsigned int flags = blk_mq_freeze_queue(q);

	blk_mq_unfreeze_queue(q, flags);
}
