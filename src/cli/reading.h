/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a command line names, read with a line that says how far it is; and which of their seconds are meant. */
#ifndef JHOT_CLI_READING_H
#define JHOT_CLI_READING_H

#include "cli/line/args.h"
#include "import/import.h"

/*
 * The files of the operands as one profile, "-" is stdin; --memory is their limit. On a terminal one line tells how far it
 * is, once that takes longer. NULL: err says why.
 */
struct imported *reading_operands(const struct args *args, struct err *err);

/* The same, each for itself: list has space for as many as there are operands. On an error nothing is left in it. */
int reading_each(const struct args *args, struct imported **list, struct err *err);

/* --from and --to of what was read: seconds [*from, *to) of its profile; *to UINT32_MAX: all there are. */
int reading_span(const struct args *args, const struct imported *i, uint32_t *from, uint32_t *to,
	struct err *err);
/* How long a span lasts, as far as that is known. */
uint64_t reading_duration_ns(const struct imported *i, uint32_t from, uint32_t to);

#endif
