/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile of a session that another jhot owns, read like a file: for `jhot save` and `jhot stop -o`. Blocks while it is sent.
 * Single-threaded.
 */
#ifndef JHOT_CLI_COPYING_H
#define JHOT_CLI_COPYING_H

#include "import/import.h"
#include "share/share.h"

struct copying {
	struct shared *from;
	struct imported *to;
};

/* Requests it: with SHARE_COPY as it is now, with SHARE_WATCH as it is at the end of the session. */
int copying_begin(
	struct copying *c, const struct hotspot *jvm, enum share_request request, struct err *err);
/* Reads it to its end, for at most 30 s without progress. Returns c->to, which is the caller's from then on, or NULL. */
struct imported *copying_finish(struct copying *c, struct err *err);
void copying_done(struct copying *c); /* also after a failure of the others */

#endif
