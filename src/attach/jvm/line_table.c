/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HotSpot's compressed line numbers (CompressedLineNumberReadStream): each entry is a byte with 5 bits of bci delta and 3 bits
 * of line delta, or 0xff and two signed UNSIGNED5 deltas if that is too small. 0 ends the table.
 */
#include "attach/jvm/line_table.h"

#include <stdbool.h>

struct stream {
	const uint8_t *bytes;
	uint32_t at, count, excluded;
	bool over;
};

static uint32_t byte_next(struct stream *s)
{
	if (s->at < s->count)
		return s->bytes[s->at++];
	s->over = true;
	return 0;
}

static int32_t signed_next(struct stream *s)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < 5; i++) {
		uint32_t b = byte_next(s);

		if (s->over || b < s->excluded) {
			s->over = true;
			return 0;
		}
		sum += (b - s->excluded) << (6 * i);
		if (b < 192)
			break;
	}
	return (int32_t)(sum >> 1) ^ -(int32_t)(sum & 1);
}

int line_table_find(const uint8_t *table, uint32_t bytes, uint32_t excluded, uint16_t bci)
{
	struct stream s = {.bytes = table, .count = bytes, .excluded = excluded};
	/* 64 bits: sums of 32-bit deltas must not overflow before the check. */
	int64_t at = 0, line = 0, found_at = -1;
	int found = 0;

	for (;;) {
		uint32_t b = byte_next(&s);

		if (!b) /* end of table, or of the bytes read */
			break;
		if (b == 0xff) {
			at += signed_next(&s);
			line += signed_next(&s);
		} else {
			at += b >> 3;
			line += b & 7;
		}
		if (s.over || at < 0 || at > 65535 || line < 0 || line > 65535)
			return 0;
		if (at <= bci && at >= found_at) {
			found = (int)line;
			found_at = at;
		}
	}
	return s.over ? 0 : found;
}
