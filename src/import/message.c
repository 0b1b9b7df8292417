/* SPDX-License-Identifier: Apache-2.0 */
/* The wire types of protocol buffers. */
#include "import/message.h"

#include <string.h>

enum { WIRE_VARINT, WIRE_64, WIRE_BYTES, WIRE_32 = 5 };

/* Returns false if the message ends within the number. */
static bool message_varint(struct message *p, uint64_t *value)
{
	uint64_t v = 0;

	for (unsigned shift = 0; p->at < p->end && shift < 64; shift += 7) {
		unsigned char c = *p->at++;

		v |= (uint64_t)(c & 127) << shift;
		if (c < 128) {
			*value = v;
			return true;
		}
	}
	p->bad = true;
	return false;
}

static bool message_fixed(struct message *p, size_t bytes, uint64_t *value)
{
	*value = 0;
	if (message_left(p) < bytes)
		return false;
	for (size_t i = 0; i < bytes; i++)
		*value |= (uint64_t)p->at[i] << (8 * i);
	p->at += bytes;
	return true;
}

bool message_next(struct message *p, struct message_field *f)
{
	const unsigned char *begin = p->at;
	uint64_t key, len;
	bool good = true;

	if (p->at == p->end || p->bad)
		return false;
	*f = (struct message_field){.number = 0};
	if (!message_varint(p, &key) || key >> 3 > UINT32_MAX || key < 8)
		goto bad;
	f->number = (unsigned)(key >> 3);
	switch (key & 7) {
	case WIRE_VARINT: good = message_varint(p, &f->value); break;
	case WIRE_64: good = message_fixed(p, 8, &f->value); break;
	case WIRE_32: good = message_fixed(p, 4, &f->value); break;
	case WIRE_BYTES:
		good = message_varint(p, &len) && len <= message_left(p);
		if (!good)
			break;
		f->is_bytes = true;
		f->bytes = message_of(p->at, (size_t)len);
		p->at += len;
		break;
	default: good = false;
	}
	if (good)
		return true;
bad:
	p->bad = true;
	p->at = begin;
	return false;
}

bool message_number(struct message_field *f, bool *first, uint64_t *value)
{
	if (f->is_bytes)
		return f->bytes.at < f->bytes.end && message_varint(&f->bytes, value);
	*value = f->value;
	if (!*first)
		return false;
	*first = false;
	return true;
}
