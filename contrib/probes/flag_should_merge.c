// SPDX-License-Identifier: GPL-2.0-or-later
/* Compile probe: the tag set must ask for merges (until 6.13). */
#include <linux/blk-mq.h>

unsigned int probe(void);
unsigned int probe(void)
{
	return BLK_MQ_F_SHOULD_MERGE;
}
