// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes calls of one function return at once.
 * In: a function's name and an aim. Out: a handler on its first instruction that sends matching calls to a bare
 * `ret`, so that they return to the caller as if the body had run.
 *
 * Where the function starts with an ftrace location the handler is an ftrace user with IPMODIFY, which BPF trampolines on
 * the same function take into account: fentry and fexit programs run, the body does not. A kprobe would not do there:
 * its post_handler is what asks for IPMODIFY, and adding one to a location that other kprobes use already makes the
 * kernel lose track of them. Elsewhere it is a kprobe. Its post_handler, though empty, keeps the kernel from turning
 * the breakpoint into a jump, which would ignore that the handler sent the call elsewhere.
 */
#include <asm/ibt.h>
#include <linux/linkage.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat_fault.h"
#include "ref_fault.h"

#ifndef CONFIG_X86_64
#error "ref_fault knows how to leave a function on x86-64 only"
#endif

void rf_bare_return(void);
asm(".pushsection .text, \"ax\"\n"
    ".type rf_bare_return, @function\n"
    "rf_bare_return:\n"
    ASM_ENDBR
    ASM_RET
    ".size rf_bare_return, . - rf_bare_return\n"
    ".popsection\n");

static DEFINE_MUTEX(rf_mutex);	/* placing and removing probes */
static struct rf_target *rf_targets;
static bool rf_used;		/* a probe was placed at least once; under rf_mutex */

/* Takes one of the skips that are left. */
static bool rf_take(struct rf_target *target)
{
	return atomic_dec_if_positive(&target->armed) >= 0;
}

/* Whether this call is to be skipped; if so, the registers are made to leave the function. */
static bool rf_skip(struct rf_target *target, struct pt_regs *regs)
{
	atomic64_inc(&target->calls);
	if (!target->kind->match(target, regs))
		return false;
	if (atomic64_inc_return(&target->hits) % target->aim.nth || !rf_take(target))
		return false;
	atomic64_inc(&target->skipped);
	regs->ax = target->kind->returns;
	regs->ip = (unsigned long)rf_bare_return;
	return true;
}
NOKPROBE_SYMBOL(rf_skip);

static void notrace rf_on_ftrace(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
				 struct ftrace_regs *fregs)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);

	if (regs)
		rf_skip(container_of(ops, struct rf_target, ops), regs);
}

static int rf_before(struct kprobe *probe, struct pt_regs *regs)
{
	return rf_skip(container_of(probe, struct rf_target, probe), regs);
}
NOKPROBE_SYMBOL(rf_before);

static void rf_after(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}
NOKPROBE_SYMBOL(rf_after);

static struct rf_target *rf_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < rf_nr_kinds; i++)
		if (!strcmp(rf_kinds[i].name, name))
			return &rf_targets[i];
	pr_warn("ref_fault: %s is not in the file targets\n", name);
	return NULL;
}

static int rf_nothing(struct kprobe *probe, struct pt_regs *regs)
{
	return 0;
}

/* Where a function starts and how that can be probed, by placing a probe that does nothing. 0, or why it cannot be. */
int rf_find_entry(const char *name, unsigned long *address, bool *ftrace)
{
	struct kprobe probe = {
		.symbol_name = name,
		.pre_handler = rf_nothing,
		.flags = KPROBE_FLAG_DISABLED,
	};
	int err = register_kprobe(&probe);

	if (err)
		return err;
	*ftrace = kprobe_ftrace(&probe);
	*address = (unsigned long)probe.addr;
	unregister_kprobe(&probe);
	return 0;
}

static int rf_place_ftrace(struct rf_target *target, unsigned long address)
{
	int err;

	target->ops = (struct ftrace_ops){
		.func = rf_on_ftrace,
		.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_RECURSION,
	};
	err = ftrace_set_filter_ip(&target->ops, address, 0, 0);
	if (!err)
		err = register_ftrace_function(&target->ops);
	if (err)
		ftrace_free_filter(&target->ops);
	return err;
}

static int rf_place_kprobe(struct rf_target *target)
{
	target->probe = (struct kprobe){
		.symbol_name = target->kind->name,
		.pre_handler = rf_before,
		.post_handler = rf_after,
	};
	return register_kprobe(&target->probe);
}

static void rf_displace(struct rf_target *target)
{
	if (target->by_ftrace) {
		unregister_ftrace_function(&target->ops);
		ftrace_free_filter(&target->ops);
	} else {
		unregister_kprobe(&target->probe);
	}
	target->placed = false;
}

static void rf_release(struct rf_target *target)
{
	if (target->placed)
		rf_displace(target);
	atomic_set(&target->armed, 0);
	kfree(target->hctxs);
	target->hctxs = NULL;
	target->nr_hctxs = 0;
	if (target->queue)
		blk_put_queue(target->queue);
	target->queue = NULL;
}

/* Finds what the handler compares with. Hardware queues live as long as their queue, which is held. */
static int rf_resolve(struct rf_target *target, const struct rf_aim *aim)
{
	struct request_queue *q = ref_queue_by_dev(aim->dev);
	struct blk_mq_hw_ctx *hctx;
	unsigned long i;

	if (IS_ERR(q)) {
		pr_warn("ref_fault: no disk %u:%u\n", MAJOR(aim->dev), MINOR(aim->dev));
		return PTR_ERR(q);
	}
	target->queue = q;
	if (!queue_is_mq(q)) {
		pr_warn("ref_fault: %u:%u has no hardware queues\n", MAJOR(aim->dev), MINOR(aim->dev));
		return -EINVAL;
	}
	target->hctxs = kcalloc(q->nr_hw_queues, sizeof(*target->hctxs), GFP_KERNEL);
	if (!target->hctxs)
		return -ENOMEM;
	target->nr_hctxs = q->nr_hw_queues;
	queue_for_each_hw_ctx(q, hctx, i)
		if (i < target->nr_hctxs)
			target->hctxs[i] = hctx;
	if (aim->hctx < (int)target->nr_hctxs)
		return 0;
	pr_warn("ref_fault: %u:%u has %u hardware queues\n", MAJOR(aim->dev), MINOR(aim->dev), target->nr_hctxs);
	return -EINVAL;
}

static int rf_place(struct rf_target *target, const struct rf_aim *aim)
{
	const char *name = target->kind->name;
	unsigned long address;
	int err;

	target->aim = *aim;
	atomic64_set(&target->calls, 0);
	atomic64_set(&target->hits, 0);
	atomic64_set(&target->skipped, 0);
	atomic_set(&target->armed, aim->count);
	err = rf_find_entry(name, &address, &target->by_ftrace);
	if (!err)
		err = target->by_ftrace ? rf_place_ftrace(target, address) : rf_place_kprobe(target);
	if (err == -ENOENT)
		pr_warn("ref_fault: this kernel has no function %s, or its module is not loaded\n", name);
	else if (err)
		pr_warn("ref_fault: this kernel refuses a probe on %s: error %d\n", name, err);
	else
		rf_used = target->placed = true;
	return err;
}

/* Whether the calls of a function tell what the aim wants to know. */
static int rf_check_aim(const struct rf_kind *kind, const struct rf_aim *aim)
{
	const char *what = NULL;

	if (aim->hctx >= 0 && !kind->has_hctx)
		what = "hardware queue";
	else if (aim->space && !kind->has_space)
		what = "tag space";
	else if (aim->work && !kind->has_work)
		what = "work";
	if (!what)
		return 0;
	pr_warn("ref_fault: calls of %s do not tell the %s\n", kind->name, what);
	return -EINVAL;
}

/* Anew each time: counters start at 0. */
int rf_arm(const char *name, const struct rf_aim *aim)
{
	struct rf_target *target = rf_find(name);
	int err;

	if (!target || rf_check_aim(target->kind, aim))
		return -EINVAL;
	mutex_lock(&rf_mutex);
	rf_release(target);
	err = rf_resolve(target, aim) ?: rf_place(target, aim);
	if (err)
		rf_release(target);
	mutex_unlock(&rf_mutex);
	return err;
}

/* Takes the probe away; the counters stay to be read. NULL takes all away. */
int rf_disarm(const char *name)
{
	struct rf_target *target = name ? rf_find(name) : NULL;
	unsigned int i;

	if (name && !target)
		return -EINVAL;
	mutex_lock(&rf_mutex);
	for (i = 0; i < rf_nr_kinds; i++)
		if (!target || target == &rf_targets[i])
			rf_release(&rf_targets[i]);
	mutex_unlock(&rf_mutex);
	return 0;
}

void rf_for_each(void (*fn)(struct rf_target *target, void *data), void *data)
{
	unsigned int i;

	mutex_lock(&rf_mutex);
	for (i = 0; i < rf_nr_kinds; i++)
		fn(&rf_targets[i], data);
	mutex_unlock(&rf_mutex);
}

int rf_init(void)
{
	unsigned int i;

	rf_targets = kcalloc(rf_nr_kinds, sizeof(*rf_targets), GFP_KERNEL);
	if (!rf_targets)
		return -ENOMEM;
	for (i = 0; i < rf_nr_kinds; i++)
		rf_targets[i].kind = &rf_kinds[i];
	return 0;
}

void rf_exit(void)
{
	rf_disarm(NULL);
	/* a task may have been preempted on its way through rf_bare_return() */
	if (rf_used)
		synchronize_rcu_tasks();
	kfree(rf_targets);
}
