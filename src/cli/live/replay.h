/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording in place of a session, second by second, for tests and benches: the live view sees it as it was seen. People
 * have `jhot view`, which has all of it at once. One thread.
 */
#ifndef JHOT_CLI_LIVE_REPLAY_H
#define JHOT_CLI_LIVE_REPLAY_H

#include "base/err.h"
#include "profile/profile.h"
#include "profile/vitals.h"

struct replay;
/* stepped: seconds pass with replay_step, not by the clock. The profile is the caller's, fresh, and outlives this. */
struct replay *replay_open(
	const char *path, bool stepped, struct profile *profile, struct err *err);
void replay_free(struct replay *r);
bool replay_step(struct replay *r); /* one recorded second; false at the end */
/* As session_drain: more than 0: something is new; -1: the recording is over, or damaged, and that was told. */
int replay_drain(struct replay *r, struct err *err);
const struct vitals *replay_vitals(const struct replay *r);
/* Which event is shown first: that one, or if it has none of it the first that it has. */
int replay_event(const char *path, int event);

#endif
