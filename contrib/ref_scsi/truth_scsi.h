/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts what really happened on one hardware queue or one LUN, in the words and the file format of ../common/truth.h.
 * In: calls from the driver's paths, in any context. Out: `key value` lines in debugfs.
 * Counters are per CPU; `held` is one shared number besides, because its maximum has to be exact.
 */
#ifndef REF_TRUTH_SCSI_H
#define REF_TRUTH_SCSI_H

#include <linux/atomic.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>

/* Every counter once: name, meaning. `held`, `held_max` and `service_max_ns` are printed as well. */
#define RS_TRUTH_COUNTERS(X)                                                                       \
	X(arrivals, "calls of queuecommand()")                                                     \
	X(issues, "commands taken: arrivals that were not refused")                                \
	X(completions, "commands handed back, whatever their status")                              \
	X(reads, "READ commands taken")                                                            \
	X(writes, "WRITE commands taken")                                                          \
	X(flushes, "SYNCHRONIZE CACHE commands taken")                                             \
	X(refused_host, "refusals with SCSI_MLQUEUE_HOST_BUSY")                                    \
	X(refused_device, "refusals with SCSI_MLQUEUE_DEVICE_BUSY")                                \
	X(refused_target, "refusals with SCSI_MLQUEUE_TARGET_BUSY")                                \
	X(task_set_full, "completions with TASK SET FULL")                                         \
	X(busy, "completions with BUSY")                                                           \
	X(requeues, "completions with DID_REQUEUE")                                                \
	X(errors, "completions with CHECK CONDITION")                                              \
	X(timeouts, "timeouts reported by the block layer; the time starts anew")                  \
	X(depth_changes, "calls of change_queue_depth()")                                          \
	X(service_ns, "sum of the times from taken to handed back")

enum rs_truth_id {
#define RS_TRUTH_ENUM(name, help) RS_T_##name,
	RS_TRUTH_COUNTERS(RS_TRUTH_ENUM)
#undef RS_TRUTH_ENUM
	RS_TRUTH_NR
};

struct rs_truth_cpu {
	u64 count[RS_TRUTH_NR];
	u64 service_max_ns;
};

struct rs_truth {
	struct rs_truth_cpu __percpu *cpu;
	atomic_t held, held_max;
};

static inline int rs_truth_init(struct rs_truth *truth)
{
	truth->cpu = alloc_percpu(struct rs_truth_cpu);
	return truth->cpu ? 0 : -ENOMEM;
}

static inline void rs_truth_free(struct rs_truth *truth)
{
	free_percpu(truth->cpu);
	truth->cpu = NULL;
}

static inline void rs_truth_add(struct rs_truth *truth, enum rs_truth_id id)
{
	this_cpu_inc(truth->cpu->count[id]);
}

static inline void rs_truth_hold(struct rs_truth *truth)
{
	int now = atomic_inc_return(&truth->held), max = atomic_read(&truth->held_max);

	while (now > max && !atomic_try_cmpxchg(&truth->held_max, &max, now))
		;
}

/* Books one command that comes back `ns` after it was taken. */
static inline void rs_truth_complete(struct rs_truth *truth, u64 ns)
{
	struct rs_truth_cpu *cpu;
	unsigned long flags;

	local_irq_save(flags);
	cpu = this_cpu_ptr(truth->cpu);
	cpu->count[RS_T_completions]++;
	cpu->count[RS_T_service_ns] += ns;
	cpu->service_max_ns = max(cpu->service_max_ns, ns);
	local_irq_restore(flags);
	atomic_dec(&truth->held);
}

static inline void rs_truth_print(struct seq_file *out, const char *prefix, struct rs_truth *truth)
{
	struct rs_truth_cpu sum = {};
	int cpu, i;

	for_each_possible_cpu(cpu) {
		const struct rs_truth_cpu *one = per_cpu_ptr(truth->cpu, cpu);

		for (i = 0; i < RS_TRUTH_NR; i++)
			sum.count[i] += READ_ONCE(one->count[i]);
		sum.service_max_ns = max(sum.service_max_ns, READ_ONCE(one->service_max_ns));
	}
#define RS_TRUTH_PRINT(name, help) seq_printf(out, "%s." #name " %llu\n", prefix, sum.count[RS_T_##name]);
	RS_TRUTH_COUNTERS(RS_TRUTH_PRINT)
#undef RS_TRUTH_PRINT
	seq_printf(out, "%s.service_max_ns %llu\n", prefix, sum.service_max_ns);
	seq_printf(out, "%s.held %d\n", prefix, atomic_read(&truth->held));
	seq_printf(out, "%s.held_max %d\n", prefix, atomic_read(&truth->held_max));
}

/* Back to zero; only meaningful while nothing is held. */
static inline void rs_truth_reset(struct rs_truth *truth)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(truth->cpu, cpu), 0, sizeof(struct rs_truth_cpu));
	atomic_set(&truth->held_max, 0);
}

#endif
