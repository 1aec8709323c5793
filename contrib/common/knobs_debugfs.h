/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns one table of run-time knobs into range-checked debugfs files; include it in one .c file per
 * module. In: values from ref_knobs_alloc(). Out: one file per knob, and a file `knobs` that lists
 * name, value, range and help. Values are written as a whole number, or as one of the knob's words.
 * Refusals are -EINVAL with a line in the kernel log.
 */
#ifndef REF_KNOBS_DEBUGFS_H
#define REF_KNOBS_DEBUGFS_H

#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "knobs.h"
#include "params.h"

static inline s64 ref_knob_shown(struct ref_knob_value *v)
{
	return v->knob->get ? v->knob->get(v->owner) : ref_knob_get(v);
}

static inline int ref_knob_store(struct ref_knob_value *v, const char *text)
{
	const struct ref_knob *knob = v->knob;
	s64 value;
	int err;

	if (knob->words) {
		value = ref_choice_find(knob->words, text);
		if (value < 0) {
			pr_warn("%s: %s does not know this word\n", KBUILD_MODNAME, knob->name);
			return -EINVAL;
		}
	} else if (kstrtos64(text, 0, &value) || value < knob->min || value > knob->max) {
		pr_warn("%s: %s takes %lld..%lld\n", KBUILD_MODNAME, knob->name, knob->min,
			knob->max);
		return -EINVAL;
	}
	err = knob->set ? knob->set(v->owner, value) : 0;
	if (!err)
		atomic64_set(&v->value, value);
	return err;
}

static ssize_t ref_knob_write(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	struct ref_knob_value *v = file_inode(file)->i_private;
	char text[32] = {};
	int err;

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, count))
		return -EFAULT;
	err = ref_knob_store(v, strim(text));
	return err ?: count;
}

static ssize_t ref_knob_read(struct file *file, char __user *to, size_t count, loff_t *pos)
{
	struct ref_knob_value *v = file_inode(file)->i_private;
	s64 value = ref_knob_shown(v);
	char text[48];
	int n;

	if (v->knob->words)
		n = scnprintf(text, sizeof(text), "%s\n", v->knob->words[value]);
	else
		n = scnprintf(text, sizeof(text), "%lld\n", value);
	return simple_read_from_buffer(to, count, pos, text, n);
}

static const struct file_operations ref_knob_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = ref_knob_read,
	.write = ref_knob_write,
	.llseek = default_llseek,
};

static int ref_knob_list_show(struct seq_file *out, void *unused)
{
	struct ref_knob_value *v = out->private;
	int i;

	for (; v->knob; v++) {
		const struct ref_knob *knob = v->knob;

		seq_printf(out, "%s ", knob->name);
		if (knob->words) {
			seq_printf(out, "%s ", knob->words[ref_knob_shown(v)]);
			for (i = 0; knob->words[i]; i++)
				seq_printf(out, "%s%s", i ? "|" : "", knob->words[i]);
		} else {
			seq_printf(out, "%lld %lld..%lld", ref_knob_shown(v), knob->min, knob->max);
		}
		seq_printf(out, " %s\n", knob->help);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ref_knob_list);

/* Makes the files. Remove `dir` before freeing the values: removal waits for readers and writers.
 */
static inline void ref_knobs_publish(struct ref_knob_value *values, struct dentry *dir)
{
	struct ref_knob_value *v;

	for (v = values; v->knob; v++)
		debugfs_create_file(v->knob->name, 0600, dir, v, &ref_knob_fops);
	debugfs_create_file("knobs", 0400, dir, values, &ref_knob_list_fops);
}

#endif
