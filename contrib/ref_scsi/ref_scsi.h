/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of ref_scsi share: its parameters, its structures and who offers which function.
 * In: nothing. Out: included by every .c file of the module.
 */
#ifndef REF_SCSI_H
#define REF_SCSI_H

#include "compat_scsi.h"
#include "knobs.h"
#include "params.h"
#include "truth_scsi.h"

#define RS_BLOCK_BYTES 512
#define RS_SECOND_NS 1000000000ULL

extern const char *const rs_scope_words[];	/* lun host */

enum { RS_SCOPE_LUN, RS_SCOPE_HOST };

/* The parameters of the module, once. Those of the service model are starting values of knobs. */
#define RS_PARAMS(NUM, CHOICE)                                                                     \
	NUM(hosts, 1, 0, 16, "hosts made at load")                                                 \
	NUM(nr_hw_queues, 1, 1, 256, "hardware queues of a host")                                  \
	NUM(can_queue, 32, 1, 4096, "tags per hardware queue, or of the host with host_tagset=1")  \
	NUM(host_tagset, 0, 0, 1, "one bitmap for all hardware queues")                            \
	NUM(luns, 1, 1, 256, "disks of a host")                                                    \
	NUM(cmd_per_lun, 32, 1, 4096, "queue depth a LUN starts with; the midlayer cuts it to can_queue") \
	NUM(track_queue_depth, 0, 0, 1, "TASK SET FULL lowers the queue depth of all LUNs")        \
	NUM(target_can_queue, 0, 0, 4096, "commands that all LUNs have out together, 0 = no limit") \
	NUM(size_mb, 1024, 1, 1073741824, "size of a disk")                                        \
	NUM(max_sectors, 2560, 8, 65536, "largest command in 512-byte sectors")                    \
	NUM(cache, 0, 0, 1, "announce a volatile write cache, so that flushes arrive")             \
	NUM(service_ns, 0, 0, 100000000000, "service time of a read or write")                     \
	NUM(flush_ns, 0, 0, 100000000000, "service time of SYNCHRONIZE CACHE")                     \
	NUM(max_iops, 0, 0, 100000000, "cap, 0 = none: latency grows as it is reached")            \
	NUM(max_mbps, 0, 0, 1000000, "cap in 10^6 bytes per second, 0 = none")                     \
	CHOICE(cap_scope, RS_SCOPE_LUN, rs_scope_words, "the caps are for each: lun, host")

REF_PARAMS_STRUCT(rs_params, RS_PARAMS);

/* Places in rs_host.knobs; the table in knobs.c has the same order. */
enum rs_knob_id {
	RS_K_TARGET_HCTX, RS_K_TARGET_LUN, RS_K_TARGET_OP,
	RS_K_HOLD, RS_K_RELEASE, RS_K_COMPLETE_ONE,
	RS_K_STATUS, RS_K_STATUS_NTH, RS_K_STATUS_COUNT, RS_K_STATUS_IDLE,
	RS_K_SERVICE_NS, RS_K_FLUSH_NS, RS_K_MAX_IOPS, RS_K_MAX_MBPS,
	RS_K_RESET,
	RS_K_NR
};

/* How far ahead a capped device is booked. */
struct rs_model {
	spinlock_t lock;
	u64 iops_free_ns, bytes_free_ns;
};

struct rs_lun {
	struct rs_truth truth;
	struct rs_model model;
};

struct rs_queue {
	struct rs_truth truth;
};

struct rs_host {
	struct list_head in_module;	/* under the module's mutex */
	struct rs_params params;
	struct Scsi_Host *shost;
	int index;
	bool dying;			/* knobs no longer apply: everything flows out */
	struct dentry *dir;
	struct ref_knob_value *knobs;
	struct rs_queue *queues;
	unsigned int nr_queues;
	struct rs_lun *luns;
	unsigned int nr_luns;
	struct rs_truth truth;		/* of the whole host */
	struct rs_model model;
	atomic64_t status_seen;		/* for every nth */

	spinlock_t hold_lock;
	struct list_head held;		/* rs_cmd.node, oldest first; under hold_lock */
	unsigned int nr_held;
};

enum rs_op { RS_OP_IO, RS_OP_READ, RS_OP_WRITE, RS_OP_FLUSH, RS_OP_OTHER, RS_OP_ANY };

/* What the driver keeps per command. */
struct rs_cmd {
	struct hrtimer timer;
	struct list_head node;
	struct rs_host *host;
	struct rs_queue *queue;
	struct rs_lun *lun;
	enum rs_op op;		/* READ, WRITE, FLUSH or OTHER */
	u64 start_ns;
};

static inline struct scsi_cmnd *rs_cmd_scsi(struct rs_cmd *cmd)
{
	/* the midlayer puts a driver's data right behind its own */
	return (struct scsi_cmnd *)cmd - 1;
}

static inline struct rs_host *rs_host_of(struct Scsi_Host *shost)
{
	return *(struct rs_host **)shost_priv(shost);
}

static inline s64 rs_knob(struct rs_host *host, enum rs_knob_id id)
{
	return ref_knob_get(&host->knobs[id]);
}

/* Counts one event of a command wherever it belongs. */
#define RS_COUNT(cmd, name)                                                                        \
	do {                                                                                       \
		rs_truth_add(&(cmd)->queue->truth, RS_T_##name);                                   \
		rs_truth_add(&(cmd)->lun->truth, RS_T_##name);                                     \
		rs_truth_add(&(cmd)->host->truth, RS_T_##name);                                    \
	} while (0)

/* host.c */
struct rs_host *rs_host_create(const struct rs_params *params, int index, struct dentry *parent);
void rs_host_destroy(struct rs_host *host);

/* queue.c: from the midlayer to the device and back */
ref_scsi_taken rs_queuecommand(struct Scsi_Host *shost, struct scsi_cmnd *scmd);
ref_scsi_late rs_timed_out(struct scsi_cmnd *scmd);
void rs_finish(struct rs_cmd *cmd);

/* service.c: from taken to the moment the device is done */
bool rs_target(struct rs_cmd *cmd);
void rs_submit(struct rs_cmd *cmd);
void rs_release(struct rs_host *host, s64 count);
int rs_init_cmd(struct Scsi_Host *shost, struct scsi_cmnd *scmd);
int rs_exit_cmd(struct Scsi_Host *shost, struct scsi_cmnd *scmd);

/* answer.c: what the device says */
enum rs_op rs_classify(const struct scsi_cmnd *scmd);
void rs_answer(struct rs_cmd *cmd);

/* knobs.c */
extern const struct ref_knob rs_knobs[];
void rs_knobs_apply_params(struct rs_host *host);
void rs_debugfs_create(struct rs_host *host, struct dentry *parent);

#endif
