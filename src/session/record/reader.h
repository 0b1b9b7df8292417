/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records into the model: the one place that looks inside what the agent wrote.
 *
 * Fed with records copied out of a ring or a file, one by one. A record whose own sizes do not fit into it is a
 * protocol error; an unknown type is passed over; a reference to something that was never sent is named
 * as such, so that its samples still count. One thread.
 */
#ifndef JHOT_SESSION_RECORD_READER_H
#define JHOT_SESSION_RECORD_READER_H

#include "base/err.h"
#include "profile/profile.h"
#include "session/record/frames.h"
#include "session/record/thread_ids.h"
#include "wire/layout.h"

struct reader;

/* start_ns: second 0 on the agent's monotonic clock. Both pointers are the caller's. */
struct reader *reader_new(struct profile *profile, struct frames *frames, uint64_t start_ns);
void reader_free(struct reader *r);

/* For a target in another PID namespace: what its threads are called here. */
void reader_on_tid(struct reader *r, struct tids *tids);

/* Called with each module that the agent announces. */
typedef void reader_module_fn(void *ctx, uint32_t id, const struct proc_map *m);
void reader_on_module(struct reader *r, reader_module_fn *fn, void *ctx);

/*
 * reader_take: one record, `size` bytes that are all there (at least a struct wire_record, a multiple of 8).
 * limit_s: seconds beyond which time cannot have come. 0, or -1 with an error and the session is over.
 */
int reader_take(struct reader *r, const struct wire_record *rec, uint32_t size, uint64_t limit_s,
	struct err *err);

/* reader_trace_fits: do its frames lie within this many bytes? */
bool reader_trace_fits(const struct wire_trace *rec, uint32_t size);

/* reader_event: an event is switched on (or off) now. */
void reader_event(struct reader *r, uint64_t time_ns, int event, bool on);

/* What it has taken so far. */
struct reader_stats {
	uint64_t samples;
	uint64_t first_ns; /* when the first event was switched on, else 0 */
	uint64_t tick_ns;  /* of the last TICK, 0 before the first */
	uint64_t ticks;
	uint64_t unknown_traces; /* samples of traces that were never sent */
	uint64_t skipped;        /* records of unknown types */
};
const struct reader_stats *reader_stats(const struct reader *r);

/* The agent's text of the last NOTE, "" if none. */
const char *reader_note(const struct reader *r);

#endif
