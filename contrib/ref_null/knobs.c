// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The run-time knobs of one disk and what it tells, as files in debugfs.
 * In: writes to ref_null/rnullN/KNOB. Out: rn_device.knobs, actions, and the files truth, state and
 * knobs.
 */

#include "knobs_debugfs.h"
#include "ref_null.h"

static const char *const rn_op_words[] = {"any", "read", "write", "flush", "other", NULL};
static const char *const rn_status_words[] = {"ok", "resource", "dev_resource", "zone_resource",
					      NULL};

static int rn_set_release(void *owner, s64 value)
{
	struct rn_device *dev = owner;

	rn_release(dev, &dev->held, &dev->nr_held, value);
	rn_release(dev, &dev->undelivered, &dev->nr_undelivered, value);
	return 0;
}

static int rn_set_complete_one(void *owner, s64 value)
{
	struct rn_device *dev = owner;

	if (!READ_ONCE(dev->nr_held))
		return -ENOENT;
	rn_release(dev, &dev->held, &dev->nr_held, 1);
	return 0;
}

/* Zero lets the forgotten ones go, as a reset of the device would. */
static int rn_set_never(void *owner, s64 value)
{
	struct rn_device *dev = owner;

	if (!value)
		rn_release(dev, &dev->never, &dev->nr_never, -1);
	return 0;
}

static s64 rn_get_held(void *owner)
{
	struct rn_device *dev = owner;

	return READ_ONCE(dev->nr_held) + READ_ONCE(dev->nr_undelivered);
}

static int rn_set_status(void *owner, s64 value)
{
	if (value != RN_STATUS_ZONE_RESOURCE || REF_HAS_ZONE_RESOURCE)
		return 0;
	pr_warn("ref_null: this kernel has no zone_resource\n");
	return -EOPNOTSUPP;
}

static int rn_kick_requeue(void *owner, s64 value)
{
	struct rn_device *dev = owner;

	blk_mq_kick_requeue_list(dev->disk->queue);
	return 0;
}

static struct blk_mq_hw_ctx *rn_hctx(struct rn_device *dev, s64 index)
{
	struct blk_mq_hw_ctx *hctx;
	unsigned long i;

	queue_for_each_hw_ctx(dev->disk->queue, hctx, i)
		if (i == index)
			return hctx;
	pr_warn("ref_null: rnull%d has %u hardware queues\n", dev->index, dev->nr_queues);
	return NULL;
}

static int rn_set_stop(void *owner, s64 value)
{
	struct rn_device *dev = owner;
	struct blk_mq_hw_ctx *hctx = rn_hctx(dev, value);

	if (!hctx)
		return -EINVAL;
	REF_COUNT(dev->queues[value].truth, stops);
	blk_mq_stop_hw_queue(hctx);
	return 0;
}

static int rn_set_start(void *owner, s64 value)
{
	struct rn_device *dev = owner;
	struct blk_mq_hw_ctx *hctx = rn_hctx(dev, value);

	if (!hctx)
		return -EINVAL;
	REF_COUNT(dev->queues[value].truth, starts);
	blk_mq_start_stopped_hw_queue(hctx, true);
	return 0;
}

/* With the knob off, nothing that waits for a doorbell may be left. */
static int rn_set_needs_commit(void *owner, s64 value)
{
	struct rn_device *dev = owner;
	unsigned int i;

	atomic64_set(&dev->knobs[RN_K_NEEDS_COMMIT].value, value);
	for (i = 0; !value && i < dev->nr_queues; i++)
		rn_queue_kick(&dev->queues[i]);
	return 0;
}

/* Whether queue_rqs() exists is a property of the operations, so these are swapped while nothing is
 * under way. */
static int rn_set_queue_rqs(void *owner, s64 value)
{
	struct rn_device *dev = owner;
	struct request_queue *q = dev->disk->queue;
	unsigned int flags;

	if ((value == RN_RQS_ABSENT) == (rn_knob(dev, RN_K_QUEUE_RQS) == RN_RQS_ABSENT))
		return 0;
	if (dev->set->params.budget) {
		pr_warn("ref_null: budget and queue_rqs exclude each other\n");
		return -EINVAL;
	}
	if (READ_ONCE(dev->nr_held) || READ_ONCE(dev->nr_never) || READ_ONCE(dev->nr_undelivered) ||
	    READ_ONCE(dev->nr_reserved))
		return -EBUSY;
	flags = ref_freeze(q);
	q->mq_ops = rn_ops(false, value != RN_RQS_ABSENT);
	ref_unfreeze(q, flags);
	return 0;
}

static int rn_set_budget(void *owner, s64 value)
{
	struct rn_device *dev = owner;

	if (!dev->set->params.budget) {
		pr_warn("ref_null: loaded without a budget\n");
		return -EINVAL;
	}
	atomic64_set(&dev->knobs[RN_K_BUDGET].value, value);
	blk_mq_run_hw_queues(dev->disk->queue, true);
	return 0;
}

/* Takes reserved tags and keeps them, waiting for each as any task would. */
static int rn_set_reserve(void *owner, s64 value)
{
	struct rn_device *dev = owner;
	struct request *rq;

	if (value > dev->set->params.reserved_tags) {
		pr_warn("ref_null: reserved_tags is %llu\n", dev->set->params.reserved_tags);
		return -EINVAL;
	}
	while (value-- > 0 && !READ_ONCE(dev->dying)) {
		struct rn_cmd *cmd;

		rq = blk_mq_alloc_request(dev->disk->queue, REQ_OP_DRV_IN, BLK_MQ_REQ_RESERVED);
		if (IS_ERR(rq))
			return PTR_ERR(rq);
		cmd = blk_mq_rq_to_pdu(rq);
		mutex_lock(&dev->reserve_lock);
		/* of a disk that goes away, the tag is passed on to whoever else waits for it */
		if (READ_ONCE(dev->dying)) {
			blk_mq_free_request(rq);
		} else {
			list_add_tail(&cmd->node, &dev->reserved);
			dev->nr_reserved++;
		}
		mutex_unlock(&dev->reserve_lock);
	}
	return 0;
}

void rn_unreserve(struct rn_device *dev, s64 count)
{
	struct rn_cmd *cmd;

	mutex_lock(&dev->reserve_lock);
	while (count-- && !list_empty(&dev->reserved)) {
		cmd = list_first_entry(&dev->reserved, struct rn_cmd, node);
		list_del_init(&cmd->node);
		dev->nr_reserved--;
		blk_mq_free_request(rn_cmd_rq(cmd));
	}
	mutex_unlock(&dev->reserve_lock);
}

static int rn_set_unreserve(void *owner, s64 value)
{
	rn_unreserve(owner, value);
	return 0;
}

static s64 rn_get_reserved(void *owner)
{
	struct rn_device *dev = owner;

	return READ_ONCE(dev->nr_reserved);
}

/* Breaks the wake-up of waiters on purpose: with more than the depth, nobody is ever woken. */
static int rn_set_wake_batch(void *owner, s64 value)
{
	struct rn_device *dev = owner;
	struct blk_mq_tag_set *tags = &dev->set->tags;
	unsigned int i;

	for (i = 0; value && i < tags->nr_hw_queues; i++)
		if (tags->tags[i])
			WRITE_ONCE(tags->tags[i]->bitmap_tags.wake_batch, value);
	return 0;
}

static s64 rn_get_wake_batch(void *owner)
{
	struct rn_device *dev = owner;
	struct blk_mq_tags *tags = dev->set->tags.tags[0];

	return tags ? READ_ONCE(tags->bitmap_tags.wake_batch) : 0;
}

static int rn_reset(void *owner, s64 value)
{
	struct rn_device *dev = owner;
	unsigned int i;

	if (atomic_read(&dev->in_flight))
		return -EBUSY;
	for (i = 0; i < dev->nr_queues; i++)
		ref_truth_reset(&dev->truth[i]);
	ref_truth_reset(&dev->device_truth);
	return 0;
}

/* clang-format off */
#define RN_NS_MAX 100000000000LL
#define RN_NUM(id, n, lo, hi, first, text) \
	[id] = { .name = n, .min = lo, .max = hi, .initial = first, .help = text }
#define RN_ACT(id, n, lo, hi, first, do_set, do_get, text) \
	[id] = { .name = n, .min = lo, .max = hi, .initial = first, \
		 .set = do_set, .get = do_get, .help = text }
#define RN_WORD(id, n, list, do_set, text) \
	[id] = { .name = n, .words = list, .set = do_set, .help = text }

const struct ref_knob rn_knobs[RN_K_NR + 1] = {
	RN_NUM(RN_K_TARGET_HCTX, "target_hctx", -1, 65535, -1,
	       "knobs act on this hardware queue only, -1 on all"),
	RN_WORD(RN_K_TARGET_OP, "target_op", rn_op_words, NULL, "knobs act on this operation only"),
	RN_NUM(RN_K_HOLD, "hold", -1, INT_MAX, 0, "keep the next n requests, -1 all from now on"),
	RN_ACT(RN_K_RELEASE, "release", -1, INT_MAX, 0, rn_set_release, rn_get_held,
	       "let the n oldest held requests go, -1 all; reads how many are held"),
	RN_ACT(RN_K_COMPLETE_ONE, "complete_one", 1, 1, 0, rn_set_complete_one, rn_get_held,
	       "let the oldest held request go; reads how many are held"),
	RN_ACT(RN_K_NEVER, "never", -1, INT_MAX, 0, rn_set_never, NULL,
	       "never complete the next n requests; 0 gives up the ones forgotten so far"),
	RN_NUM(RN_K_HOLD_DONE, "hold_done", -1, INT_MAX, 0,
	       "count the next n requests as completed but do not hand them back until released"),
	RN_WORD(RN_K_STATUS, "status", rn_status_words, rn_set_status, "answer to queue_rq()"),
	RN_NUM(RN_K_STATUS_NTH, "status_nth", 1, INT_MAX, 1,
	       "give that answer to every nth request only"),
	RN_NUM(RN_K_STATUS_COUNT, "status_count", -1, INT_MAX, -1,
	       "give that answer n more times, -1 for ever"),
	RN_NUM(RN_K_STATUS_IDLE, "status_idle", 0, 1, 0,
	       "give that answer only while nothing is in flight"),
	RN_NUM(RN_K_STATUS_BUSY_HCTX, "status_busy_hctx", -1, 65535, -1,
	       "give that answer only while this hardware queue has something in flight"),
	RN_NUM(RN_K_REQUEUE, "requeue", 0, INT_MAX, 0,
	       "requeue every request n times before it completes"),
	RN_NUM(RN_K_REQUEUE_KICK, "requeue_kick", 0, 1, 1, "kick the requeue list when requeueing"),
	RN_ACT(RN_K_KICK_REQUEUE_LIST, "kick_requeue_list", 1, 1, 0, rn_kick_requeue, NULL,
	       "kick it now"),
	RN_ACT(RN_K_STOP, "stop", 0, 65535, 0, rn_set_stop, NULL,
	       "stop this hardware queue and do not start it"),
	RN_ACT(RN_K_START, "start", 0, 65535, 0, rn_set_start, NULL, "start it again"),
	RN_ACT(RN_K_NEEDS_COMMIT, "needs_commit", 0, 1, 0, rn_set_needs_commit, NULL,
	       "requests wait for bd->last or commit_rqs()"),
	RN_WORD(RN_K_QUEUE_RQS, "queue_rqs", rn_rqs_words, rn_set_queue_rqs, "batched issue"),
	RN_NUM(RN_K_QUEUE_RQS_NTH, "queue_rqs_nth", 1, INT_MAX, 4,
	       "queue_rqs=nth leaves every nth request on the list"),
	RN_NUM(RN_K_QUEUE_SERVICE_NS, "queue_service_ns", 0, RN_NS_MAX, 0,
	       "serial service time of each hardware queue"),
	RN_NUM(RN_K_SERVERS, "servers", 0, RN_MAX_SERVERS, 0,
	       "requests served at once, 0 any number"),
	RN_WORD(RN_K_TIME, "time", rn_time_words, NULL, "kind of service time"),
	RN_NUM(RN_K_TIME_NS, "time_ns", 0, RN_NS_MAX, 0, "service time"),
	RN_NUM(RN_K_TIME2_NS, "time2_ns", 0, RN_NS_MAX, 0, "second service time"),
	RN_NUM(RN_K_TIME2_PCT, "time2_pct", 0, 100, 1, "how often the second is taken"),
	RN_NUM(RN_K_MAX_IOPS, "max_iops", 0, 100000000, 0, "cap, 0 none"),
	RN_NUM(RN_K_MAX_MBPS, "max_mbps", 0, 1000000, 0, "cap in 10^6 bytes per second, 0 none"),
	RN_NUM(RN_K_FLUSH_NS, "flush_ns", 0, RN_NS_MAX, 0, "service time of a flush"),
	RN_ACT(RN_K_BUDGET, "budget", 1, 65536, 0, rn_set_budget, NULL, "dispatch tokens"),
	RN_WORD(RN_K_RESTART, "restart", rn_restart_words, NULL,
	       "what makes up for a budget refusal"),
	RN_ACT(RN_K_RESERVE, "reserve", 0, 10240, 0, rn_set_reserve, rn_get_reserved,
	       "take n more reserved tags and keep them; reads how many are taken"),
	RN_ACT(RN_K_UNRESERVE, "unreserve", -1, 10240, 0, rn_set_unreserve, rn_get_reserved,
	       "give n of them back, -1 all"),
	RN_ACT(RN_K_WAKE_BATCH, "wake_batch", 1, 1024, 0, rn_set_wake_batch, rn_get_wake_batch,
	       "wake batch of the driver tag bitmaps"),
	RN_ACT(RN_K_RESET, "reset", 1, 1, 0, rn_reset, NULL,
	       "counters to zero; refused while anything is in flight"),
};
/* clang-format on */

/* Parameters are what the knobs of the same name start with. */
void rn_knobs_apply_params(struct rn_device *dev, const struct rn_params *params)
{
	const struct {
		enum rn_knob_id id;
		u64 value;
	} starts[] = {
		{RN_K_QUEUE_RQS, params->queue_rqs},
		{RN_K_QUEUE_SERVICE_NS, params->queue_service_ns},
		{RN_K_SERVERS, params->servers},
		{RN_K_TIME, params->time},
		{RN_K_TIME_NS, params->time_ns},
		{RN_K_TIME2_NS, params->time2_ns},
		{RN_K_TIME2_PCT, params->time2_pct},
		{RN_K_MAX_IOPS, params->max_iops},
		{RN_K_MAX_MBPS, params->max_mbps},
		{RN_K_FLUSH_NS, params->flush_ns},
		{RN_K_BUDGET, params->budget},
		{RN_K_RESTART, params->restart},
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(starts); i++)
		atomic64_set(&dev->knobs[starts[i].id].value, starts[i].value);
}

static int rn_truth_show(struct seq_file *out, void *unused)
{
	struct rn_device *dev = out->private;

	ref_truth_show(out, dev->truth, dev->nr_queues, &dev->device_truth);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rn_truth);

/* What is the case now, where `truth` says what happened. */
static int rn_state_show(struct seq_file *out, void *unused)
{
	struct rn_device *dev = out->private;
	struct blk_mq_hw_ctx *hctx;
	unsigned long i;

	seq_printf(out, "in_flight %d\n", atomic_read(&dev->in_flight));
	seq_printf(out, "held %u\nnever %u\n", READ_ONCE(dev->nr_held), READ_ONCE(dev->nr_never));
	seq_printf(out, "undelivered %u\n", READ_ONCE(dev->nr_undelivered));
	seq_printf(out, "reserved %u\n", READ_ONCE(dev->nr_reserved));
	seq_printf(out, "budget_out %d\n", atomic_read(&dev->budget_out));
	queue_for_each_hw_ctx(dev->disk->queue, hctx, i) {
		seq_printf(out, "hctx%lu.in_flight %d\n", i,
			   atomic_read(&dev->queues[i].in_flight));
		seq_printf(out, "hctx%lu.stopped %d\n", i,
			   test_bit(BLK_MQ_S_STOPPED, &hctx->state));
		seq_printf(out, "hctx%lu.cpus %*pbl\n", i, cpumask_pr_args(hctx->cpumask));
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rn_state);

void rn_debugfs_create(struct rn_device *dev, struct dentry *parent)
{
	dev->dir = debugfs_create_dir(dev->disk->disk_name, parent);
	ref_knobs_publish(dev->knobs, dev->dir);
	debugfs_create_file("truth", 0400, dev->dir, dev, &rn_truth_fops);
	debugfs_create_file("state", 0400, dev->dir, dev, &rn_state_fops);
}
