/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The values of run-time knobs, as the I/O path reads them.
 * In: an array of struct ref_knob that ends with a NULL name. Out: one array of values per device;
 * reads are lock-free in any context. Their debugfs files are made by knobs_debugfs.h.
 */
#ifndef REF_KNOBS_H
#define REF_KNOBS_H

#include <linux/atomic.h>
#include <linux/slab.h>

struct ref_knob {
	const char *name;
	s64 min, max, initial;
	const char *const *words; /* NULL-terminated, or NULL for a number */
	int (*set)(void *owner,
		   s64 value);   /* does the work; the value is stored when it returns 0 */
	s64 (*get)(void *owner); /* what a read shows instead of the stored value */
	const char *help;
};

struct ref_knob_value {
	const struct ref_knob *knob;
	void *owner;
	atomic64_t value;
};

static inline s64 ref_knob_get(struct ref_knob_value *v)
{
	return atomic64_read(&v->value);
}

/* For knobs that mean "the next n": true when this one is to be taken. -1 means all. */
static inline bool ref_knob_take(struct ref_knob_value *v)
{
	s64 left = atomic64_read(&v->value);

	if (left <= 0)
		return left < 0;
	return atomic64_dec_if_positive(&v->value) >= 0;
}

/* The values of all knobs at their initial setting, one per knob and an end mark; NULL without
 * memory. */
static inline struct ref_knob_value *ref_knobs_alloc(const struct ref_knob *knobs, void *owner)
{
	struct ref_knob_value *values;
	unsigned int i, n = 0;

	while (knobs[n].name)
		n++;
	values = kcalloc(n + 1, sizeof(*values), GFP_KERNEL);
	for (i = 0; values && i < n; i++) {
		values[i].knob = &knobs[i];
		values[i].owner = owner;
		atomic64_set(&values[i].value, knobs[i].initial);
	}
	return values;
}

#endif
