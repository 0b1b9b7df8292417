/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes the agent's records into the model: the only code that interprets the ring.
 *
 * Hostile input. Fed with records copied out of a ring, one by one. A record whose sizes exceed it is a protocol error; a
 * record of unknown type is skipped; a reference to something never sent gets a placeholder name, so that its samples still
 * count. Single-threaded, does not block.
 */
#ifndef JHOT_SESSION_RECORD_READER_H
#define JHOT_SESSION_RECORD_READER_H

#include "base/err.h"
#include "profile/profile.h"
#include "session/context/context.h"
#include "symbols/symbols.h"
#include "wire/control.h"
#include "wire/record.h"

#include <sys/types.h>

struct frames;
struct tids;
struct reader;

/* start_ns: second 0 on the agent's monotonic clock. profile and frames stay the caller's and must outlive the reader. */
struct reader *reader_new(struct profile *profile, struct frames *frames, uint64_t start_ns);
void reader_free(struct reader *r);

/* For a target in another PID namespace: translates its thread ids to ours. NULL: they are equal. */
void reader_on_tid(struct reader *r, struct tids *tids);

/* Called for each module that the agent announces; the path in *m is valid during the call. */
typedef void reader_module_fn(void *ctx, uint32_t id, const struct proc_map *m);
void reader_on_module(struct reader *r, reader_module_fn *fn, void *ctx);

/*
 * Decodes one record of `size` bytes, all present (at least a struct wire_record, a multiple of 8). limit_s: the current
 * second; later times are clamped to it. 0, or -1 with an error, after which the session must end.
 */
int reader_consume(struct reader *r, const struct wire_record *rec, uint32_t size, uint64_t limit_s,
	struct err *err);

/* True when the record's frames lie within `size` bytes. */
bool reader_trace_fits(const struct wire_trace *rec, uint32_t size);

/* Records that an event was switched on or off at this time. */
void reader_event(struct reader *r, uint64_t time_ns, int event, bool on);

/* Totals so far. */
struct reader_stats {
	uint64_t samples;
	uint64_t first_ns; /* when the first event was switched on; 0: not yet */
	uint64_t tick_ns;  /* time of the last TICK; 0: none yet */
	uint64_t seen_ns;  /* since first_ns, counting at most 1 s between two TICKs */
	uint64_t ticks;
	uint64_t unknown_traces; /* samples of traces that were never sent */
	uint64_t skipped;        /* records of unknown types */
};
const struct reader_stats *reader_stats(const struct reader *r);

/* The text of the agent's last NOTE; "": none. */
const char *reader_note(const struct reader *r);

/* --- frames.c ------------------------------------------------------------------------------------------ */

/*
 * Converts the agent's frames to the model's: names of methods come from METHOD records, those of native and kernel code from
 * symbols (NULL: they have none). Memory grows with the number of records, not with the values of ids.
 */
struct buf;
struct frames *frames_new(struct profile *profile, struct symbols *symbols);
void frames_free(struct frames *f);

/* Registers a mapped file under the id that frames use. */
void frames_module(struct frames *f, uint32_t id, const struct proc_map *m);
/* Registers a METHOD record, whose texts were checked to lie within it. */
void frames_method(struct frames *f, const struct wire_method *rec);

/*
 * The agent's ids of a method's versions and overloads, and the words of their parameters, for WIRE_OP_LATENCY. The pattern is
 * "handle", "Gateway.handle" or "com.shop.Gateway.handle"; "": none. frames_timed returns their number and sets *changed if they
 * have changed since the last call.
 */
void frames_time(struct frames *f, const char *pattern);
uint32_t frames_timed(
	struct frames *f, struct wire_timed_method out[WIRE_TIMED_METHODS], bool *changed);

/*
 * True when the files that name the trace's frames have been read; otherwise starts reading them. Until then frames_get
 * returns a provisional frame, named by its address, which later calls replace.
 */
bool frames_ready(const struct frames *f, const struct wire_trace *rec);
/* The model's frame for the agent's; a placeholder if it is unknown. */
uint32_t frames_get(struct frames *f, uint64_t wire_frame);
/*
 * Stores what a thread waits for, from a WIRE_FRAME_IO. False: its name is unknown. *out borrows from text, the
 * caller's.
 */
bool frames_io(struct frames *f, uint64_t wire_frame, struct profile_io *out, struct buf *text);
/* The child of the stack for a WIRE_FRAME_CONTEXT: a frame per attribute of the request. */
uint32_t frames_context(struct frames *f, uint64_t wire_frame, uint32_t stack);
/* Sets the names of these attributes; borrowed. */
void frames_name_attributes(struct frames *f, const struct process_context *names);
/* The pin callback of the profile (profile.h). */
void frames_pin(struct frames *f, enum profile_kind kind, bool leaving);
/* A pseudo frame for a defect of a stack: "[truncated]". */
uint32_t frames_reason(struct frames *f, const char *reason);

/* --- thread_ids.c -------------------------------------------------------------------------------------- */

/* Maps the agent's thread ids to the model's. Ids of threads that have left the model are reused. */
struct thread_ids;
struct thread_ids *thread_ids_new(struct profile *profile);
void thread_ids_free(struct thread_ids *t);
/* Maps an agent's id to the model's. *known false: the id is new. */
uint32_t thread_ids_get(struct thread_ids *t, uint32_t id, bool *known);
/*
 * The same for a virtual thread. There may be millions: beyond THREAD_IDS_VIRTUAL, they share a
 * thread per pattern of names ("virtual-#*"), which this function also names; shared is then true.
 */
#define THREAD_IDS_VIRTUAL  16384u
#define THREAD_IDS_PATTERNS 1024u
uint32_t thread_ids_virtual(struct thread_ids *t, uint32_t id, const struct profile_thread *info,
	bool *known, bool *shared);
/* Pin callback: removes the ids of threads that the model evicts. */
void thread_ids_forget(struct thread_ids *t);

/* Replaces the truncated name of one of HotSpot's own threads by the full one. */
void thread_name_complete(struct buf *name);

/*
 * Translates thread ids of a target in another PID namespace to ours, by NSpid of each of its threads. All threads are re-read
 * when an unknown one is requested, rate-limited by the cost.
 */
struct tids *tids_new(pid_t pid);
void tids_free(struct tids *t);
/* Our id of the thread that the target calls `there`; 0: not found or ended. t NULL: returns `there`. */
int tids_here(struct tids *t, int there);

#endif
