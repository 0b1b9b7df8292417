/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single calls of one method, reconstructed from polls of the threads inside it, and what they say of its latency.
 *
 * Polls of one thread belong to the same call while the address of its frame stays the same and the method is not entered there.
 * Where entries are not recorded, the contents of the callers' frames must stay the same instead. A call began between the last poll before it and its first one, and ended between its last poll and the next:
 *
 *     poll        poll      poll      poll        poll
 *   outside      inside    inside    inside     outside
 *      |---begin---|====== certainly inside ===|----end----|
 *      begin_from  begin_to                 end_from      end_to
 *
 * So a call that spans k polls is known to within two intervals, and one that is shorter than an interval is seen with a
 * probability of its length divided by the interval. Estimates account for both, and for calls that last beyond the window.
 *
 * A profile keeps the calls of one method at a time. Times are ns since second 0. Single-threaded, like the profile.
 */
#ifndef JHOT_PROFILE_CALLS_CALLS_H
#define JHOT_PROFILE_CALLS_CALLS_H

#include "profile/profile.h"

#define CALLS_MAX   32768u  /* retained; the oldest are overwritten */
#define CALLS_POLLS 262144u /* likewise, of all calls */

/* What a call did, by interval between two polls. */
enum call_state {
	CALL_CPU,
	CALL_RUNNABLE, /* waited for a core */
	CALL_LOCK,     /* a monitor, or a lock of java.util.concurrent */
	CALL_IO,
	CALL_SLEEP,
	CALL_WAIT, /* Object.wait */
	CALL_PARK,
	CALL_SAFEPOINT, /* a garbage collection or another safepoint */
	CALL_SHORT,     /* waits shorter than an interval, of unknown kind */
	CALL_STATES
};
extern const char *const call_state_names[CALL_STATES]; /* "cpu", "runnable", ... */

/* --- feeding --------------------------------------------------------------------------------- */

/* Discards all calls and starts measuring a method. name: its display name, copied; NULL: stop. interval: between polls, ns. */
void calls_begin(struct profile *p, const char *name, uint64_t interval);

/* See struct wire_poll, whose fields these are. */
struct profile_poll {
	uint32_t thread, stack;
	enum thread_state state;
	bool inside, inlined, counted, recorded, recursive, estimate, starts;
	uint64_t time_ns, since_ns, before_ns;
	uint64_t frame, outside, values;
	uint64_t cpu_ns, delay_ns;
	uint32_t collections[2];
	uint32_t entries, entries_here;
	uint64_t first_ns, last_ns; /* of the entries */
	uint32_t
		virtual_id; /* of the virtual thread: several may share `thread`; 0: a platform thread */
	uint32_t weight; /* the number of threads that it represents; 0: one */
};
void calls_add_poll(struct profile *p, const struct profile_poll *poll);

/* --- reading --------------------------------------------------------------------------------- */

/*
 * True for the method "a.b.Outer$Inner.m" and the patterns "m", "Inner.m", "Outer$Inner.m", "b.Outer$Inner.m", "a.b.Outer$Inner.m".
 */
bool calls_pattern_matches(const char *pattern, const char *method);
const char *calls_name(const struct profile *p); /* NULL: no method is measured */
uint64_t calls_interval(const struct profile *p);
/* Since when the entries of calls are recorded, so that calls are counted exactly; 0: they are not. */
uint64_t calls_counted_ns(const struct profile *p);

struct call {
	uint64_t number; /* ascending in order of their first polls; valid while retained */
	uint32_t thread;
	uint32_t polls;
	/* The number of calls that it represents: only a random subset of the virtual threads is polled. */
	uint32_t weight;
	uint64_t gap_ns; /* between its first poll and the one before */
	uint64_t begin_from, begin_to, end_from, end_to; /* while it lasts end_to is UINT64_MAX */
	uint64_t state_ns[CALL_STATES];                  /* of the estimated duration */
	bool counted;   /* its entry was recorded, so its begin is exact */
	bool inlined;   /* may be several calls */
	bool uncertain; /* a collection in its course may hide that it is several calls */
};
/* The best estimates of its begin and end. */
static inline uint64_t call_begin_ns(const struct call *call)
{
	return call->begin_from + (call->begin_to - call->begin_from) / 2;
}
static inline uint64_t call_end_ns(const struct call *call)
{
	return call->end_to == UINT64_MAX ? call->end_from
					  : call->end_from + (call->end_to - call->end_from) / 2;
}
/* The best estimate of the duration; of a call that lasts: so far. */
uint64_t call_duration_ns(const struct call *call);
uint64_t call_error_ns(const struct call *call);

/*
 * Converts times by state into shares. Waits shorter than an interval, whose kind no poll has seen, are divided like those that
 * polls have seen, if any.
 */
void calls_normalize(double states[CALL_STATES]);

/* Which calls: those that began in [from_ns, to_ns). Calls that may have begun before from_ns are left out. */
struct calls_query {
	uint64_t from_ns, to_ns;
	uint32_t pool;           /* only threads of this pool; 0: all */
	const char *threads;     /* only threads whose names match ("http-*"); NULL: all */
	uint64_t min_ns, max_ns; /* only these durations; max_ns 0: no limit */
};

/* True for a call of the query's range of durations. */
static inline bool calls_in_range(const struct calls_query *q, const struct call *call)
{
	uint64_t ns = call_duration_ns(call);

	return ns >= q->min_ns && (!q->max_ns || ns < q->max_ns);
}

typedef void calls_each_fn(void *ctx, const struct call *call);
void calls_each(const struct profile *p, const struct calls_query *q, calls_each_fn *fn, void *ctx);

#define CALLS_BUCKETS      96             /* of the histogram: 8 per factor of 4 */
#define CALLS_BUCKET_FIRST (50ull * 1000) /* upper end of the first bucket, ns */
#define CALLS_UNKNOWN      UINT64_MAX

struct calls_summary {
	uint32_t seen;    /* calls recognized, */
	uint32_t lasting; /* of them, those that have not ended */
	/* Estimated number of calls that began, and its standard error. Entries may be recorded of calls that no poll has found. */
	double calls, error;
	bool counted; /* entries were recorded: `calls` is exact but for threads that were not polled */
	bool estimated; /* entries were counted for a part of the time: `calls` is an estimate from that */
	double missed_threads; /* threads that ended before they were polled; their calls are missing */
	bool brief_threads;   /* few threads make more than one call, and many were missed */
	bool at_least;        /* `calls` is a lower bound: short_calls or brief_threads */
	bool short_calls;     /* most are shorter than an interval */
	double seconds;       /* length of the window */
	uint64_t interval_ns; /* median time between polls of a thread inside */
	/* Durations, ns. CALLS_UNKNOWN: shorter than two intervals, or beyond the longest call that has ended. */
	uint64_t p50, p90, p99, p999, max;
	double histogram[CALLS_BUCKETS];
	/* Shares of time, of all calls and of the slowest 1 % (at least one call). */
	double all[CALL_STATES], slowest[CALL_STATES];
	uint64_t slow_ns; /* the calls of at least this duration are the slowest 1 % */
	uint32_t slow_calls;
	double inlined;   /* share of the calls that were inlined */
	double uncounted; /* share of the calls whose entries were not recorded */
	double merged;    /* estimated share of the calls that look like one with the call before */
	double unpolled; /* share of the calls that only others represent: a random subset of the virtual threads is polled */
	double uncertain; /* share of the calls that are `uncertain` */
};
void calls_summarize(
	const struct profile *p, const struct calls_query *q, struct calls_summary *out);
/* Upper end of a bucket, ns. */
uint64_t calls_bucket_end(unsigned bucket);

/* The call's course: one part per poll, in order. Returns their number, at most `most`; the earliest may have been overwritten. */
struct call_part {
	uint64_t from_ns, to_ns;
	uint32_t stack;
	enum call_state state; /* with the largest share of the part */
};
uint32_t calls_parts(
	const struct profile *p, const struct call *call, struct call_part *out, uint32_t most);

/*
 * What distinguishes the calls of the query's range of durations: places below the method, with their share of the time of these
 * calls and of the others, by falling difference.
 */
#define CALLS_CAUSES 8
struct calls_cause {
	enum call_state state;
	uint32_t stack;     /* the most frequent stack of it */
	char where[160];    /* "Repo.save: socket read 10.0.0.5:5432" */
	double slow, other; /* shares of time */
	double slow_ms;     /* per slow call */
};
uint32_t calls_causes(
	const struct profile *p, const struct calls_query *q, struct calls_cause out[CALLS_CAUSES]);

/* --- for recordings: copying calls into another profile --------------------------------------- */

#define CALLS_NO_CLOCK UINT64_MAX /* cpu_ns of a virtual thread */

/* A poll of a call. The numbers of CPU time and run-queue delay have no common origin. */
struct call_poll {
	uint64_t time_ns, still_ns; /* still_ns: the thread was in the same place until then */
	uint64_t cpu_ns, delay_ns;
	uint32_t stack;
	enum call_state state;
};

/* Incremented by calls_begin; 0: no method was ever measured. */
uint32_t calls_generation(const struct profile *p);
/* The numbers of the retained calls: [*first, *end). */
void calls_range(const struct profile *p, uint64_t *first, uint64_t *end);
/* False: no longer retained. */
bool calls_get(const struct profile *p, uint64_t number, struct call *out);
/* The polls of a call, the latest first, as far as they are retained. Returns their number, at most `most`. */
uint32_t calls_polls(
	const struct profile *p, uint64_t number, struct call_poll *out, uint32_t most);
/* Appends a call with its polls, the latest first; its number is ignored. Invalid ones are ignored. */
void calls_restore(
	struct profile *p, const struct call *call, const struct call_poll *polls, uint32_t count);
/* Entries recorded in a tenth of a second since second 0; with CALLS_ESTIMATED, if they were counted only for a part of the time. */
#define CALLS_CELL_NS   100000000u
#define CALLS_ESTIMATED (1u << 31)
uint32_t calls_entries(const struct profile *p, uint64_t cell);
void calls_entries_restore(struct profile *p, uint64_t cell, uint32_t entries);

#endif
