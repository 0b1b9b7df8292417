/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace table: (event, thread, frames, flags) -> (count, weight), filled by signal handlers, drained by the publisher.
 *
 * Handlers insert into the active half. When the ring has space, the publisher flips the halves, waits until no handler is
 * inside the old one, then reads and clears it. Until the next flip the active half keeps aggregating; samples are refused only
 * when it is full. A third half replaces one that a handler has not left after ten flips: the half set aside is returned by the
 * first flip after the handler has left, or by trace_table_flip_aside.
 *
 *            handlers                                   publisher
 *               |  add: hash -> slot -> frames arena        |
 *               v                                           v
 *        [ half 0: slots | frames ]   <-- flip -->   [ half 1: slots | frames ]
 *
 * The caller owns the memory, zeroed and pre-mapped. trace_table_add and trace_table_again are lock-free and signal-safe and
 * may run in any thread; functions marked "Publisher" are for one thread.
 */
#ifndef JHOT_WALK_TRACE_TABLE_H
#define JHOT_WALK_TRACE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_table;

struct trace_table *trace_table_init(void *memory, size_t bytes); /* NULL if bytes is too small */

/* In flags: after the frames follow TRACE_SPAN_WORDS words with a trace id and a span id, which `count` includes. */
#define TRACE_HAS_SPAN   0x4000u
#define TRACE_SPAN_WORDS 3u

struct trace_key {
	const uint64_t *frames; /* packed, leaf first */
	uint32_t count;
	uint32_t thread;
	uint16_t event;
	uint16_t flags;
};

/* Adds to the entry of this key, inserting it if new. Returns false if there is no space (the caller counts table_full). */
bool trace_table_add(
	struct trace_table *table, const struct trace_key *key, uint32_t count, uint64_t weight);

/*
 * Adds to a trace that was published before, identified by the hash of its key. Stores no frames: the reader must already
 * know them, so this is not for a trace that was refused. Returns false if there is no space.
 */
bool trace_table_again(struct trace_table *table, uint64_t hash, const struct trace_key *key,
	uint32_t count, uint64_t weight);
uint64_t trace_table_hash(const struct trace_key *key);
/* The key without its span. */
static inline struct trace_key trace_key_without_span(const struct trace_key *key)
{
	struct trace_key bare = *key;

	if (key->flags & TRACE_HAS_SPAN)
		bare.count -= TRACE_SPAN_WORDS;
	bare.flags &= (uint16_t)~TRACE_HAS_SPAN;
	return bare;
}

/* Publisher: flips, then waits briefly for handlers to leave the old half. False if one is still inside: retry later. */
bool trace_table_flip(struct trace_table *table);
/*
 * Publisher, at the end of a session: makes the half that was set aside readable even if a handler is still inside; samples
 * being inserted at that moment are missing. Returns false if no half is set aside.
 */
bool trace_table_flip_aside(struct trace_table *table);

struct trace_entry {
	/* frames: in the inactive half, valid until trace_table_clear */
	struct trace_key key;
	bool again;    /* from trace_table_again: no frames, they were published under this hash */
	uint64_t hash; /* of the whole key */
	uint32_t count;
	uint64_t weight;
};

/* Publisher: iterates over the inactive half. *cursor starts at 0; returns false at the end. */
bool trace_table_next(const struct trace_table *table, uint32_t *cursor, struct trace_entry *out);
void trace_table_clear(struct trace_table *table);

/*
 * Publisher: sums the weights in the active half per event (ids below `events`), skipping traces with any flag of `without`.
 * Samples inserted concurrently may be missing.
 */
void trace_table_weigh(
	const struct trace_table *table, uint16_t without, uint64_t *weights, uint32_t events);

/* Publisher: bytes of the halves that were never active and therefore occupy no memory yet. */
size_t trace_table_untouched(const struct trace_table *table);

/* Fill level of the active half in percent; above 50 the publisher publishes early. */
unsigned trace_table_fill(const struct trace_table *table);

#endif
