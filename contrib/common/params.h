/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns one table of module parameters into a struct, its defaults, the parameters and their range
 * check. In: a table macro TABLE(NUM, CHOICE) of rows NUM(name, default, min, max, "help") a whole
 * number; switches are 0..1 CHOICE(name, default index, names, "help")     one word of the
 * NULL-terminated array `names` Out: REF_PARAMS_STRUCT(type, TABLE) declares `struct type`: u64
 * `name` for either kind of row; REF_PARAMS_DEFINE(type, TABLE) in one .c file defines `static
 * struct type params` and `static int params_check(void)`, which is 0 or -EINVAL after saying what
 * is wrong with which parameter.
 */
#ifndef REF_PARAMS_H
#define REF_PARAMS_H

#include <linux/module.h>
#include <linux/string.h>

/* The place of `word` in a NULL-terminated list, or -1. */
static inline int ref_choice_find(const char *const *names, const char *word)
{
	int i;

	for (i = 0; names[i]; i++)
		if (sysfs_streq(names[i], word))
			return i;
	return -1;
}

static inline int ref_param_check_num(const char *name, unsigned long long value,
				      unsigned long long min, unsigned long long max)
{
	if (value >= min && value <= max)
		return 0;
	pr_err("%s: %s=%llu is outside %llu..%llu\n", KBUILD_MODNAME, name, value, min, max);
	return -EINVAL;
}

static inline int ref_param_check_choice(const char *name, const char *word,
					 const char *const *names, unsigned long long *value)
{
	int i = ref_choice_find(names, word);

	if (i >= 0) {
		*value = i;
		return 0;
	}
	pr_err("%s: %s=%s is not one of:", KBUILD_MODNAME, name, word);
	for (i = 0; names[i]; i++)
		pr_cont(" %s", names[i]);
	pr_cont("\n");
	return -EINVAL;
}

/* clang-format off */
#define REF_PARAM_FIELD_NUM(name, def, min, max, help) unsigned long long name;
#define REF_PARAM_FIELD_CHOICE(name, def, names, help) unsigned long long name; char *name##_word;
#define REF_PARAM_INIT_NUM(name, def, min, max, help) .name = (def),
#define REF_PARAM_INIT_CHOICE(name, def, names, help) .name = (def),
#define REF_PARAM_MODULE_NUM(name, def, min, max, help) \
	module_param_named(name, params.name, ullong, 0444); \
	MODULE_PARM_DESC(name, help " (" #min ".." #max ", default " #def ")");
#define REF_PARAM_MODULE_CHOICE(name, def, names, help) \
	module_param_named(name, params.name##_word, charp, 0444); \
	MODULE_PARM_DESC(name, help);
#define REF_PARAM_CHECK_NUM(name, def, min, max, help) \
	if (ref_param_check_num(#name, params.name, min, max)) \
		return -EINVAL;
#define REF_PARAM_CHECK_CHOICE(name, def, names, help) \
	if (!params.name##_word) \
		params.name##_word = (char *)names[def]; \
	if (ref_param_check_choice(#name, params.name##_word, names, &params.name)) \
		return -EINVAL;

#define REF_PARAMS_STRUCT(type, TABLE) \
	struct type { \
		TABLE(REF_PARAM_FIELD_NUM, REF_PARAM_FIELD_CHOICE) \
	}

#define REF_PARAMS_DEFINE(type, TABLE) \
	static struct type params = { TABLE(REF_PARAM_INIT_NUM, REF_PARAM_INIT_CHOICE) }; \
	TABLE(REF_PARAM_MODULE_NUM, REF_PARAM_MODULE_CHOICE) \
	static int params_check(void) \
	{ \
		TABLE(REF_PARAM_CHECK_NUM, REF_PARAM_CHECK_CHOICE) \
		return 0; \
	}
/* clang-format on */

#endif
