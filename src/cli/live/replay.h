/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording in place of a session, for tests and benchmarks: replayed second by second, so that the live view sees it as
 * it was sampled. (`jhot view` loads all of a recording at once.) Single-threaded.
 */
#ifndef JHOT_CLI_LIVE_REPLAY_H
#define JHOT_CLI_LIVE_REPLAY_H

#include "base/err.h"
#include "profile/profile.h"
#include "profile/vitals.h"

struct replay;
/* stepped: time advances by replay_step, not by the clock. The profile must be empty, and outlive the replay. */
struct replay *replay_open(
	const char *path, bool stepped, struct profile *profile, struct err *err);
void replay_free(struct replay *r);
bool replay_step(struct replay *r); /* advances by one second; false at the end */
/* Like session_drain: > 0 if there is anything new; -1 at the end of the recording, or if it is damaged. */
int replay_drain(struct replay *r, struct err *err);
const struct vitals *replay_vitals(const struct replay *r);
/* The event to show first: `event` if the recording has it, else the first that it has. */
int replay_event(const char *path, int event);

#endif
