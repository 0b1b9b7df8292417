/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records into the model: the one place that looks inside what the agent wrote.
 *
 * Fed with records copied out of a ring, one by one. A record whose own sizes do not fit into it is a
 * protocol error; an unknown type is passed over; a reference to something that was never sent is named
 * as such, so that its samples still count. One thread.
 */
#ifndef JHOT_SESSION_RECORD_READER_H
#define JHOT_SESSION_RECORD_READER_H

#include "base/err.h"
#include "profile/profile.h"
#include "symbols/symbols.h"
#include "wire/record.h"

#include <sys/types.h>

struct frames;
struct tids;
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
	uint64_t seen_ns;  /* since first_ns, of pauses between two TICKs a second at most */
	uint64_t ticks;
	uint64_t unknown_traces; /* samples of traces that were never sent */
	uint64_t skipped;        /* records of unknown types */
};
const struct reader_stats *reader_stats(const struct reader *r);

/* The agent's text of the last NOTE, "" if none. */
const char *reader_note(const struct reader *r);

/* --- frames.c ------------------------------------------------------------------------------------------ */

/*
 * The agent's frames into the model's: names of methods from METHOD records, of native and kernel code from symbols; NULL:
 * they have none. Memory grows with what was received, not with ids.
 */
struct buf;
struct frames *frames_new(struct profile *profile, struct symbols *symbols);
void frames_free(struct frames *f);

/* A mapped file, as frames number it. */
void frames_module(struct frames *f, uint32_t id, const struct proc_map *m);
/* Records, whose texts have been checked to lie within them. */
void frames_method(struct frames *f, const struct wire_method *rec);

/*
 * frames_ready: are the files read that name a trace's frames? false begins the reading. A frame that is asked for
 * before is called by its offset, and only then: later ones get their name.
 */
bool frames_ready(const struct frames *f, const struct wire_trace *rec);
/* The model's frame for the agent's; always one. */
uint32_t frames_get(struct frames *f, uint64_t wire_frame);
/* What a WIRE_FRAME_IO says that a thread waits for; false: its name is not known. The text is the caller's. */
bool frames_io(struct frames *f, uint64_t wire_frame, struct profile_io *out, struct buf *text);
/* What the model asks of a keeper (profile.h). */
void frames_keep(struct frames *f, enum profile_kind kind, bool leaving);
/* A frame that says why a stack is not what it should be: "[truncated]". */
uint32_t frames_reason(struct frames *f, const char *reason);

/* --- thread_ids.c -------------------------------------------------------------------------------------- */

/* The model's numbers of the agent's threads; those of threads that have left the model are given again. */
struct thread_ids;
struct thread_ids *thread_ids_new(struct profile *profile);
void thread_ids_free(struct thread_ids *t);
/* The model's number for the agent's id, a new one if it is not known. */
uint32_t thread_ids_get(struct thread_ids *t, uint32_t id, bool *known);
/*
 * The same for a virtual thread, which may be one of millions: beyond THREAD_IDS_VIRTUAL of them in the model those
 * that come share one thread for each pattern of names ("virtual-#*"), which this has named then.
 */
#define THREAD_IDS_VIRTUAL  16384u
#define THREAD_IDS_PATTERNS 1024u
uint32_t thread_ids_virtual(struct thread_ids *t, uint32_t id, const struct profile_thread *thread,
	bool *known, bool *shared);
/* A keeper's, for threads that leave: those that the model does not keep are not known any more. */
void thread_ids_leave(struct thread_ids *t);

/* --- tids.c -------------------------------------------------------------------------------------------- */

struct tids *tids_new(pid_t pid);
void tids_free(struct tids *t);
/* tids_here: our number of a thread that the target calls `there`, 0 if it is not (any more) to be found. NULL: the same. */
int tids_here(struct tids *t, int there);

#endif
