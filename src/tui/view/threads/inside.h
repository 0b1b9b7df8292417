/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the threads view: rows.c computes the rows, view.c has the list and its columns, pane.c the selected thread.
 */
#ifndef JHOT_TUI_VIEW_THREADS_INSIDE_H
#define JHOT_TUI_VIEW_THREADS_INSIDE_H

#include "profile/table/flat.h"
#include "profile/table/rank.h"
#include "tui/frame/ui.h"
#include "tui/screen/list.h"
#include "tui/view/pane.h"

/* --- rows.c ---------------------------------------------------------------------------------------------- */

/*
 * Rows of the threads view, computed from the profile: one per thread, one per pool (threads with similar names), or one
 * per active thread and one for the idle threads of each pool.
 *
 * Samples are those of the window. State, stack and lock are those of the window's last two seconds, so a frozen screen
 * shows its own time. User and system time are the kernel's since the last refresh. Embedded, zero-initialized; rows are
 * valid until the next update.
 */

#define THREAD_ROW_POOL 0x80000000u /* flag in an id */

enum thread_merge { THREADS_IDLE, THREADS_POOLS, THREADS_EACH, THREADS_MERGES };

struct thread_row {
	uint32_t id;     /* stable across updates: the thread, or THREAD_ROW_POOL | pool */
	uint32_t thread; /* of a pool: its first thread */
	uint32_t pool, members;
	bool idle; /* the idle threads of a pool */
	enum thread_kind kind;
	bool live;               /* user and system are known */
	bool ended;              /* has samples in the window, but no longer exists */
	bool carries_virtual;    /* has run virtual threads in the window */
	enum thread_state state; /* of a pool: the busiest thread's */
	float user, system;
	struct {
		uint64_t count, weight;        /* in the window */
	} use[EVENT_WALL];                     /* by event: cpu, alloc, lock */
	uint64_t wall[THREAD_STATES];          /* samples of the window by state */
	uint32_t member_states[THREAD_STATES]; /* of a pool: threads by current state */
	uint32_t stack; /* current stack, else the most frequent of the window */
	uint64_t stack_count;
	bool stack_is_now;
	uint32_t lock_stack; /* where it waited longest for locks */
	uint64_t lock_stack_weight;
	bool waits;
	bool holds;               /* owns a lock that another thread waits for */
	struct profile_wait wait; /* of a pool: the longest wait */
};

/* The stack last displayed for a thread. Two seconds have few samples, so the most frequent stack changes by chance. */
struct thread_recent {
	uint32_t stack, seen; /* seen: the last second with a sample of it */
};

struct thread_rows {
	enum thread_merge merge;    /* set by the caller before an update */
	const struct trail *opened; /* likewise: pools whose idle threads have rows of their own */
	struct thread_recent *recent; /* per thread */
	uint32_t recent_count;
	uint32_t recent_generation; /* filter_generation that they belong to */
	struct thread_row *list;
	uint32_t count, cap;
	uint32_t threads,
		states[THREAD_STATES]; /* existing threads; in the past, all of the window */
	uint32_t ended;                /* not counted in threads */
	uint32_t from, to;             /* the window */
	uint32_t span_s, alloc_span_s, lock_span_s; /* sampled seconds: the divisors of rates */
	uint64_t share_of; /* the total that shares refer to, with threads_shares */
	bool alloc_known, lock_known;
	bool requests; /* a row has had a request */
};

/* True when rows show shares of all samples: for files without CPU samples or without timestamps. */
bool threads_shares(const struct ui *ui);

void thread_rows_update(struct thread_rows *t, const struct ui *ui);
void thread_rows_done(struct thread_rows *t);

/* The thread's name, or the pool's with '*'. Borrowed from the profile. */
const char *thread_row_name(const struct profile *p, const struct thread_row *r);
/* Attributes of the request that its stack belongs to, "/cart GET"; "": none. */
void thread_row_request(
	const struct profile *p, const struct thread_row *r, char *out, size_t bytes);
/* Percent of one core; percent of its time spent waiting for locks. */
double thread_row_cpu(const struct thread_rows *t, const struct thread_row *r);
double thread_row_lock(const struct thread_rows *t, const struct thread_row *r);

/* --- pane.c: the selected thread ----------------------------------------------------------------- */

/*
 * The selected thread or pool, below the list or, on a wide terminal, beside it: its states, its stack, the
 * lock it waits for and that lock's owner; beside the list also its hottest methods in the shown window and
 * event.
 *
 * Embedded in the view's state, zero-initialized. Call thread_pane_invalidate after every update,
 * thread_pane_load before drawing and thread_pane_done at the end.
 */

struct thread_pane {
	struct pane_table hot;
	/* "waits 1.2s for Cart, held by worker-3"; "": it does not wait for a lock. */
	char waits[1024];
	char waited[512]; /* the lock that it waited for most in the window; likewise */
	uint32_t id;      /* of the row that it belongs to */
	bool loaded;
	bool sort; /* from scratch */
};

void thread_pane_done(struct thread_pane *p);
void thread_pane_invalidate(struct thread_pane *p, bool sort);
void thread_pane_load(const struct ui *ui, struct thread_pane *p, const struct thread_rows *t,
	const struct thread_row *r, bool beside);
void thread_pane_draw(const struct ui *ui, struct area area, const struct thread_pane *p,
	const struct thread_rows *t, const struct thread_row *r);
void thread_pane_draw_beside(const struct ui *ui, struct area area, const struct thread_pane *p,
	const struct thread_rows *t, const struct thread_row *r);

/*
 * Formats what a waiting thread waits for: "waits: CartService, held by http-nio-8080-exec-12". In fewer columns only the
 * owner: "by http-nio-8080-exec-12".
 */
void thread_pane_wait(
	const struct ui *ui, const struct thread_row *r, int cols, char *out, size_t bytes);

/* --- view.c -------------------------------------------------------------------------------------- */

/* By the weight of an event, or by name. */
enum threads_sort {
	SORT_CPU = EVENT_CPU,
	SORT_ALLOC = EVENT_ALLOC,
	SORT_LOCK = EVENT_LOCK,
	SORT_NAME
};

struct threads {
	struct view_state view; /* trail: pools whose idle threads are shown */
	struct thread_rows rows;
	struct thread_pane pane; /* of the selected row */
	int event;               /* the event of the last update */
	uint32_t wanted;         /* thread + 1 to select at the next update; 0: none */
};

#endif
