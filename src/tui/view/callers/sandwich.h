/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The callers, callees, lines and threads of one method.
 *
 * Each sample counts once: the caller is that of the outermost occurrence on the stack, the callee that of the
 * innermost. Computed from a query; the caller frees it. Ids are valid until the profile's next eviction. Rows are
 * sorted by value, ties by id; sandwich_rank then applies the stable order of a live list.
 */
#ifndef JHOT_TUI_VIEW_CALLERS_SANDWICH_H
#define JHOT_TUI_VIEW_CALLERS_SANDWICH_H

#include "profile/profile.h"
#include "profile/table/rank.h"

struct sandwich_row {
	uint32_t id;  /* method, thread or line; PROFILE_NONE: the root, or self */
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

/* Texts of a part: its title, the name of the row PROFILE_NONE, and what its rows are ("caller"). */
struct sandwich_words {
	const char *title, *none, *noun;
};
extern const struct sandwich_words sandwich_words[SANDWICH_KINDS];

struct sandwich {
	uint32_t method;
	uint8_t type; /* its most frequent frame type */
	uint64_t self, self_count, total, total_count;
	uint64_t sum, sum_count; /* of the window */
	double samples;          /* effective sample size, see error.h */
	struct sandwich_part parts[SANDWICH_KINDS];
};

struct sandwich *sandwich_new(
	const struct profile *p, const struct profile_query *q, uint32_t method);
void sandwich_free(struct sandwich *s);

/* The displayed order of each part. Embedded, zero-initialized; end with sandwich_order_done. */
struct sandwich_order {
	struct rank ranks[SANDWICH_KINDS];
	uint32_t method; /* the method it belongs to */
};

/* Reorders the rows, keeping them in place until the data justifies a swap (rank.h). */
void sandwich_rank(struct sandwich_order *o, struct sandwich *s, bool fresh, bool frozen);
void sandwich_order_done(struct sandwich_order *o);

#endif
