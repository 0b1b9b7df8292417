/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding varints, strings and records; looking up types and constants. Depends on no other file of this folder. */
#include "import/jfr/jfr.h"

#include "base/clock.h"
#include "base/utf8.h"

#include <stdio.h>

#define NUMBER_BYTES 9 /* the longest varint; its last byte has eight bits of payload */

enum { STRING_NULL, STRING_EMPTY, STRING_CONSTANT, STRING_UTF8, STRING_CHARS, STRING_LATIN1 };

int flight_bad(struct jfr *j, size_t at, const char *what)
{
	j->damaged = true;
	return err_set(j->err, ERR_INPUT, "%s: byte %llu: %s.", input_name(j->im->in),
		(unsigned long long)(j->offset + at), what);
}

bool flight_read_varint(const struct jfr *j, struct jfr_cursor *c, uint64_t *value)
{
	uint64_t v = 0;

	for (int i = 0; i < NUMBER_BYTES && c->at < c->end; i++) {
		uint64_t byte = j->bytes[c->at++];

		if (i == NUMBER_BYTES - 1 || byte < 128) {
			*value = v | byte << 7 * i;
			return true;
		}
		v |= (byte & 127) << 7 * i;
	}
	return false;
}

bool flight_skip(struct jfr_cursor *c, size_t bytes, size_t *at)
{
	if (bytes > c->end - c->at)
		return false;
	*at = c->at;
	c->at += bytes;
	return true;
}

bool flight_skip_string(const struct jfr *j, struct jfr_cursor *c)
{
	uint64_t len, one;
	size_t at;

	if (!flight_skip(c, 1, &at))
		return false;
	switch (j->bytes[at]) {
	case STRING_NULL:
	case STRING_EMPTY: return true;
	case STRING_CONSTANT: return flight_read_varint(j, c, &len);
	case STRING_UTF8:
	case STRING_LATIN1: return flight_read_varint(j, c, &len) && flight_skip(c, len, &at);
	case STRING_CHARS:
		if (!flight_read_varint(j, c, &len))
			return false;
		while (len--)
			if (!flight_read_varint(j, c, &one))
				return false;
		return true;
	default: return false;
	}
}

/* --- types, constants, times --------------------------------------------------------------------------- */

uint32_t flight_type_find(const struct jfr *j, uint64_t id)
{
	return hash_index_find(&j->type_index, hash_u64(id), NULL, NULL);
}

struct jfr_constant *flight_constant(struct jfr *j, enum jfr_known known, uint64_t key)
{
	if (j->known[known] == JFR_NONE || !key)
		return NULL;
	struct jfr_type *t = &j->types[j->known[known]];
	uint32_t at = hash_index_find(&t->index, hash_u64(key), NULL, NULL);
	return at == HASH_NONE ? NULL : &t->constants[at];
}

/* Converts ticks to ns, in floating point: the product may exceed 64 bits. */
uint64_t flight_ns(const struct jfr *j, uint64_t ticks)
{
	double ns = (double)ticks / (double)j->ticks_per_s * 1e9;

	return j->ticks_per_s == NS_PER_S ? ticks : ns < 1e18 ? (uint64_t)ns : 0;
}

uint64_t flight_time(const struct jfr *j, const struct jfr_record *r)
{
	uint64_t start = flight_value(r, SLOT_START);
	uint64_t chunk = j->start_ns >= j->first_ns ? j->start_ns - j->first_ns : 0;
	uint64_t into = start >= j->start_ticks ? flight_ns(j, start - j->start_ticks) : 0;

	if (into > j->duration_ns + NS_PER_S)
		into = j->duration_ns;
	return chunk + into;
}

/* --- strings --------------------------------------------------------------------------------- */

static void string_add(struct buf *out, uint32_t c)
{
	char text[5];

	buf_add(out, text, utf8_put(c < 0x110000 ? c : '?', text));
}

/*
 * The position of a string, or of the constant that it refers to; 0 if there is none. A constant
 * must not refer to another one.
 */
static size_t string_position(struct jfr *j, size_t at)
{
	struct jfr_cursor c = {at + 1, j->size};
	uint64_t key;

	if (at >= j->size || j->bytes[at] != STRING_CONSTANT)
		return at;
	struct jfr_constant *constant =
		flight_read_varint(j, &c, &key) ? flight_constant(j, KNOWN_STRING, key) : NULL;
	return constant && constant->at < j->size && j->bytes[constant->at] != STRING_CONSTANT
		       ? constant->at
		       : 0;
}

void flight_read_string(struct jfr *j, size_t at, size_t most, struct buf *out)
{
	size_t position = string_position(j, at);
	struct jfr_cursor c = {position + 1, j->size};
	uint64_t len, one;

	if (!position || position >= j->size || !flight_read_varint(j, &c, &len))
		return;
	switch (j->bytes[position]) {
	case STRING_UTF8:
		if (len <= c.end - c.at)
			buf_add(out, j->bytes + c.at, len < most ? len : most);
		break;
	case STRING_LATIN1:
		for (uint64_t i = 0; i < len && i < c.end - c.at && out->len < most; i++)
			string_add(out, j->bytes[c.at + i]);
		break;
	case STRING_CHARS:
		while (len-- && out->len < most && flight_read_varint(j, &c, &one))
			string_add(out, one < 0xd800 || (one > 0xdfff && one < 0x10000)
						? (uint32_t)one
						: '?');
		break;
	default: break;
	}
}

/* --- values -------------------------------------------------------------------------------------------- */

static bool read_real(const struct jfr *j, struct jfr_cursor *c, int bytes, uint64_t *value)
{
	size_t at;

	if (!flight_skip(c, (size_t)bytes, &at))
		return false;
	*value = 0;
	for (int i = 0; i < bytes; i++)
		*value = *value << 8 | j->bytes[at + (size_t)i];
	return true;
}

static int read_struct(
	struct jfr *j, uint32_t type, struct jfr_cursor *c, struct jfr_record *out, int nest);

/* Decodes a single value. *value: the number, or the position. out: receives the fields of a struct. */
static int read_value(struct jfr *j, const struct jfr_field *f, struct jfr_cursor *c,
	uint64_t *value, struct jfr_record *out, int nest)
{
	size_t at = c->at;
	bool good = true;

	*value = at;
	if (f->constant)
		return flight_read_varint(j, c, value)
			       ? 0
			       : flight_bad(j, at, "a number exceeds its event");
	if (f->index == JFR_NONE)
		return flight_bad(j, at, "a field of an undeclared type");
	switch (j->types[f->index].kind) {
	case KIND_NUMBER: good = flight_read_varint(j, c, value); break;
	case KIND_BYTE: good = read_real(j, c, 1, value); break;
	case KIND_FLOAT: good = read_real(j, c, 4, value); break;
	case KIND_DOUBLE: good = read_real(j, c, 8, value); break;
	case KIND_STRING: good = flight_skip_string(j, c); break;
	default: return read_struct(j, f->index, c, out, nest + 1);
	}
	return good ? 0 : flight_bad(j, at, "a field exceeds its event, or is malformed");
}

static bool is_position(const struct jfr *j, const struct jfr_field *f)
{
	if (f->array || f->constant)
		return f->array;
	return j->types[f->index].kind == KIND_STRING || j->types[f->index].kind == KIND_STRUCT;
}

static int read_field(struct jfr *j, const struct jfr_field *f, struct jfr_cursor *c,
	struct jfr_record *out, int nest)
{
	size_t at = c->at;
	uint64_t count = 1, value = at;

	if (f->array && !flight_read_varint(j, c, &count))
		return flight_bad(j, at, "an array exceeds its event");
	if (count > c->end - c->at && f->array)
		return flight_bad(j, at, "an array is longer than its event");
	for (uint64_t i = 0; i < count; i++) {
		size_t before = c->at;

		if (read_value(j, f, c, &value, f->array ? NULL : out, nest))
			return -1;
		if (c->at == before)
			break; /* an element without bytes: the others have none either */
	}
	if (out && f->slot >= 0) {
		out->value[f->slot] = f->array ? at : value;
		out->has |= 1ull << f->slot;
		if (is_position(j, f))
			out->positions |= 1ull << f->slot;
	}
	return 0;
}

static int read_struct(
	struct jfr *j, uint32_t type, struct jfr_cursor *c, struct jfr_record *out, int nest)
{
	const struct jfr_type *t = &j->types[type];

	j->work += 1 + t->field_count;
	if (j->work > JFR_WORK * j->size + JFR_WORK_LEAST)
		return flight_bad(j, c->at, "the types are too complex");
	if (nest > JFR_NEST)
		return flight_bad(j, c->at, "types are nested too deep");
	for (uint32_t i = 0; i < t->field_count; i++)
		if (read_field(j, &t->fields[i], c, out, nest))
			return -1;
	return 0;
}

int flight_read_record(struct jfr *j, uint32_t type, struct jfr_cursor *c, struct jfr_record *out)
{
	const struct jfr_type *t = &j->types[type];
	struct jfr_field self = {.index = type, .slot = -1};
	uint64_t value;

	if (out)
		out->has = out->positions = 0;
	if (t->kind != KIND_STRUCT)
		return read_value(j, &self, c, &value, NULL, 0);
	return read_struct(j, type, c, out, 0);
}

const char *flight_string(struct jfr *j, const struct jfr_record *r, enum jfr_slot slot)
{
	buf_clear(&j->text);
	if (r->positions >> slot & 1)
		flight_read_string(j, r->value[slot], FEED_TEXT_MAX, &j->text);
	return buf_str(&j->text);
}
