// SPDX-License-Identifier: GPL-2.0-or-later
/* Compile probe: a write cache is announced by a call on the queue (6.1). */
#include <linux/blkdev.h>

void probe(struct request_queue *q);
void probe(struct request_queue *q)
{
	blk_queue_write_cache(q, true, true);
}
