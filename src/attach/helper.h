/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The forked helper that speaks HotSpot's attach protocol with the target's ids.
 *
 * helper_run forks; the child looks at the process again, then asks it. helper_run waits for the child and takes its answer as hostile input (it has run under the
 * target's user). The child blocks every signal, ends when its caller does, and removes its files on every
 * path.
 */
#ifndef JHOT_ATTACH_HELPER_H
#define JHOT_ATTACH_HELPER_H

#include "attach/jvm/hotspot.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/patience.h"

struct helper_request {
	const struct hotspot *jvm; /* as it was looked at before */
	int pidfd;                 /* -1 on old kernels */
	const char *agent;         /* to be placed and put into args[0], or NULL */
	const char *op;
	const char *args[3];
};

/* The JVM's whole answer into reply. */
int helper_run(const struct helper_request *rq, const struct patience *patience, struct buf *reply,
	struct err *err);

#endif
