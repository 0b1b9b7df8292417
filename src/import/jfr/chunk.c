/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of chunks, and the events in them. */
#include "import/jfr/jfr.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC       "FLR"
#define MAGIC_BYTES 4
#define PIECE       ((size_t)1 << 20)
#define COMPRESSED  1 /* in the last byte of a header */

bool import_is_jfr(const unsigned char *head, size_t bytes)
{
	return bytes >= MAGIC_BYTES && !memcmp(head, MAGIC, MAGIC_BYTES);
}

static uint64_t big_endian(const unsigned char *at, int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | *at++;
	return value;
}

static int head_check(struct jfr *j, const unsigned char *head, uint64_t size)
{
	if (memcmp(head, MAGIC, MAGIC_BYTES) != 0)
		return flight_bad(j, 0, "this is not the start of a JFR chunk");
	if (big_endian(head + 4, 2) < 2)
		return flight_bad(j, 4,
			"this is a flight recording of Oracle JDK 7 or 8, whose format is not "
			"supported");
	if (big_endian(head + 4, 2) > 2)
		return flight_bad(j, 4,
			"this flight recording has a later format than version 2, which is not "
			"supported");
	if (!(head[JFR_HEAD - 1] & COMPRESSED))
		return flight_bad(j, JFR_HEAD - 1, "uncompressed integers are not supported");
	if (!size)
		return flight_bad(j, 8,
			"this chunk is incomplete: its JVM is still writing it, or was killed");
	if (size < JFR_HEAD)
		return flight_bad(j, 8, "the chunk is smaller than its header");
	if (size > JFR_CHUNK)
		return flight_bad(j, 8, "the chunk is larger than 1 GiB");
	if (!big_endian(head + 56, 8))
		return flight_bad(j, 56, "the clock frequency is 0");
	return 0;
}

/*
 * Reads a chunk. Returns 1, 0 at the end of the file, or -1. Memory grows with the actual data, not
 * with the stated size.
 */
static int chunk_read(struct jfr *j)
{
	unsigned char head[JFR_HEAD];
	int rc = input_read(j->im->in, head, sizeof(head), j->err);

	j->damaged = rc < 0;
	if (rc <= 0)
		return rc;
	j->constants_at = big_endian(head + 16, 8);
	j->metadata_at = big_endian(head + 24, 8);
	j->start_ns = big_endian(head + 32, 8);
	j->duration_ns = big_endian(head + 40, 8);
	j->start_ticks = big_endian(head + 48, 8);
	j->ticks_per_s = big_endian(head + 56, 8);
	if (head_check(j, head, big_endian(head + 8, 8)))
		return -1;
	j->size = JFR_HEAD;
	for (size_t left = big_endian(head + 8, 8) - JFR_HEAD; left;) {
		size_t piece = left < PIECE ? left : PIECE;

		if (j->size + piece > j->capacity) {
			j->capacity = (j->size + piece) * 2;
			j->im->reader_bytes = j->capacity;
			if (feed_check(j->im, j->err))
				return -1;
			j->bytes = xreallocarray(j->bytes, j->capacity, 1);
		}
		rc = input_read(j->im->in, j->bytes + j->size, piece, j->err);
		if (rc <= 0)
			return flight_bad(j, j->size, "the file ends within a chunk");
		j->size += piece;
		left -= piece;
	}
	if (j->size == JFR_HEAD)
		return flight_bad(j, 8, "the chunk is empty");
	memcpy(j->bytes, head, sizeof(head));
	return feed_check(j->im, j->err) ? -1 : 1;
}

typedef int block_fn(struct jfr *j, uint64_t type, struct jfr_cursor *c);

/* One pass over the events of the chunk. */
static int chunk_blocks(struct jfr *j, block_fn *fn)
{
	struct jfr_cursor c = {JFR_HEAD, j->size}, block;
	unsigned since = 0;

	while (c.at < c.end) {
		uint64_t size, type;
		size_t begin = c.at;

		if (!flight_read_varint(j, &c, &size) || size > j->size - begin ||
			size <= c.at - begin)
			return flight_bad(j, begin, "an event is empty or exceeds its chunk");
		block = (struct jfr_cursor){c.at, begin + size};
		if (!flight_read_varint(j, &block, &type))
			return flight_bad(j, begin, "an event has no type");
		if (fn(j, type, &block))
			return -1;
		c.at = begin + size;
		if (++since % 65536 == 0 && feed_check(j->im, j->err))
			return -1;
	}
	return 0;
}

/*
 * The three passes: constants; settings, which may be anywhere; samples and vitals. Types 0 and 1
 * are metadata and constants.
 */
static int block_constants(struct jfr *j, uint64_t type, struct jfr_cursor *c)
{
	return type == 1 ? flight_constants(j, c) : 0;
}

static enum jfr_known block_known(const struct jfr *j, uint64_t type)
{
	uint32_t index = type > 1 ? flight_type_find(j, type) : JFR_NONE;

	return index == JFR_NONE ? KNOWN_NONE : j->types[index].known;
}

static int block_facts(struct jfr *j, uint64_t type, struct jfr_cursor *c)
{
	return flight_event_facts(j, block_known(j, type), c);
}

static int block_event(struct jfr *j, uint64_t type, struct jfr_cursor *c)
{
	enum jfr_known known = block_known(j, type);

	return known < KNOWN_SETTING ? flight_event_sample(j, known, c)
				     : flight_reading(j, known, c);
}

static int chunk_import(struct jfr *j)
{
	j->work = 0;
	j->im->reader_bytes = j->capacity;
	if (!j->chunks)
		j->first_ns = j->start_ns;
	uint64_t end = j->start_ns >= j->first_ns ? j->start_ns - j->first_ns : 0;
	if (j->duration_ns > FEED_SECONDS * NS_PER_S || end > FEED_SECONDS * NS_PER_S)
		return flight_bad(
			j, 32, "the chunk is implausibly long, or far from the first one");
	end += j->duration_ns;
	if (end > j->im->out->duration_ns)
		j->im->out->duration_ns = end;
	if (flight_metadata(j) || chunk_blocks(j, block_constants) ||
		chunk_blocks(j, block_facts) || chunk_blocks(j, block_event))
		return -1;
	return flight_events_feed(j);
}

/* The last chunk of a killed JVM is incomplete and was not added to the profile: replaces the error by a note. */
static int chunk_torn(struct jfr *j, int rc)
{
	struct imported *out = j->im->out;

	if (rc >= 0 || !j->damaged || !j->chunks)
		return rc;
	snprintf(out->note, sizeof(out->note),
		"The file is damaged or incomplete from byte %" PRIu64 " on; the part before that "
		"was read: %" PRIu64 " chunk%s.",
		j->offset, j->chunks, plural(j->chunks));
	if (j->err)
		*j->err = (struct err){0};
	return 0;
}

int import_jfr(struct import *im, struct err *err)
{
	struct jfr j = {.im = im, .err = err};
	int rc;

	im->out->timed = true;
	for (int i = 0; i < KNOWN_TYPES; i++)
		j.known[i] = JFR_NONE;
	while ((rc = chunk_read(&j)) > 0 && !(rc = chunk_import(&j))) {
		j.offset += j.size;
		j.chunks++;
	}
	rc = chunk_torn(&j, rc);
	if (!rc)
		profile_set_start(im->p, j.first_ns);
	flight_types_done(&j);
	free(j.bytes);
	free(j.samples);
	free(j.readings);
	buf_done(&j.text);
	buf_done(&j.more);
	return rc;
}
