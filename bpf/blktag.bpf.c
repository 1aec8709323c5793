/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The main object: everything that hooks the block layer itself, one file a subject. One translation unit, because
 * bpftool 7.1 cannot link objects that share a kernel function. Input: the subjects. Output: blktag.skel.h.
 */
#include "tag.bpf.c"
#include "rq.bpf.c"
#include "hctx.bpf.c"
#include "other.bpf.c"
#include "sample.bpf.c"

char LICENSE[] SEC("license") = "GPL";
