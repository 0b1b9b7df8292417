/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples a JVM without a screen into a profile, with a progress line on a terminal; or fills the profile with the samples of a
 * session that another jhot has with the JVM.
 *
 *   sampling_parse -> sampling_begin -> sampling_loop -> sampling_finish -> sampling_end
 *                     sampling_join  ->
 *
 * The first SIGINT, SIGTERM or SIGHUP ends sampling_loop, the second the wait for names in
 * sampling_finish, the third kills jhot. Signals within 0.2 s count as one. With a command, signals are forwarded to the program
 * (launch.h), and its end ends sampling_loop. Installs signal handlers; single-threaded. All but
 * sampling_parse block.
 */
#ifndef JHOT_CLI_SAMPLING_H
#define JHOT_CLI_SAMPLING_H

#include "cli/launch.h"
#include "cli/line/args.h"
#include "cli/line/events.h"
#include "session/session.h"
#include "share/share.h"

struct sampling {
	struct events events; /* filled in by the caller */
	struct session_options options;
	uint64_t duration_ns; /* 0: until a signal */
	const char *then;     /* effect of Ctrl-C in the progress line: "writes" */
	bool saves;           /* SIGUSR1 requests a file: sampling_save_requested */
	uint64_t begin_ns;
	const char *const *command; /* a program to start; NULL: attach to jvm */
	struct launch launch;       /* of the command */
	int exit_status;            /* of the command, after sampling_end */
	struct hotspot jvm;
	struct profile *profile;
	struct session *session;    /* NULL: joined */
	struct shared *joined;      /* the session of another jhot; NULL: an own one */
	struct share *share;        /* for other jhot processes; NULL: not possible */
	struct recording_meta meta; /* of the recordings that these receive */
	/* Called with the vitals about four times a second; -1 ends sampling_loop with that error. May be NULL. */
	int (*poll)(void *ctx, const struct vitals *v, struct err *err);
	void *ctx;
};

/* Fills in everything but the events from the command line, and finds the JVM that it names. */
int sampling_parse(struct sampling *s, const struct args *args, struct err *err);
/* Finds the JVM that the command line names; with --token it has not started yet. */
int sampling_find(struct sampling *s, const struct args *args, struct err *err);
/* Everything else of sampling_parse. */
int sampling_options(struct sampling *s, const struct args *args, struct err *err);
/* Attaches and starts the events. Call sampling_end afterwards, also on failure. */
int sampling_begin(struct sampling *s, struct err *err);
/* In place of sampling_begin; owns both. */
void sampling_join(struct sampling *s, struct shared *from, struct profile *p);
const struct vitals *sampling_vitals(const struct sampling *s);
/* Runs until the time is over or a signal arrives (0), or the session ends by itself (-1). */
int sampling_loop(struct sampling *s, struct err *err);
/*
 * Installs a handler, except for a signal that is ignored: nohup ignores SIGHUP, a shell without
 * job control SIGTSTP. flags: those of sigaction(2).
 */
void sampling_catch(int signo, void (*handler)(int), int flags);
/* Catches SIGINT, SIGTERM and SIGHUP: sampling_signalled is true after the first, the second kills jhot. */
void sampling_catch_ending(void);
bool sampling_signalled(void);
/* True if Ctrl-C (SIGINT) ended sampling_loop; until sampling_finish. */
bool sampling_interrupted(void);
/* True once after one or more SIGUSR1, if s->saves. */
bool sampling_save_requested(void);
/*
 * Ends the session. Waits without a time limit, but for a signal, until names of frames have been
 * read from files, and reports progress on stderr.
 */
void sampling_finish(struct sampling *s);
void sampling_end(struct sampling *s); /* frees session and profile, and sets them to NULL */

#endif
