// SPDX-License-Identifier: GPL-2.0-or-later
/* Compile probe: hrtimer_setup() sets the callback (6.13; the only way by 6.17). */
#include <linux/hrtimer.h>

void probe(struct hrtimer *t, enum hrtimer_restart (*fn)(struct hrtimer *));
void probe(struct hrtimer *t, enum hrtimer_restart (*fn)(struct hrtimer *))
{
	hrtimer_setup(t, fn, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
}
