/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring between one writing agent and one reading front end.
 *
 * Writer and reader are opaque to each other: each keeps its own cursor in private memory and publishes
 * it; what the peer published is checked against the ring's size before use. The writer never waits.
 * The reader copies a record out before looking inside. One thread per side.
 */
#ifndef JHOT_WIRE_RING_H
#define JHOT_WIRE_RING_H

#include "wire/record.h"

#include <stdbool.h>

struct ring_writer {
	struct wire_cursors *cursors;
	unsigned char *data;
	uint32_t bytes;
	uint64_t head; /* with what is reserved but not committed */
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
 * ring_reserve: space for a record of so many bytes (rounded up to 8), its header filled in and the
 * rest zeroed; NULL when the reader is too far behind or the size is over WIRE_RECORD_MAX. Reserved
 * records become visible together at ring_commit.
 */
void *ring_reserve(struct ring_writer *w, uint16_t type, uint32_t size);
void ring_commit(struct ring_writer *w);

void ring_reader_init(
	struct ring_reader *r, struct wire_cursors *cursors, const void *data, uint32_t bytes);
/*
 * ring_read: copy the next record into out (WIRE_RECORD_MAX bytes). Returns its size, 0 when there is
 * none, -EPROTO when cursors or sizes make no sense (the ring is then dead). Padding is skipped.
 */
int ring_read(struct ring_reader *r, void *out);
/* Bytes written and not read; for pacing, not for trust. */
uint64_t ring_reader_pending(const struct ring_reader *r);

#endif
