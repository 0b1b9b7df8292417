/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JVMs of `jhot top --all`: all instances of some names on this host, and JVMs on other hosts.
 *
 *   scan of this host -> a row per JVM of a name --+
 *   HOST:NAME          -> a row                  --+--> child: jhot relay TARGET -- stream --> profile, vitals, findings
 *
 * A child either opens a session or, if another jhot has one, copies that one's samples; for HOST:NAME it
 * connects over ssh. A JVM that hangs therefore delays only its own row. A child that ends is started again,
 * after a pause that doubles with each failure. Children end with this process, because their stdout is
 * closed.
 *
 * Single-threaded. Nothing blocks but fleet_free, which waits at most a few seconds for the sessions to end.
 */
#ifndef JHOT_CLI_LIVE_FLEET_H
#define JHOT_CLI_LIVE_FLEET_H

#include "cli/line/args.h"
#include "share/share.h"
#include "tui/frame/app.h"

/* The samples of a child. Reference-counted: by the row, until the child is replaced, and by a view that shows it. */
struct fleet_stream {
	struct profile *profile;
	struct shared *shared;
	unsigned users;
	pid_t pid;        /* of the JVM, if it is in our PID namespace; else 0 */
	bool begun;       /* the first message has arrived */
	struct err ended; /* kind ERR_NONE: it has not ended */
};

struct fleet;
/* Borrows the command line, whose operands are the names. NULL with an error if a name cannot be used. */
struct fleet *fleet_new(const struct args *args, struct err *err);
void fleet_free(struct fleet *f); /* NULL is allowed */
/* The operands, separated by blanks. */
const char *fleet_names(const struct fleet *f);
/*
 * Reads the samples that children have sent, starts and ends children, and scans for new JVMs. Call it at
 * least every few seconds.
 */
void fleet_step(struct fleet *f);
/*
 * Computes the rows. `shown`: the stream whose row is marked as shown; NULL: none. *busy: true while rows still wait for
 * their first seconds. Returns their number; *out is valid until the next call.
 */
int fleet_rows(
	struct fleet *f, const struct fleet_stream *shown, const struct app_jvm **out, bool *busy);
/* The stream of the row with this id, of which the caller becomes a user. NULL with an error if it has none. */
struct fleet_stream *fleet_use(struct fleet *f, int id, struct err *err);
void fleet_release(struct fleet_stream *s); /* NULL is allowed */

#endif
