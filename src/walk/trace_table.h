/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace table: (event, thread, frames, flags) -> (count, weight), filled by handlers, drained by the publisher.
 *
 * Two halves. Handlers add to the active one; the publisher flips when it has space to publish, waits until
 * no handler is inside the old half, reads and clears it. If it cannot flip, the active half just goes on
 * aggregating; only when that is full too is a sample refused. A third half replaces one that a handler does not leave
 * for ten flips: it is returned by the first flip after the handler has left, or by trace_table_flip_aside.
 *
 *            handlers                                   publisher
 *               |  put: hash -> slot -> frames arena        |
 *               v                                           v
 *        [ half 0: slots | frames ]   <-- flip -->   [ half 1: slots | frames ]
 *
 * Memory is the caller's, zeroed and pre-mapped. trace_table_put is lock-free and signal-safe.
 */
#ifndef JHOT_WALK_TRACE_TABLE_H
#define JHOT_WALK_TRACE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_table;

struct trace_table *trace_table_init(void *memory, size_t bytes); /* NULL if too small */

struct trace_key {
	const uint64_t *frames; /* packed, leaf first */
	uint32_t count;
	uint32_t thread;
	uint16_t event;
	uint16_t flags;
};

/* false: no space (the caller counts table_full). */
bool trace_table_put(
	struct trace_table *table, const struct trace_key *key, uint32_t count, uint64_t weight);

/*
 * The same trace once more, by its hash: no frames are kept, its reader is expected to know them. Not for
 * a trace that was refused.
 */
bool trace_table_again(struct trace_table *table, uint64_t hash, const struct trace_key *key,
	uint32_t count, uint64_t weight);
uint64_t trace_table_hash(const struct trace_key *key);

/* Publisher: flip and wait for handlers to leave the old half; false if one is still inside (try later). */
bool trace_table_flip(struct trace_table *table);
/*
 * For the end: the half that was set aside, whoever is still inside. Samples that are being stored are missing. false: there is
 * none.
 */
bool trace_table_flip_aside(struct trace_table *table);

struct trace_entry {
	struct trace_key key; /* frames: in the inactive half, valid until trace_table_clear */
	bool again;           /* without frames: those of the trace with this hash */
	uint64_t hash;        /* of the whole key */
	uint32_t count;
	uint64_t weight;
};

/* Iterate over the inactive half: *cursor starts at 0; false at the end. */
bool trace_table_next(const struct trace_table *table, uint32_t *cursor, struct trace_entry *out);
void trace_table_clear(struct trace_table *table);

/*
 * Publisher: what the traces of the active half weigh by now, by event (those below `events`), without those that have one
 * of these flags. A sample that comes meanwhile may be missing.
 */
void trace_table_weigh(
	const struct trace_table *table, uint16_t without, uint64_t *weights, uint32_t events);

/* Publisher: bytes of the halves that were never active, and so take no memory yet. */
size_t trace_table_untouched(const struct trace_table *table);

/* How full the active half is, in percent: over 50 the publisher hurries. */
unsigned trace_table_fill(const struct trace_table *table);

#endif
