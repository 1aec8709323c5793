// SPDX-License-Identifier: GPL-2.0-or-later
/* Compile probe: queue limits carry feature bits such as a write cache (by 6.11). */
#include <linux/blkdev.h>

struct queue_limits probe(void);
struct queue_limits probe(void)
{
	return (struct queue_limits){.features = BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA};
}
