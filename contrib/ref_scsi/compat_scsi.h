/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hides what differs between kernels in the interface of SCSI drivers.
 * In: the HAVE_* answers of contrib/probes. Out: one set of names, ref_scsi_*. The only place of this module
 * that tests HAVE_*.
 */
#ifndef REF_COMPAT_SCSI_H
#define REF_COMPAT_SCSI_H

#include <scsi/scsi.h>
#include <scsi/scsi_cmnd.h>
#include <scsi/scsi_device.h>
#include <scsi/scsi_eh.h>
#include <scsi/scsi_host.h>
#include <scsi/scsi_tcq.h>

#include "compat.h"

#ifdef HAVE_LINUX_UNALIGNED
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#ifdef HAVE_SCSI_QC_ENUM
typedef enum scsi_qc_status ref_scsi_taken;
#else
typedef int ref_scsi_taken;
#endif

/* Configuring a device got the queue limits along with new names of the calls around it. */
#ifdef HAVE_SCSI_SDEV_NAMES
#define REF_SCSI_ON_INIT sdev_init
#define REF_SCSI_ON_CONFIGURE sdev_configure
#define REF_SCSI_CONFIGURE_ARGS struct scsi_device *sdev, struct queue_limits *lim
#else
#define REF_SCSI_ON_INIT slave_alloc
#define REF_SCSI_ON_CONFIGURE slave_configure
#define REF_SCSI_CONFIGURE_ARGS struct scsi_device *sdev
#endif

#ifdef HAVE_SCSI_TIMEOUT_ACTION
typedef enum scsi_timeout_action ref_scsi_late;
#define REF_SCSI_LATE_AGAIN SCSI_EH_RESET_TIMER
#else
typedef enum blk_eh_timer_return ref_scsi_late;
#define REF_SCSI_LATE_AGAIN BLK_EH_RESET_TIMER
#endif

#endif
