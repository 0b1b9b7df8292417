/* SPDX-License-Identifier: Apache-2.0 */
/* `jhot record` of a JVM that another jhot is sampling: writes files from that session's samples. Single-threaded. */
#ifndef JHOT_CLI_RECORDER_JOIN_H
#define JHOT_CLI_RECORDER_JOIN_H

#include "cli/line/args.h"
#include "cli/outputs/outputs.h"
#include "cli/sampling.h"

/*
 * Receives the samples of s->jvm for s->duration_ns, or until a signal or the end of the session, then writes the outputs.
 * Blocks. Returns 0; 1 if no session can be joined; or -1 with an error: ERR_BUSY if it does not sample what s->events asks for.
 */
int join_record(
	const struct args *args, const struct sampling *s, struct outputs *o, struct err *err);

#endif
