/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The driver object: what is attached to a driver's own functions, loaded once per driver onto the main object's maps.
 * Input: the subjects. Output: driver.skel.h.
 */
#include "batch.bpf.c"
#include "budget.bpf.c"

char LICENSE[] SEC("license") = "GPL";
