/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of ref_null share: its parameters, its structures and who offers which function.
 * In: nothing. Out: included by every .c file of the module.
 */
#ifndef REF_NULL_H
#define REF_NULL_H

#include "compat.h"
#include "knobs.h"
#include "params.h"
#include "truth.h"

#define RN_MAX_SERVERS 256

extern const char *const rn_map_words[];     /* spread zero unmapped */
extern const char *const rn_restart_words[]; /* delay all none */
extern const char *const rn_time_words[];    /* fixed exp two */
extern const char *const rn_rqs_words[];     /* absent all nth reverse */

enum { RN_MAP_SPREAD, RN_MAP_ZERO, RN_MAP_UNMAPPED };
enum { RN_RESTART_DELAY, RN_RESTART_ALL, RN_RESTART_NONE };
enum { RN_TIME_FIXED, RN_TIME_EXP, RN_TIME_TWO };
enum { RN_STATUS_OK, RN_STATUS_RESOURCE, RN_STATUS_DEV_RESOURCE, RN_STATUS_ZONE_RESOURCE };
enum { RN_RQS_ABSENT, RN_RQS_ALL, RN_RQS_NTH, RN_RQS_REVERSE };

#define RN_SECOND_NS 1000000000ULL

/* The parameters of the module, once. Those of the service model are starting values of knobs. */
/* clang-format off */
#define RN_PARAMS(NUM, CHOICE) \
	NUM(nr_devices, 1, 0, 64, "disks made at load") \
	NUM(size_mb, 1024, 1, 1073741824, "size of a disk") \
	NUM(block_bytes, 512, 512, 4096, "logical block size, a power of two") \
	NUM(max_sectors, 2560, 8, 65536, "largest request in 512-byte sectors") \
	NUM(submit_queues, 1, 1, 256, "hardware queues with completions by timer") \
	NUM(poll_queues, 0, 0, 256, "hardware queues completed by polling, on top") \
	NUM(hw_queue_depth, 64, 1, 10240, "tags per hardware queue, reserved ones included") \
	NUM(reserved_tags, 0, 0, 10239, "how many of them are reserved") \
	NUM(shared_tags, 0, 0, 1, "one tag set for all disks") \
	NUM(host_tags, 0, 0, 1, "one bitmap for all hardware queues of a set") \
	CHOICE(map, RN_MAP_SPREAD, rn_map_words, \
	    "CPUs to queues: spread, zero (all to the first), unmapped (last has none)") \
	CHOICE(queue_rqs, RN_RQS_ABSENT, rn_rqs_words, \
	    "batched issue: absent, all, nth, reverse") \
	NUM(cache, 0, 0, 1, "announce a volatile write cache, so that flushes arrive") \
	NUM(budget, 0, 0, 65536, "dispatch tokens per disk, 0 = no budget") \
	NUM(budget_shared, 0, 0, 1, "the tokens are for all disks of the set together") \
	CHOICE(restart, RN_RESTART_DELAY, rn_restart_words, \
	    "delay (run the refused disk), all (run all that share, each time), none") \
	NUM(restart_delay_ms, 3, 1, 10000, "how late an idle refused queue is run") \
	NUM(queue_service_ns, 0, 0, 10000000000, "serial service time of each hardware queue") \
	NUM(servers, 0, 0, RN_MAX_SERVERS, "requests a disk serves at once, 0 = any number") \
	CHOICE(time, RN_TIME_FIXED, rn_time_words, \
	    "service time: fixed, exp (exponential), two (two values)") \
	NUM(time_ns, 0, 0, 100000000000, "service time, its mean for exp") \
	NUM(time2_ns, 0, 0, 100000000000, "the second value for two") \
	NUM(time2_pct, 1, 0, 100, "how often the second value is taken") \
	NUM(max_iops, 0, 0, 100000000, "cap per disk, 0 = none") \
	NUM(max_mbps, 0, 0, 1000000, "cap per disk in 10^6 bytes per second, 0 = none") \
	NUM(flush_ns, 0, 0, 100000000000, "service time of a flush") \
	NUM(seed, 1, 1, 4294967295, "start of the random times, the same on every load")
/* clang-format on */

REF_PARAMS_STRUCT(rn_params, RN_PARAMS);

/* Places in rn_device.knobs; the table in knobs.c has the same order. */
enum rn_knob_id {
	RN_K_TARGET_HCTX,
	RN_K_TARGET_OP,
	RN_K_HOLD,
	RN_K_RELEASE,
	RN_K_COMPLETE_ONE,
	RN_K_NEVER,
	RN_K_HOLD_DONE,
	RN_K_STATUS,
	RN_K_STATUS_NTH,
	RN_K_STATUS_COUNT,
	RN_K_STATUS_IDLE,
	RN_K_STATUS_BUSY_HCTX,
	RN_K_REQUEUE,
	RN_K_REQUEUE_KICK,
	RN_K_KICK_REQUEUE_LIST,
	RN_K_STOP,
	RN_K_START,
	RN_K_NEEDS_COMMIT,
	RN_K_QUEUE_RQS,
	RN_K_QUEUE_RQS_NTH,
	RN_K_QUEUE_SERVICE_NS,
	RN_K_SERVERS,
	RN_K_TIME,
	RN_K_TIME_NS,
	RN_K_TIME2_NS,
	RN_K_TIME2_PCT,
	RN_K_MAX_IOPS,
	RN_K_MAX_MBPS,
	RN_K_FLUSH_NS,
	RN_K_BUDGET,
	RN_K_RESTART,
	RN_K_RESERVE,
	RN_K_UNRESERVE,
	RN_K_WAKE_BATCH,
	RN_K_RESET,
	RN_K_NR
};

/* One hardware queue of a tag set; several disks may feed it. */
struct rn_hwq {
	spinlock_t lock;
	u64 free_ns; /* end of the serial service booked so far */
};

struct rn_set {
	struct blk_mq_tag_set tags;
	struct rn_params params;
	struct rn_hwq *hwqs;
	spinlock_t lock;
	struct list_head devices; /* under lock */
	unsigned int users;       /* under the module's mutex */
	atomic_t budget_out;
	bool mapped; /* tags were allocated */
};

/* One hardware queue as one disk sees it. */
struct rn_queue {
	spinlock_t lock;
	struct list_head pending; /* started, waiting for commit_rqs(); under lock */
	struct list_head polled;  /* started on a poll queue; under lock */
	struct rn_hwq *hwq;
	struct rn_device *dev;
	atomic_t in_flight;
	struct ref_truth *truth;
};

struct rn_device {
	struct list_head in_module; /* under the module's mutex */
	struct list_head in_set;    /* under set->lock */
	struct rn_set *set;
	struct gendisk *disk;
	int index;
	bool dying; /* knobs no longer apply: everything flows out */
	struct dentry *dir;
	struct ref_knob_value *knobs;
	struct rn_queue *queues;
	unsigned int nr_queues;
	struct ref_truth *truth; /* one per hardware queue */
	struct ref_truth device_truth;
	atomic_t in_flight;
	atomic64_t status_seen, rqs_seen; /* for every nth */

	spinlock_t model_lock; /* the service model, below */
	u64 server_free_ns[RN_MAX_SERVERS];
	u64 iops_free_ns, bytes_free_ns;
	u32 random;

	atomic_t budget_out;
	atomic_t refused; /* a budget was refused since the last run */

	spinlock_t hold_lock; /* the lists below, linked by rn_cmd.node */
	struct list_head held, never, undelivered;
	unsigned int nr_held, nr_never, nr_undelivered;

	struct mutex reserve_lock;
	struct list_head reserved; /* requests taken from the reserved tags */
	unsigned int nr_reserved;
};

enum rn_stage { RN_STAGE_QUEUE, RN_STAGE_DEVICE };

/* What the driver keeps per request. */
struct rn_cmd {
	struct hrtimer timer;
	struct list_head node;
	u64 start_ns;
	u64 event_ns; /* planned end of the present stage */
	enum rn_stage stage;
	unsigned int requeues; /* done so far to this request */
	int token;             /* budget held, or -1 */
};

static inline struct request *rn_cmd_rq(struct rn_cmd *cmd)
{
	return blk_mq_rq_from_pdu(cmd);
}

static inline struct rn_device *rn_rq_dev(struct request *rq)
{
	return rq->q->queuedata;
}

static inline struct rn_queue *rn_rq_queue(struct request *rq)
{
	return &rn_rq_dev(rq)->queues[rq->mq_hctx->queue_num];
}

static inline s64 rn_knob(struct rn_device *dev, enum rn_knob_id id)
{
	return ref_knob_get(&dev->knobs[id]);
}

static inline bool rn_knob_take(struct rn_device *dev, enum rn_knob_id id)
{
	return ref_knob_take(&dev->knobs[id]);
}

/* device.c */
struct rn_set *rn_set_create(const struct rn_params *params);
void rn_set_destroy(struct rn_set *set);
struct rn_device *rn_device_create(struct rn_set *set, int index, struct dentry *parent);
void rn_device_destroy(struct rn_device *dev);

/* queue.c */
const struct blk_mq_ops *rn_ops(bool budget, bool queue_rqs);
void rn_complete(struct request *rq);
void rn_queue_kick(struct rn_queue *queue);

/* service.c: from start to the moment the device is done */
bool rn_target(struct rn_device *dev, struct request *rq);
void rn_cmd_init(struct rn_cmd *cmd);
void rn_submit(struct request *rq);
void rn_finish(struct request *rq);
bool rn_poll_due(struct request *rq, u64 now_ns);
void rn_release(struct rn_device *dev, struct list_head *list, unsigned int *nr, s64 count);
void rn_flow_out(struct rn_device *dev);

/* budget.c */
int rn_get_budget(struct request_queue *q);
void rn_put_budget(struct request_queue *q, int token);
void rn_set_rq_budget_token(struct request *rq, int token);
int rn_get_rq_budget_token(struct request *rq);
void rn_budget_release(struct request *rq);
void rn_budget_restart(struct rn_device *dev);

/* knobs.c */
extern const struct ref_knob rn_knobs[];
void rn_knobs_apply_params(struct rn_device *dev, const struct rn_params *params);
void rn_debugfs_create(struct rn_device *dev, struct dentry *parent);
void rn_unreserve(struct rn_device *dev, s64 count);

#endif
