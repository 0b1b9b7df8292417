/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the threads view, derived from the profile: one per thread, or one per pool of threads with names alike, or one
 * per thread that did something and one for each pool's others.
 *
 * What was sampled is of the window; state, stack and what a thread waits for are of its last two seconds, so that
 * a frozen screen shows those of its own moment. Only user and system time are the kernel's of just now. Embedded,
 * zero-initialised; valid until the next update.
 */
#ifndef JHOT_TUI_VIEW_THREADS_ROWS_H
#define JHOT_TUI_VIEW_THREADS_ROWS_H

#include "tui/frame/ui.h"

#define THREAD_ROW_POOL 0x80000000u /* in an id */

enum thread_merge { THREADS_IDLE, THREADS_POOLS, THREADS_EACH, THREADS_MERGES };

struct thread_row {
	uint32_t id;     /* the same in each update: the thread, or THREAD_ROW_POOL | pool */
	uint32_t thread; /* the first of its pool */
	uint32_t pool, members;
	bool idle; /* of a pool: those that did nothing in the window, and do nothing now */
	enum thread_kind kind;
	bool live;               /* user and system are known */
	bool ended;              /* in the window it ran, now it does not exist any more */
	bool carries_virtual;    /* it was seen to run virtual threads */
	enum thread_state state; /* of a pool: of the busiest */
	float user, system;
	struct {
		uint64_t count, weight;        /* of the window */
	} use[EVENT_WALL];                     /* per event: cpu, alloc, lock */
	uint64_t wall[THREAD_STATES];          /* samples of the window by state */
	uint32_t member_states[THREAD_STATES]; /* of a pool: its threads now */
	uint32_t stack; /* where it is; if that is not known, where most of its samples were */
	uint64_t stack_count;
	bool stack_is_now;
	uint32_t lock_stack; /* where it waited for locks most */
	uint64_t lock_stack_weight;
	bool waits;
	bool holds;               /* another one waits for what it has */
	struct profile_wait wait; /* of a pool: the longest */
};

/* The stack that stood for a thread last: samples of two seconds are few, and change by chance. */
struct thread_held {
	uint32_t stack, seen; /* seen: the last second that had it */
};

struct thread_rows {
	enum thread_merge merge;    /* set before an update, as is the next */
	const struct trail *opened; /* pools whose idle threads are rows of their own */
	struct thread_held *held;   /* per thread */
	uint32_t held_count;
	uint32_t held_version; /* of the filter that they passed */
	struct thread_row *list;
	uint32_t count, cap;
	uint32_t threads,
		states[THREAD_STATES]; /* all that exist now, in the past all of the window */
	uint32_t ended;                /* beside these */
	uint32_t from, to;             /* the window */
	uint32_t span_s, alloc_span_s,
		lock_span_s; /* what rates divide by: the seconds sampled of it */
	uint64_t share_of;   /* threads_shares: what shares are of */
	bool alloc_known, lock_known;
};

/* In a file without CPU time, or without time, what a thread has is a share of all. */
bool threads_shares(const struct ui *ui);

void thread_rows_update(struct thread_rows *t, struct ui *ui);
void thread_rows_done(struct thread_rows *t);

/* Its name, a pool's with '*'; the pointer stays. */
const char *thread_row_name(const struct profile *p, const struct thread_row *r);
/* Percent of one core; percent of its time waited for locks. */
double thread_row_cpu(const struct thread_rows *t, const struct thread_row *r);
double thread_row_lock(const struct thread_rows *t, const struct thread_row *r);

#endif
