// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the device answers to each SCSI command, in data and status.
 * In: a taken command. Out: its buffer and result. Nothing is stored: reads give zeroes.
 */
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "ref_scsi.h"

#define RS_ASC_NO_SUCH_COMMAND 0x20
#define RS_ASC_OUT_OF_RANGE 0x21
#define RS_ASC_BAD_FIELD 0x24

enum rs_op rs_classify(const struct scsi_cmnd *scmd)
{
	switch (scmd->cmnd[0]) {
	case READ_6:
	case READ_10:
	case READ_16:
		return RS_OP_READ;
	case WRITE_6:
	case WRITE_10:
	case WRITE_16:
		return RS_OP_WRITE;
	case SYNCHRONIZE_CACHE:
	case SYNCHRONIZE_CACHE_16:
		return RS_OP_FLUSH;
	default:
		return RS_OP_OTHER;
	}
}

static u64 rs_blocks(struct rs_cmd *cmd)
{
	return (cmd->host->params.size_mb << 20) / RS_BLOCK_BYTES;
}

static void rs_error(struct rs_cmd *cmd, u8 asc)
{
	RS_COUNT(cmd, errors);
	scsi_build_sense(rs_cmd_scsi(cmd), 0, ILLEGAL_REQUEST, asc, 0);
}

/* Copies an answer of which the initiator may want only the first bytes. */
static void rs_reply(struct rs_cmd *cmd, const void *data, unsigned int bytes)
{
	struct scsi_cmnd *scmd = rs_cmd_scsi(cmd);
	unsigned int done = scsi_sg_copy_from_buffer(scmd, data, min(bytes, scsi_bufflen(scmd)));

	scsi_set_resid(scmd, scsi_bufflen(scmd) - done);
}

static void rs_inquiry_standard(struct rs_cmd *cmd)
{
	u8 data[36] = {
		[2] = 6,	/* SPC-4 */
		[3] = 2,	/* format of this answer */
		[4] = sizeof(data) - 5,
		[7] = 2,	/* takes several commands at once */
	};

	memcpy(data + 8, "blktag  ref_scsi        1.0 ", 28);
	rs_reply(cmd, data, sizeof(data));
}

static void rs_inquiry_page(struct rs_cmd *cmd, u8 page)
{
	u8 data[64] = { [1] = page };
	unsigned int bytes = 4;

	switch (page) {
	case 0x00:	/* the pages there are */
		data[bytes++] = 0x00;
		data[bytes++] = 0x83;
		data[bytes++] = 0xb1;
		break;
	case 0x83:	/* who this is: one T10 vendor designator in ASCII */
		data[4] = 2;
		data[5] = 1;
		bytes = 8 + scnprintf(data + 8, sizeof(data) - 8, "blktag  ref_scsi %d:%u",
				      cmd->host->shost->host_no, (unsigned int)(cmd->lun - cmd->host->luns));
		data[7] = bytes - 8;
		break;
	case 0xb1:	/* does not rotate */
		data[5] = 1;
		bytes = sizeof(data);
		break;
	default:
		rs_error(cmd, RS_ASC_BAD_FIELD);
		return;
	}
	data[3] = bytes - 4;
	rs_reply(cmd, data, bytes);
}

static void rs_inquiry(struct rs_cmd *cmd)
{
	const u8 *cdb = rs_cmd_scsi(cmd)->cmnd;

	if (cdb[1] & 1)
		rs_inquiry_page(cmd, cdb[2]);
	else
		rs_inquiry_standard(cmd);
}

static void rs_capacity_10(struct rs_cmd *cmd)
{
	u8 data[8] = {};

	put_unaligned_be32(min_t(u64, rs_blocks(cmd) - 1, U32_MAX), data);
	put_unaligned_be32(RS_BLOCK_BYTES, data + 4);
	rs_reply(cmd, data, sizeof(data));
}

static void rs_capacity_16(struct rs_cmd *cmd)
{
	u8 data[32] = {};

	if ((rs_cmd_scsi(cmd)->cmnd[1] & 0x1f) != SAI_READ_CAPACITY_16) {
		rs_error(cmd, RS_ASC_BAD_FIELD);
		return;
	}
	put_unaligned_be64(rs_blocks(cmd) - 1, data);
	put_unaligned_be32(RS_BLOCK_BYTES, data + 8);
	rs_reply(cmd, data, sizeof(data));
}

/* The header, and the caching page when it or all pages are asked for. */
static void rs_mode_sense(struct rs_cmd *cmd)
{
	const u8 *cdb = rs_cmd_scsi(cmd)->cmnd;
	unsigned int header = cdb[0] == MODE_SENSE ? 4 : 8, bytes = header + 20;
	u8 page = cdb[2] & 0x3f, data[28] = {};

	if ((page != 0x08 && page != 0x3f) || (cdb[3] && cdb[3] != 0xff)) {
		rs_error(cmd, RS_ASC_BAD_FIELD);
		return;
	}
	if (header == 4)
		data[0] = bytes - 1;
	else
		data[1] = bytes - 2;
	data[header] = 0x08;
	data[header + 1] = 18;
	data[header + 2] = cmd->host->params.cache ? 0x04 : 0;
	rs_reply(cmd, data, bytes);
}

static void rs_report_luns(struct rs_cmd *cmd)
{
	unsigned int i, nr = cmd->host->nr_luns, bytes = 8 + nr * sizeof(struct scsi_lun);
	u8 *data = kzalloc(bytes, GFP_ATOMIC);

	if (!data) {
		rs_cmd_scsi(cmd)->result = SAM_STAT_BUSY;
		return;
	}
	put_unaligned_be32(bytes - 8, data);
	for (i = 0; i < nr; i++)
		int_to_scsilun(i, (struct scsi_lun *)(data + 8) + i);
	rs_reply(cmd, data, bytes);
	kfree(data);
}

static void rs_read_write(struct rs_cmd *cmd)
{
	struct scsi_cmnd *scmd = rs_cmd_scsi(cmd);
	const u8 *cdb = scmd->cmnd;
	u64 lba, blocks;

	switch (scmd->cmd_len) {
	case 6:
		lba = get_unaligned_be24(cdb + 1) & 0x1fffff;
		blocks = cdb[4] ?: 256;
		break;
	case 10:
		lba = get_unaligned_be32(cdb + 2);
		blocks = get_unaligned_be16(cdb + 7);
		break;
	default:
		lba = get_unaligned_be64(cdb + 2);
		blocks = get_unaligned_be32(cdb + 10);
	}
	if (lba > rs_blocks(cmd) || blocks > rs_blocks(cmd) - lba) {
		rs_error(cmd, RS_ASC_OUT_OF_RANGE);
		return;
	}
	/* pages of the page cache must not show what was in them before */
	if (cmd->op == RS_OP_READ)
		sg_zero_buffer(scsi_sglist(scmd), scsi_sg_count(scmd), scsi_bufflen(scmd), 0);
}

/* Fills the buffer and sets the result, good or with sense. */
void rs_answer(struct rs_cmd *cmd)
{
	struct scsi_cmnd *scmd = rs_cmd_scsi(cmd);
	static const u8 no_sense[18] = { 0x70, [7] = 10 };

	scmd->result = SAM_STAT_GOOD;
	if (cmd->op == RS_OP_READ || cmd->op == RS_OP_WRITE) {
		rs_read_write(cmd);
		return;
	}
	switch (scmd->cmnd[0]) {
	case TEST_UNIT_READY:
	case START_STOP:
	case ALLOW_MEDIUM_REMOVAL:
	case SYNCHRONIZE_CACHE:
	case SYNCHRONIZE_CACHE_16:
		break;
	case INQUIRY:
		rs_inquiry(cmd);
		break;
	case REQUEST_SENSE:
		rs_reply(cmd, no_sense, sizeof(no_sense));
		break;
	case READ_CAPACITY:
		rs_capacity_10(cmd);
		break;
	case SERVICE_ACTION_IN_16:
		rs_capacity_16(cmd);
		break;
	case MODE_SENSE:
	case MODE_SENSE_10:
		rs_mode_sense(cmd);
		break;
	case REPORT_LUNS:
		rs_report_luns(cmd);
		break;
	default:
		rs_error(cmd, RS_ASC_NO_SUCH_COMMAND);
	}
}
