/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the live view needs done outside of tui: the const struct app_ops over sessions, /proc and files.
 *
 * A live owns at most one session and its profile. One thread.
 */
#ifndef JHOT_CLI_LIVE_H
#define JHOT_CLI_LIVE_H

#include "session/session.h"
#include "tui/app.h"

struct live;

/* options are kept by pointer until live_free. */
struct live *live_new(const struct session_options *options);
void live_free(struct live *l);

/* Begin without the picker: a JVM already found (interval 0: each event's default), or a recorded ring. */
int live_attach(struct live *l, const struct hotspot *jvm, const int *events, int count,
	uint64_t interval, struct err *err);
int live_replay(struct live *l, const char *path, bool clock_step, struct err *err);

extern const struct app_ops live_ops; /* ctx: a struct live */

#endif
