/* SPDX-License-Identifier: Apache-2.0 */
/* Single producer, single consumer; the two cursors are the only shared words. */
#include "wire/ring.h"

#include <errno.h>
#include <string.h>

static uint32_t ring_at(uint64_t cursor, uint32_t bytes)
{
	return (uint32_t)(cursor & (bytes - 1));
}

void ring_writer_init(
	struct ring_writer *w, struct wire_cursors *cursors, void *data, uint32_t bytes)
{
	*w = (struct ring_writer){.cursors = cursors, .data = data, .bytes = bytes};
	w->head = atomic_load_explicit(&cursors->head, memory_order_relaxed);
}

static uint64_t ring_writer_used(const struct ring_writer *w)
{
	uint64_t used = w->head - atomic_load_explicit(&w->cursors->tail, memory_order_acquire);

	/* An invalid tail counts as a full ring. */
	return used > w->bytes ? w->bytes : used;
}

static struct wire_record *ring_write_header(struct ring_writer *w, uint16_t type, uint32_t size)
{
	struct wire_record *rec = (struct wire_record *)(w->data + ring_at(w->head, w->bytes));

	memset(rec, 0, type == WIRE_REC_PAD ? sizeof(*rec) : size);
	rec->size = size;
	rec->type = type;
	w->head += size;
	return rec;
}

void *ring_reserve(struct ring_writer *w, uint16_t type, uint32_t size)
{
	uint32_t to_end = w->bytes - ring_at(w->head, w->bytes);

	size = (size + 7u) & ~7u;
	if (size < sizeof(struct wire_record) || size > WIRE_RECORD_MAX)
		return NULL;
	uint64_t need = size <= to_end ? size : (uint64_t)size + to_end;
	if (need > w->bytes - ring_writer_used(w))
		return NULL;
	if (size > to_end)
		ring_write_header(w, WIRE_REC_PAD, to_end);
	return ring_write_header(w, type, size);
}

void ring_commit(struct ring_writer *w)
{
	atomic_store_explicit(&w->cursors->head, w->head, memory_order_release);
}

void ring_reader_init(
	struct ring_reader *r, struct wire_cursors *cursors, const void *data, uint32_t bytes)
{
	*r = (struct ring_reader){.cursors = cursors, .data = data, .bytes = bytes};
	r->tail = atomic_load_explicit(&cursors->tail, memory_order_relaxed);
}

uint64_t ring_reader_pending(const struct ring_reader *r)
{
	return atomic_load_explicit(&r->cursors->head, memory_order_acquire) - r->tail;
}

/* True when a record of this size may be at the reader's position. */
static bool ring_check(const struct ring_reader *r, uint32_t size, uint64_t pending)
{
	uint32_t to_end = r->bytes - ring_at(r->tail, r->bytes);

	return size >= sizeof(struct wire_record) && size % 8 == 0 && size <= pending &&
	       size <= to_end;
}

int ring_read(struct ring_reader *r, void *out)
{
	for (;;) {
		uint64_t pending = ring_reader_pending(r);
		const unsigned char *at = r->data + ring_at(r->tail, r->bytes);
		struct wire_record rec;

		if (pending == 0)
			return 0;
		if (pending > r->bytes || pending % 8 != 0)
			return -EPROTO;
		memcpy(&rec, at, sizeof(rec));
		if (!ring_check(r, rec.size, pending))
			return -EPROTO;
		if (rec.type != WIRE_REC_PAD) {
			if (rec.size > WIRE_RECORD_MAX)
				return -EPROTO;
			memcpy(out, at, rec.size);
			/* the size that was checked, not a second read */
			memcpy(out, &rec, sizeof(rec));
		}
		r->tail += rec.size;
		atomic_store_explicit(&r->cursors->tail, r->tail, memory_order_release);
		if (rec.type != WIRE_REC_PAD)
			return (int)rec.size;
	}
}
