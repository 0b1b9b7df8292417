/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HotSpot's compressed line numbers (CompressedLineNumberReadStream): a byte of 5 bits of bci and 3 of line, both
 * added to what was before; 0xff and two signed UNSIGNED5 numbers where that is too little; 0 ends the table.
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
	int64_t at = 0, line = 0, found_at = -1; /* sums of 32 bits, before they are checked */
	int found = 0;

	for (;;) {
		uint32_t b = byte_next(&s);

		if (!b) /* the end, or past what was read */
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
