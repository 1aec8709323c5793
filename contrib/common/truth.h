/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts what really happened on one hardware queue, for comparison with what a tracer says.
 * In: calls from the driver's paths, in any context. Out: `key value` lines in debugfs.
 * Counters are per CPU, so they cost little and are exact once the queue is quiet; a read in
 * between may catch one request half counted, never a negative number held.
 */
#ifndef REF_TRUTH_H
#define REF_TRUTH_H

#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>

/* Every counter once: name, meaning. `held`, `service_max_ns`, `first_start_ns` and
 * `last_end_ns` are printed as well. */
/* clang-format off */
#define REF_TRUTH_COUNTERS(X) \
	X(arrivals, "requests handed to the driver, by queue_rq() or in a queue_rqs() list") \
	X(issues, "requests the driver took and started") \
	X(completions, "requests the driver completed") \
	X(requeues, "started requests given back to be issued again") \
	X(refused_resource, "refusals with BLK_STS_RESOURCE") \
	X(refused_dev_resource, "refusals with BLK_STS_DEV_RESOURCE") \
	X(refused_zone, "refusals with BLK_STS_ZONE_RESOURCE") \
	X(kicks, "doorbells rung") \
	X(commits, "commit_rqs() calls") \
	X(batches, "queue_rqs() calls that took at least one request") \
	X(batched, "requests taken by queue_rqs()") \
	X(batch_left, "requests that queue_rqs() left on its list") \
	X(inversions, "neighbours of one batch issued with falling sector") \
	X(budget_gets, "budget tokens given") \
	X(budget_refused, "budget refusals") \
	X(budget_puts, "budget tokens given back, used or not") \
	X(budget_unused, "budget tokens given back without an issue") \
	X(runs_asked, "queue runs the driver asked for") \
	X(stops, "hardware queue stops") \
	X(starts, "hardware queue starts") \
	X(polls, "poll calls") \
	X(polled, "requests completed by poll") \
	X(end_batches, "completion batches") \
	X(timeouts, "timeouts reported by the block layer") \
	X(flushes, "flush requests issued") \
	X(service_ns, "sum of start-to-completion times")

enum ref_truth_id {
#define REF_TRUTH_ENUM(name, help) REF_T_##name,
	REF_TRUTH_COUNTERS(REF_TRUTH_ENUM)
#undef REF_TRUTH_ENUM
	REF_TRUTH_NR
};
/* clang-format on */

struct ref_truth_cpu {
	u64 count[REF_TRUTH_NR];
	u64 service_max_ns;
	u64 first_start_ns; /* CLOCK_MONOTONIC, of what was completed; 0: nothing was */
	u64 last_end_ns;
};

struct ref_truth {
	struct ref_truth_cpu __percpu *cpu;
};

static inline int ref_truth_init(struct ref_truth *truth)
{
	truth->cpu = alloc_percpu(struct ref_truth_cpu);
	return truth->cpu ? 0 : -ENOMEM;
}

static inline void ref_truth_free(struct ref_truth *truth)
{
	free_percpu(truth->cpu);
	truth->cpu = NULL;
}

static inline void ref_truth_add(struct ref_truth *truth, enum ref_truth_id id, u64 n)
{
	this_cpu_add(truth->cpu->count[id], n);
}

#define REF_COUNT(truth, name) ref_truth_add(truth, REF_T_##name, 1)

/* The earlier of two times, where 0 is none. */
static inline u64 ref_truth_first(u64 a, u64 b)
{
	return !a || (b && b < a) ? b : a;
}

/* Books one completion of what was started and has ended at these times (CLOCK_MONOTONIC). */
static inline void ref_truth_complete(struct ref_truth *truth, u64 start_ns, u64 end_ns)
{
	struct ref_truth_cpu *cpu;
	unsigned long flags;
	u64 ns = end_ns - start_ns;

	local_irq_save(flags);
	cpu = this_cpu_ptr(truth->cpu);
	cpu->count[REF_T_completions]++;
	cpu->count[REF_T_service_ns] += ns;
	cpu->service_max_ns = max(cpu->service_max_ns, ns);
	cpu->first_start_ns = ref_truth_first(cpu->first_start_ns, start_ns);
	cpu->last_end_ns = max(cpu->last_end_ns, end_ns);
	local_irq_restore(flags);
}

/* Adds the counters of `truth` to `sum`. Ends are read before starts, so that `held` is never
 * negative. */
static inline void ref_truth_sum(struct ref_truth *truth, struct ref_truth_cpu *sum)
{
	static const enum ref_truth_id ends[] = {REF_T_completions, REF_T_requeues};
	u64 end[ARRAY_SIZE(ends)] = {};
	int cpu, i;

	for (i = 0; i < ARRAY_SIZE(ends); i++)
		for_each_possible_cpu(cpu)
			end[i] += READ_ONCE(per_cpu_ptr(truth->cpu, cpu)->count[ends[i]]);
	smp_rmb(); /* orders the ends above before the starts below */
	for_each_possible_cpu(cpu) {
		const struct ref_truth_cpu *one = per_cpu_ptr(truth->cpu, cpu);

		for (i = 0; i < REF_TRUTH_NR; i++)
			if (i != ends[0] && i != ends[1])
				sum->count[i] += READ_ONCE(one->count[i]);
		sum->service_max_ns = max(sum->service_max_ns, READ_ONCE(one->service_max_ns));
		sum->first_start_ns =
			ref_truth_first(sum->first_start_ns, READ_ONCE(one->first_start_ns));
		sum->last_end_ns = max(sum->last_end_ns, READ_ONCE(one->last_end_ns));
	}
	for (i = 0; i < ARRAY_SIZE(ends); i++)
		sum->count[ends[i]] += end[i];
}

static inline void ref_truth_print(struct seq_file *out, const char *prefix,
				   const struct ref_truth_cpu *sum)
{
#define REF_TRUTH_PRINT(name, help)                                                                \
	seq_printf(out, "%s." #name " %llu\n", prefix, sum->count[REF_T_##name]);
	REF_TRUTH_COUNTERS(REF_TRUTH_PRINT)
#undef REF_TRUTH_PRINT
	seq_printf(out, "%s.service_max_ns %llu\n", prefix, sum->service_max_ns);
	seq_printf(out, "%s.first_start_ns %llu\n", prefix, sum->first_start_ns);
	seq_printf(out, "%s.last_end_ns %llu\n", prefix, sum->last_end_ns);
	seq_printf(out, "%s.held %lld\n", prefix,
		   (s64)(sum->count[REF_T_issues] - sum->count[REF_T_completions] -
			 sum->count[REF_T_requeues]));
}

/*
 * The whole file of one device: hctxN.* for each hardware queue, device.* for what a driver is told
 * without the hardware queue (budget), total.* for the sum. `hctx` may hold queues that never see a
 * request.
 */
static inline void ref_truth_show(struct seq_file *out, struct ref_truth *hctx,
				  unsigned int nr_hctx, struct ref_truth *device)
{
	struct ref_truth_cpu total = {}, one;
	char prefix[24];
	unsigned int i;

	seq_printf(out, "nr_hctx %u\n", nr_hctx);
	for (i = 0; i < nr_hctx; i++) {
		memset(&one, 0, sizeof(one));
		ref_truth_sum(&hctx[i], &one);
		snprintf(prefix, sizeof(prefix), "hctx%u", i);
		ref_truth_print(out, prefix, &one);
		ref_truth_sum(&hctx[i], &total);
	}
	memset(&one, 0, sizeof(one));
	ref_truth_sum(device, &one);
	ref_truth_print(out, "device", &one);
	ref_truth_sum(device, &total);
	ref_truth_print(out, "total", &total);
}

/* Back to zero; only meaningful while nothing is in flight. */
static inline void ref_truth_reset(struct ref_truth *truth)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(truth->cpu, cpu), 0, sizeof(struct ref_truth_cpu));
}

#endif
