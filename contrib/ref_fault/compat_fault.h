/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hides what differs between kernels in finding the queue of a block device by its number.
 * In: the HAVE_* answers of contrib/probes. Out: ref_queue_by_dev(). The only place of this module that tests HAVE_*.
 */
#ifndef REF_COMPAT_FAULT_H
#define REF_COMPAT_FAULT_H

#include <linux/blkdev.h>
#include <linux/file.h>

/* Takes a reference to the queue, so that its memory stays whatever becomes of the disk; an ERR_PTR if there is none. */
static inline struct request_queue *ref_queue_hold(struct block_device *bdev)
{
	struct request_queue *q = bdev_get_queue(bdev);

	return blk_get_queue(q) ? q : ERR_PTR(-ENODEV);
}

static inline struct request_queue *ref_queue_by_dev(dev_t dev)
{
	struct request_queue *q;
#ifdef HAVE_BDEV_OPEN_FILE
	struct file *file = bdev_file_open_by_dev(dev, BLK_OPEN_READ, NULL, NULL);

	if (IS_ERR(file))
		return ERR_CAST(file);
	q = ref_queue_hold(file_bdev(file));
	fput(file);
#else
	struct block_device *bdev = blkdev_get_by_dev(dev, FMODE_READ, NULL);

	if (IS_ERR(bdev))
		return ERR_CAST(bdev);
	q = ref_queue_hold(bdev);
	blkdev_put(bdev, FMODE_READ);
#endif
	return q;
}

#endif
