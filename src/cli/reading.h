/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads profiles for verbs: the files that a command line names, within --from and --to, or the
 * session of another jhot.
 *
 * Blocks while reading; on a terminal, one line of stderr shows the progress of a file that takes
 * longer than half a second. Notes of the importers go to stderr. Single-threaded.
 */
#ifndef JHOT_CLI_READING_H
#define JHOT_CLI_READING_H

#include "cli/line/args.h"
#include "cli/outputs/outputs.h"
#include "import/import.h"
#include "share/share.h"

/*
 * All operands merged into one profile ("-" is stdin), within --memory. NULL with an error. Free it
 * with import_free.
 */
struct imported *reading_operands(const struct args *args, struct err *err);

/* One profile per operand into list, which has operand_count entries. On an error none is left to free. */
int reading_each(const struct args *args, struct imported **list, struct err *err);

/* --from and --to as seconds [*from, *to) of the profile; *to is UINT32_MAX without --to. */
int reading_span(const struct args *args, const struct imported *i, uint32_t *from, uint32_t *to,
	struct err *err);
/* Writes the outputs, or prints the hot methods, of the events that -e names. duration_ns: of the span in o. */
int reading_write(const struct imported *i, const struct args *args, struct outputs *o,
	uint64_t duration_ns, struct err *err);
/* The duration of a span in ns; 0 if the file does not record time. */
uint64_t reading_duration_ns(const struct imported *i, uint32_t from, uint32_t to);

/* The profile of a session that another jhot owns. */
struct copying {
	struct shared *from;
	struct imported *to;
};

/* Requests it: SHARE_COPY as it is now, SHARE_WATCH as it is at the end of the session. */
int copying_begin(
	struct copying *c, const struct hotspot *jvm, enum share_request request, struct err *err);
/*
 * Reads it to its end, for at most 30 s without progress. Returns c->to, which the caller owns from
 * then on, or NULL.
 */
struct imported *copying_finish(struct copying *c, struct err *err);
/* Ends the copy at the samples that have arrived. Returns c->to, which the caller then owns. */
struct imported *copying_take(struct copying *c);
void copying_done(struct copying *c); /* also after a failure of the others */

#endif
