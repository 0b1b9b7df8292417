/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One method between those that call it and those that it calls, with its lines and threads.
 *
 * Every sample counts once: its caller is that of the outermost occurrence on the stack, its callee that
 * of the innermost. Derived from a query like a flat; the caller frees it. Rows are sorted, largest
 * first, ties by id; sandwich_settle then brings them into the stable order of a live list.
 */
#ifndef JHOT_TUI_VIEW_CALLERS_SANDWICH_H
#define JHOT_TUI_VIEW_CALLERS_SANDWICH_H

#include "profile/profile.h"
#include "profile/table/rank.h"

struct sandwich_row {
	uint32_t id;  /* method, thread, line; PROFILE_NONE: the root, or itself */
	uint8_t type; /* enum frame_type, of methods */
	uint64_t count, value;
};

struct sandwich_part {
	struct sandwich_row *rows;
	uint32_t count;
};

enum sandwich_kind {
	SANDWICH_CALLERS,
	SANDWICH_CALLEES,
	SANDWICH_LINES,
	SANDWICH_THREADS,
	SANDWICH_KINDS
};

struct sandwich {
	uint32_t method;
	uint8_t type; /* how it ran most */
	uint64_t self, self_count, total, total_count;
	uint64_t sum, sum_count; /* of the window */
	double samples;          /* as sure as so many equal ones, see error.h */
	struct sandwich_part parts[SANDWICH_KINDS];
};

struct sandwich *sandwich_new(
	const struct profile *p, const struct profile_query *q, uint32_t method);
void sandwich_free(struct sandwich *s);

/* The order of the rows as last shown, per part; embedded, zero-initialised. */
struct sandwich_order {
	struct rank ranks[SANDWICH_KINDS];
	uint32_t method; /* whose they are */
};

/* sandwich_settle: rows keep their places until the data justifies a move (rank.h). */
void sandwich_settle(struct sandwich_order *o, struct sandwich *s, bool fresh, bool hold);
void sandwich_order_done(struct sandwich_order *o);

#endif
