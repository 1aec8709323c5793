// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loads and unloads ref_fault, which makes a kernel function do nothing for a while, so that a tracer can show
 * what that does. In: the parameter i_know. Out: the files of files.c.
 */
#include <linux/module.h>

#include "params.h"
#include "ref_fault.h"

#define RF_PARAMS(NUM, CHOICE) NUM(i_know, 0, 0, 1, "must be 1: this breaks the running kernel on purpose")

REF_PARAMS_STRUCT(rf_params, RF_PARAMS);
REF_PARAMS_DEFINE(rf_params, RF_PARAMS)

static int __init rf_load(void)
{
	int err = params_check();

	if (err)
		return err;
	if (!params.i_know) {
		pr_err("ref_fault: this breaks the running kernel on purpose: leaks, hangs, tasks that never wake. It is for throwaway virtual machines and loads only with i_know=1\n");
		return -EPERM;
	}
	err = rf_init();
	if (err)
		return err;
	rf_files_create();
	return 0;
}

static void __exit rf_unload(void)
{
	/* waits for readers and writers */
	rf_files_remove();
	rf_exit();
}

module_init(rf_load);
module_exit(rf_unload);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("skips one kernel function for a while: lost wake-ups, leaked tags, lost runs (throwaway VMs only)");
