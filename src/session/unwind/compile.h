/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One module's unwind rows, made: its file opened, its call frame information compiled and packed, as a load for
 * symbols/loader.
 *
 * What it reads is the target's and not trusted; what it costs is bounded by cfi.
 */
#ifndef JHOT_SESSION_UNWIND_COMPILE_H
#define JHOT_SESSION_UNWIND_COMPILE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/maps.h"
#include "symbols/loader.h"

enum unwind_made {
	UNWIND_ROWS,    /* in block */
	UNWIND_NOTHING, /* it has none to miss: an archive of classes, [vsyscall] */
	UNWIND_WITHOUT, /* it should have: why is set */
};

struct unwind_job {
	struct load load; /* the first member */
	pid_t pid;        /* 0: files as named */
	struct proc_map at;

	/* when it is done */
	enum unwind_made made;
	struct buf block;
	bool keeps_fp; /* most of its code has a frame pointer */
	struct err why;
};

/* The module's path is copied. */
struct unwind_job *unwind_job_new(pid_t pid, const struct proc_map *at);
void unwind_job_free(struct unwind_job *j);

#endif
