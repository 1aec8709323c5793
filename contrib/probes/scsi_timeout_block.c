// SPDX-License-Identifier: GPL-2.0-or-later
/* Compile probe: a SCSI driver answers a timeout in the block layer's words (6.1). */
#include <linux/blkdev.h>
#include <scsi/scsi_host.h>

static enum blk_eh_timer_return late(struct scsi_cmnd *cmd)
{
	return BLK_EH_RESET_TIMER;
}
extern const struct scsi_host_template probe;
const struct scsi_host_template probe = { .eh_timed_out = late };
