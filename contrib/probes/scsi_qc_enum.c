// SPDX-License-Identifier: GPL-2.0-or-later
/* Compile probe: a SCSI driver's queuecommand() returns enum scsi_qc_status (by 7.2). */
#include <linux/blkdev.h>
#include <scsi/scsi_host.h>

static enum scsi_qc_status take(struct Scsi_Host *host, struct scsi_cmnd *cmd)
{
	return 0;
}
extern const struct scsi_host_template probe;
const struct scsi_host_template probe = { .queuecommand = take };
