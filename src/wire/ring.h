/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring buffer between one writing agent and one reading front end.
 *
 * Neither side trusts the other: each keeps its own cursor in private memory and publishes it; the peer's published cursor is
 * checked against the ring's size before use. The writer never waits. The reader copies a record before it reads its contents.
 * One thread per side; structs belong to the caller, memory is borrowed.
 */
#ifndef JHOT_WIRE_RING_H
#define JHOT_WIRE_RING_H

#include "wire/record.h"

#include <stdbool.h>

struct ring_writer {
	struct wire_cursors *cursors;
	unsigned char *data;
	uint32_t bytes;
	uint64_t head; /* includes reserved, uncommitted records */
};

struct ring_reader {
	struct wire_cursors *cursors;
	const unsigned char *data;
	uint32_t bytes;
	uint64_t tail;
};

/* ring_bytes must be a power of two and at least 2 * WIRE_RECORD_MAX. */
void ring_writer_init(
	struct ring_writer *w, struct wire_cursors *cursors, void *data, uint32_t bytes);
/*
 * Returns space for a record of `size` bytes (rounded up to 8), its header filled in and the rest zeroed. NULL if the reader
 * is too far behind or size exceeds WIRE_RECORD_MAX. ring_commit makes all reserved records visible to the reader.
 */
void *ring_reserve(struct ring_writer *w, uint16_t type, uint32_t size);
void ring_commit(struct ring_writer *w);

void ring_reader_init(
	struct ring_reader *r, struct wire_cursors *cursors, const void *data, uint32_t bytes);
/*
 * Copies the next record into out (WIRE_RECORD_MAX bytes) and consumes it. Skips padding. Never waits. Returns its size, 0 if
 * there is none, -EPROTO if cursors or sizes are inconsistent (the ring is then unusable).
 */
int ring_read(struct ring_reader *r, void *out);
/* Number of unread bytes according to the writer, unchecked: only for pacing. */
uint64_t ring_reader_pending(const struct ring_reader *r);

#endif
