/* SPDX-License-Identifier: Apache-2.0 */
/* Replays a recording second by second, stepped or by the clock. */
#include "cli/live/replay.h"

#include "base/buf.h"
#include "base/clock.h"
#include "recording/recording.h"

#include <stdlib.h>

#define PEEK_S 3 /* seconds of a recording within which its events are on */

struct replay {
	struct recording *file;
	bool stepped;
	bool over;
	uint32_t second;   /* read up to here */
	uint64_t begin_ns; /* when the replay began */
	struct err end;
};

struct replay *replay_open(const char *path, bool stepped, struct profile *profile, struct err *err)
{
	struct recording *file = recording_open(path, profile, err);
	struct replay *r;

	if (!file)
		return NULL;
	r = xcalloc(1, sizeof(*r));
	r->file = file;
	r->stepped = stepped;
	r->begin_ns = clock_mono_ns();
	recording_read(file, 0, NULL); /* identifies the JVM */
	return r;
}

void replay_free(struct replay *r)
{
	if (!r)
		return;
	recording_free(r->file);
	free(r);
}

static bool replay_until(struct replay *r, uint32_t second)
{
	if (r->over || second <= r->second)
		return !r->over;
	r->second = second;
	int rc = recording_read(r->file, second, &r->end);
	r->over = rc <= 0;
	if (!rc)
		err_set(&r->end, ERR_GONE, "End of the recording.");
	return !r->over;
}

bool replay_step(struct replay *r)
{
	return replay_until(r, r->second + 1);
}

int replay_drain(struct replay *r, struct err *err)
{
	uint32_t before = r->second;

	if (!r->stepped)
		replay_until(r, (uint32_t)((clock_mono_ns() - r->begin_ns) / NS_PER_S));
	if (r->second != before || !r->over)
		return r->second != before;
	*err = r->end;
	return -1;
}

const struct vitals *replay_vitals(const struct replay *r)
{
	return recording_vitals_now(r->file);
}

int replay_event(const char *path, int event)
{
	struct profile *profile = profile_new();
	struct recording *r = recording_open(path, profile, NULL);
	int found = -1;

	for (uint32_t second = 1; r && second <= PEEK_S && found < 0; second++) {
		recording_read(r, second, NULL);
		const struct vitals_event *events = recording_vitals_now(r)->events;
		for (int i = PROFILE_EVENTS; i-- > 0;)
			if (events[i].state == VITALS_ON)
				found = events[event].state == VITALS_ON ? event : i;
	}
	recording_free(r);
	profile_free(profile);
	return found < 0 ? event : found;
}
