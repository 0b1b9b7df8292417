/* SPDX-License-Identifier: Apache-2.0 */
/* The time of calls as samples of a profile: embedded, used by extract.c and compare.c. */
#ifndef JHOT_PROFILE_CALLS_PIECES_H
#define JHOT_PROFILE_CALLS_PIECES_H

#include "profile/calls/calls.h"

/* Time spent in one stack and state. second: of the profile that they are fed to. */
struct call_piece {
	uint32_t second, stack, thread, count;
	enum thread_state state;
	uint64_t ns;
};
struct call_pieces {
	struct call_piece *list;
	uint32_t count, cap;
};

/*
 * The parts of a call, in order; they begin and end with the call's estimated begin and end. The caller frees them. NULL: none is
 * retained.
 */
struct call_part *call_parts(const struct profile *p, const struct call *call, uint32_t *count);

void call_pieces_add(struct call_pieces *c, const struct call_piece *piece);
/* Adds them to EVENT_WALL of a profile, as one sample per stack, thread and state of a second, and frees them. */
void call_pieces_feed(struct call_pieces *c, struct profile *to, uint64_t interval);

#endif
