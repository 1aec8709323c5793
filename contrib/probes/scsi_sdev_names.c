// SPDX-License-Identifier: GPL-2.0-or-later
/* Compile probe: a SCSI driver meets its devices in sdev_init() and sdev_configure() (6.14). */
#include <linux/blkdev.h>
#include <scsi/scsi_host.h>

static int meet(struct scsi_device *sdev)
{
	return 0;
}

static int configure(struct scsi_device *sdev, struct queue_limits *lim)
{
	return 0;
}
extern const struct scsi_host_template probe;
const struct scsi_host_template probe = { .sdev_init = meet, .sdev_configure = configure };
