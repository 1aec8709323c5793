// SPDX-License-Identifier: GPL-2.0-or-later
/* Compile probe: a driver may answer "no zone resource" (6.1, 6.12; gone by 7.3). */
#include <linux/blk_types.h>

blk_status_t probe(void);
blk_status_t probe(void)
{
	return BLK_STS_ZONE_RESOURCE;
}
