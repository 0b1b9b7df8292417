/* SPDX-License-Identifier: Apache-2.0 */
/* `jhot record` of a JVM that another jhot is sampling: records that session's samples. Single-threaded. */
#ifndef JHOT_CLI_RECORDER_JOIN_H
#define JHOT_CLI_RECORDER_JOIN_H

#include "cli/line/args.h"
#include "cli/outputs/outputs.h"
#include "cli/sampling.h"

/*
 * Requests the samples of the session that another jhot has with s->jvm, from now on, and those that it retains, which are read into
 * the empty profile. Blocks for up to 10 s. Returns 0; 1 if no session can be joined; or -1 with an error: ERR_BUSY if it does not
 * sample what the options ask for.
 */
int join_open(const struct args *args, const struct sampling *s, struct profile *p,
	struct shared **from, struct err *err);
/*
 * Receives the samples of s->jvm for s->duration_ns, or until a signal or the end of the session, then writes the outputs.
 * Blocks. Returns as join_open.
 */
int join_record(
	const struct args *args, const struct sampling *s, struct outputs *o, struct err *err);

#endif
