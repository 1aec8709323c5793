// SPDX-License-Identifier: GPL-2.0-or-later
/* Compile probe: a SCSI driver answers a timeout with enum scsi_timeout_action (by 6.6). */
#include <linux/blkdev.h>
#include <scsi/scsi_host.h>

static enum scsi_timeout_action late(struct scsi_cmnd *cmd)
{
	return SCSI_EH_RESET_TIMER;
}
extern const struct scsi_host_template probe;
const struct scsi_host_template probe = { .eh_timed_out = late };
