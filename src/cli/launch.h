/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `jhot record -- java ...`: starts a JVM that loads the agent itself, so that it is sampled from
 * its start.
 *
 *   launch_begin -> session_open with its token -> launch_loaded -> sampling ... -> launch_wait
 *
 * The program has our terminal, environment and process group, and no descriptor of ours. Signals
 * that another process sends to jhot are forwarded to it; those of the terminal (Ctrl-C) reach it
 * anyway. If jhot is killed, the program continues. Single-threaded; installs signal handlers.
 */
#ifndef JHOT_CLI_LAUNCH_H
#define JHOT_CLI_LAUNCH_H

#include "attach/jvm/hotspot.h"
#include "attach/place.h"
#include "session/session.h"

struct launch {
	struct hotspot jvm; /* only its ids are known yet */
	struct place place;
	char token[SESSION_TOKEN];        /* of the session: session_options.token */
	char agent_option[PATH_MAX + 64]; /* "-agentpath:..." */
};

/* A JVM that is about to start: only its ids are known. */
struct hotspot launch_jvm(pid_t pid);
/* Starts it. argv: a `java` with its arguments, then NULL. After a failure l->jvm.pid is 0. */
int launch_begin(
	struct launch *l, const char *const *argv, const struct agent_file *agent, struct err *err);
/* The agent has been loaded, or will not be: removes its file. Idempotent. */
void launch_loaded(struct launch *l);
/* Waits for its end. Returns its exit status as a shell would: 128 + N if signal N ended it. */
int launch_wait(struct launch *l);

/* --- an agent that a JVM has loaded by itself -------------------------------------------------------------- */

#define LOADED_WORDS 128

/* Its options as a command line of `jhot record`. */
struct loaded {
	char *words[LOADED_WORDS]; /* as argv: "--event=cpu", ..., the pid; owned */
	int count;
};

/* text: "TOKEN,OPTION,OPTION=VALUE,...". Call loaded_done afterwards, also on failure. */
int loaded_parse(struct loaded *l, const char *text, const char *pid, struct err *err);
void loaded_done(struct loaded *l);

#endif
