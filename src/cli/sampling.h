/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampling for a while without a screen: from a JVM's pid or name to a profile, with a line that moves meanwhile.
 *
 * The first SIGINT, SIGTERM or SIGHUP ends it in order, one more the wait for names (sampling_finish), the last one jhot.
 * One thread.
 */
#ifndef JHOT_CLI_SAMPLING_H
#define JHOT_CLI_SAMPLING_H

#include "cli/line/args.h"
#include "cli/line/events.h"
#include "session/session.h"

struct sampling {
	struct events events; /* parsed before */
	struct session_options options;
	uint64_t duration_ns; /* 0 = until told */
	const char *then;     /* what Ctrl-C does: "writes" */
	uint64_t begin_ns;
	struct hotspot jvm;
	struct profile *profile;
	struct session *session;
	/* Called with the vitals about four times a second; -1 ends it. NULL: not. */
	int (*look)(void *ctx, const struct vitals *v, struct err *err);
	void *ctx;
};

/* What the command line says of it but for its events, and the JVM that it names. */
int sampling_parse(struct sampling *s, const struct args *args, struct err *err);
/* sampling_begin: samples are taken. sampling_end is due whatever it returns. */
int sampling_begin(struct sampling *s, struct err *err);
/* Until the time is over, a signal comes, or the session ends by itself (-1). */
int sampling_loop(struct sampling *s, struct err *err);
/*
 * Ends the session, and waits for names of frames whose files are being read, as long as it takes or until a signal; stderr says
 * what is waited for.
 */
void sampling_finish(struct sampling *s);
void sampling_end(struct sampling *s);

#endif
