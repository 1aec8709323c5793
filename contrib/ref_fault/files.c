// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What ref_fault can do, is told to do and did, as files in debugfs.
 * In: writes to ref_fault/arm. Out: the files targets (what this kernel allows) and truth (what was skipped).
 */
#include <linux/debugfs.h>
#include <linux/kdev_t.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "params.h"
#include "ref_fault.h"

static const char *const rf_space_words[] = { "any", "driver", "sched", NULL };
static const char *const rf_work_words[] = { "any", "run", "requeue", NULL };

static struct dentry *rf_dir;

/* One `key=value` of a line. */
static int rf_parse_option(const char *word, struct rf_aim *aim)
{
	int choice;

	if (!strncmp(word, "hctx=", 5))
		return kstrtoint(word + 5, 10, &aim->hctx) ?: aim->hctx < 0 ? -EINVAL : 0;
	if (!strncmp(word, "nth=", 4))
		return kstrtouint(word + 4, 10, &aim->nth) ?: aim->nth ? 0 : -EINVAL;
	if (!strncmp(word, "space=", 6)) {
		choice = ref_choice_find(rf_space_words, word + 6);
		aim->space = max(choice, 0);
	} else if (!strncmp(word, "work=", 5)) {
		choice = ref_choice_find(rf_work_words, word + 5);
		aim->work = max(choice, 0);
	} else {
		choice = -1;
	}
	return choice < 0 ? -EINVAL : 0;
}

/* What follows the function's name: MAJOR:MINOR COUNT [hctx=N] [space=WORD] [work=WORD] [nth=N]. */
static int rf_parse_aim(char *text, struct rf_aim *aim)
{
	unsigned int major, minor;
	char *word = strsep(&text, " "), end;

	if (!word || sscanf(word, "%u:%u%c", &major, &minor, &end) != 2)
		return -EINVAL;
	if (major > MAJOR(~0U) || minor > MINORMASK)
		return -EINVAL;
	aim->dev = MKDEV(major, minor);
	word = strsep(&text, " ");
	if (!word || kstrtoint(word, 10, &aim->count) || aim->count < 0)
		return -EINVAL;
	while ((word = strsep(&text, " ")))
		if (*word && rf_parse_option(word, aim))
			return -EINVAL;
	return 0;
}

static int rf_command(char *text)
{
	struct rf_aim aim = { .hctx = -1, .nth = 1 };
	char *name = strsep(&text, " ");

	if (!strcmp(name, "off") && !text)
		return rf_disarm(NULL);
	if (text && !strcmp(text, "off"))
		return rf_disarm(name);
	if (!text || rf_parse_aim(text, &aim)) {
		pr_warn("ref_fault: arm takes 'FUNCTION MAJOR:MINOR COUNT [hctx=N] [space=any|driver|sched] [work=any|run|requeue] [nth=N]', 'FUNCTION off' or 'off'\n");
		return -EINVAL;
	}
	return rf_arm(name, &aim);
}

static ssize_t rf_arm_write(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	char *text;
	int err;

	if (count > 255)
		return -EINVAL;
	text = memdup_user_nul(from, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	err = rf_command(strim(text));
	kfree(text);
	return err ?: count;
}

static const struct file_operations rf_arm_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = rf_arm_write,
};

/* How a function's entry can be probed here, found out by trying. */
static void rf_target_line(struct rf_target *target, void *data)
{
	unsigned long address;
	bool ftrace = false;
	int err = rf_find_entry(target->kind->name, &address, &ftrace);
	struct seq_file *out = data;

	seq_printf(out, "%s ", target->kind->name);
	if (err == -ENOENT)
		seq_puts(out, "absent");
	else if (err)
		seq_printf(out, "refused(%d)", err);
	else
		seq_puts(out, ftrace ? "ftrace" : "breakpoint");
	seq_printf(out, " %s%s%s%s %s\n", target->kind->has_hctx ? "hctx" : "queue",
		   target->kind->has_space ? ",space" : "", target->kind->has_work ? ",work" : "",
		   target->placed ? ",placed" : "", target->kind->use);
}

static int rf_targets_show(struct seq_file *out, void *unused)
{
	rf_for_each(rf_target_line, out);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rf_targets);

static void rf_truth_lines(struct rf_target *target, void *data)
{
	const char *name = target->kind->name;
	struct seq_file *out = data;

	seq_printf(out, "%s.placed %d\n", name, target->placed);
	seq_printf(out, "%s.armed %d\n", name, atomic_read(&target->armed));
	seq_printf(out, "%s.calls %lld\n", name, atomic64_read(&target->calls));
	seq_printf(out, "%s.hits %lld\n", name, atomic64_read(&target->hits));
	seq_printf(out, "%s.skipped %lld\n", name, atomic64_read(&target->skipped));
	/* only kprobes count what passed them by */
	if (target->placed && !target->by_ftrace)
		seq_printf(out, "%s.missed %lu\n", name, target->probe.nmissed);
}

static int rf_truth_show(struct seq_file *out, void *unused)
{
	rf_for_each(rf_truth_lines, out);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rf_truth);

void rf_files_create(void)
{
	rf_dir = debugfs_create_dir("ref_fault", NULL);
	debugfs_create_file("arm", 0200, rf_dir, NULL, &rf_arm_fops);
	debugfs_create_file("targets", 0400, rf_dir, NULL, &rf_targets_fops);
	debugfs_create_file("truth", 0400, rf_dir, NULL, &rf_truth_fops);
}

void rf_files_remove(void)
{
	debugfs_remove(rf_dir);
}
