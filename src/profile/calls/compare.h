/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The difference between the selected calls of a window and its other calls: below which callees, and in which state, they spend
 * a larger share of their time. The same for one selection of calls as a call tree.
 *
 * Significance is that of profile/diff: side A is the other calls, side B the selected ones, in up to six groups each by their time,
 * which count as recordings of the side. Its stacks begin with the measured method, have only methods of the program, and end with
 * a frame of its own kind for where the time was spent and in which state: "Repo.save waits for Cache [lock]".
 *
 * Single-threaded, does not block. O(polls of the window).
 */
#ifndef JHOT_PROFILE_CALLS_COMPARE_H
#define JHOT_PROFILE_CALLS_COMPARE_H

#include "profile/calls/calls.h"
#include "profile/diff/diff.h"

/* A node of the call tree of both sides, in depth-first order, children by falling share of the selected calls. */
struct calls_node {
	uint32_t method;       /* of diff->both */
	unsigned depth;        /* 0: the measured method */
	bool place;            /* a leaf: a place and a state, else a callee */
	enum call_state state; /* of a place */
	double slow, other;    /* shares of the time of the selected calls, and of the others */
	bool sure;             /* the difference is significant, and more than CALLS_DIFFERS */
};

struct calls_comparison {
	struct diff *diff;
	struct calls_node *nodes;
	uint32_t count;
	uint32_t slow_calls, other_calls;
	double slow_ns, other_ns; /* mean duration */
};

/*
 * q selects the calls by its durations; all others that it would select without them are compared with them. NULL: one of both sides
 * has no calls. The caller frees it.
 */
struct calls_comparison *calls_compare(const struct profile *p, const struct calls_query *q);
void calls_comparison_free(struct calls_comparison *c);

/* True if a cause (calls_causes) is one of the significant differences. */
bool calls_comparison_confirms(
	const struct calls_comparison *c, const struct profile *p, const struct calls_cause *cause);

#endif
