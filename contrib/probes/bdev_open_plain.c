// SPDX-License-Identifier: GPL-2.0-or-later
/* Compile probe: a block device is opened by number as itself (6.1). */
#include <linux/blkdev.h>

void probe(dev_t dev);
void probe(dev_t dev)
{
	struct block_device *bdev = blkdev_get_by_dev(dev, FMODE_READ, NULL);

	blkdev_put(bdev, FMODE_READ);
}
