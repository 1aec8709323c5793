// SPDX-License-Identifier: GPL-2.0-or-later
/* Compile probe: a SCSI driver meets its devices in slave_alloc() and slave_configure() (until 6.13). */
#include <linux/blkdev.h>
#include <scsi/scsi_host.h>

static int meet(struct scsi_device *sdev)
{
	return 0;
}
extern const struct scsi_host_template probe;
const struct scsi_host_template probe = { .slave_alloc = meet, .slave_configure = meet };
