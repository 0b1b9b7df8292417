/* SPDX-License-Identifier: Apache-2.0 */
/* Strings, functions, locations, sample types, metadata. */
#include "import/pprof.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Fields of profile.proto, by message. */
enum { TOP_TYPE = 1, TOP_SAMPLE, TOP_MAPPING, TOP_LOCATION, TOP_FUNCTION, TOP_STRING };
enum { TOP_TIME = 9, TOP_DURATION, TOP_PERIOD_TYPE, TOP_PERIOD, TOP_COMMENT };
enum { LOCATION_MAPPING = 2, LOCATION_ADDRESS, LOCATION_LINE };
enum { MAPPING_START = 2, MAPPING_OFFSET = 4, MAPPING_FILE };
enum { LINE_FUNCTION = 1, LINE_NUMBER };
enum { FIELD_ID = 1 };

int pprof_bad(const struct pprof *r, const unsigned char *at, const char *what, struct err *err)
{
	return err_set(err, ERR_INPUT, "%s: byte %llu (decompressed): %s.", input_name(r->im->in),
		(unsigned long long)(at - (const unsigned char *)r->bytes.data), what);
}

const char *pprof_text(struct pprof *r, uint64_t index)
{
	struct buf *text = &r->im->text;

	buf_clear(text);
	if (index < r->string_count)
		buf_add(text, r->strings[index].at,
			r->strings[index].len < FEED_TEXT_MAX ? r->strings[index].len
							      : FEED_TEXT_MAX);
	return buf_str(text);
}

/* Collects the numeric fields 1 to `most`; missing ones are 0. */
static bool numbers_of(struct message message, uint64_t *out, unsigned most)
{
	struct message_field f;

	memset(out, 0, (most + 1) * sizeof(*out));
	while (message_next(&message, &f))
		if (f.number <= most && !f.is_bytes)
			out[f.number] = f.value;
	return !message.bad;
}

static bool ids_add(struct pprof_ids *ids, uint64_t id)
{
	if (ids->count == PPROF_MOST)
		return false;
	/* of duplicate ids the first one wins */
	if (hash_index_find(&ids->index, hash_u64(id), NULL, NULL) == HASH_NONE)
		hash_index_add(&ids->index, hash_u64(id), ids->count);
	return true;
}

static uint32_t ids_find(const struct pprof_ids *ids, uint64_t id)
{
	return hash_index_find(&ids->index, hash_u64(id), NULL, NULL);
}

static bool read_location(struct pprof *r, struct message message)
{
	uint64_t v[LOCATION_ADDRESS + 1];

	if (!numbers_of(message, v, LOCATION_ADDRESS) || !ids_add(&r->location_ids, v[FIELD_ID]))
		return false;
	r->locations = xgrow(
		r->locations, r->location_ids.count, &r->location_ids.cap, sizeof(*r->locations));
	r->locations[r->location_ids.count++] = (struct pprof_location){
		.message = message, .mapping = v[LOCATION_MAPPING], .address = v[LOCATION_ADDRESS]};
	return true;
}

static bool read_mapping(struct pprof *r, struct message message)
{
	uint64_t v[MAPPING_FILE + 1];

	if (!numbers_of(message, v, MAPPING_FILE) || !ids_add(&r->mapping_ids, v[FIELD_ID]))
		return false;
	r->mappings =
		xgrow(r->mappings, r->mapping_ids.count, &r->mapping_ids.cap, sizeof(*r->mappings));
	r->mappings[r->mapping_ids.count++] =
		(struct pprof_mapping){v[MAPPING_START], v[MAPPING_OFFSET], v[MAPPING_FILE]};
	return true;
}

static bool read_type(struct pprof *r, struct message message, struct pprof_type *type)
{
	uint64_t v[3];

	*type = (struct pprof_type){.event = -1, .count = -1};
	if (!numbers_of(message, v, 2))
		return false;
	type->name = v[1];
	type->unit = v[2];
	return true;
}

static bool read_field(struct pprof *r, const struct message_field *f)
{
	switch (f->number) {
	case TOP_STRING:
		if (r->string_count == PPROF_MOST || !f->is_bytes)
			return false;
		r->strings =
			xgrow(r->strings, r->string_count, &r->strings_cap, sizeof(*r->strings));
		r->strings[r->string_count++] =
			(struct pprof_string){(const char *)f->bytes.at, message_left(&f->bytes)};
		return true;
	case TOP_FUNCTION: {
		uint64_t v[5];

		if (!numbers_of(f->bytes, v, 4) || !ids_add(&r->function_ids, v[FIELD_ID]))
			return false;
		r->functions = xgrow(r->functions, r->function_ids.count, &r->function_ids.cap,
			sizeof(*r->functions));
		r->functions[r->function_ids.count++] = (struct pprof_function){v[2], v[3], v[4]};
		return true;
	}
	case TOP_LOCATION: return read_location(r, f->bytes);
	case TOP_MAPPING: return read_mapping(r, f->bytes);
	case TOP_TYPE:
		return r->type_count < PPROF_TYPES &&
		       read_type(r, f->bytes, &r->types[r->type_count++]);
	case TOP_PERIOD_TYPE: return read_type(r, f->bytes, &r->period_type);
	case TOP_PERIOD: r->period = f->value; break;
	case TOP_TIME: r->start_ns = f->value; break;
	case TOP_DURATION: r->duration_ns = f->value; break;
	default: break;
	}
	return true;
}

/* --- comments, in which jhot stores "key=value" ------------------------------------------------------ */

static void read_comments(struct pprof *r)
{
	struct message top = message_of(r->bytes.data, r->bytes.len);
	struct message_field f;
	bool first;
	uint64_t number;

	while (message_next(&top, &f))
		for (first = true;
			f.number == TOP_COMMENT && message_number(&f, &first, &number);) {
			char *line = xstrdup(pprof_text(r, number)), *value = strchr(line, '=');

			if (value) {
				*value = '\0';
				feed_fact(r->im, line, value + 1);
			}
			free(line);
		}
}

int pprof_tables(struct pprof *r, struct err *err)
{
	struct message top = message_of(r->bytes.data, r->bytes.len);
	struct message_field f;
	const unsigned char *at = top.at;

	for (; message_next(&top, &f); at = top.at)
		if (!read_field(r, &f))
			return pprof_bad(r, at, "a message is damaged, or there are too many", err);
	if (top.bad)
		return pprof_bad(r, top.at, "this field is invalid or truncated", err);
	read_comments(r);
	return 0;
}

/* --- frames ------------------------------------------------------------------------------------------ */

static uint32_t line_frame(struct pprof *r, const struct pprof_location *l, struct message message,
	struct feed_name *n)
{
	uint64_t v[3];

	if (!numbers_of(message, v, LINE_NUMBER))
		return PROFILE_NONE;
	uint32_t at = ids_find(&r->function_ids, v[LINE_FUNCTION]);
	if (at == HASH_NONE)
		return PROFILE_NONE;
	const struct pprof_function *f = &r->functions[at];
	char *name = xstrdup(pprof_text(r, f->name));
	char *system_name = xstrdup(pprof_text(r, f->system_name));
	n->native = feed_is_native_source(pprof_text(r, f->file));
	const char *library = feed_library(pprof_text(r, f->file));
	uint32_t mapping = *library ? HASH_NONE : ids_find(&r->mapping_ids, l->mapping);
	if (mapping != HASH_NONE)
		library = feed_library(pprof_text(r, r->mappings[mapping].file));
	char *module = xstrdup(library);
	n->text = name;
	n->module = module;
	/* jhot writes the name followed by the signature */
	n->signature = !strncmp(system_name, name, strlen(name)) && system_name[strlen(name)] == '('
			       ? system_name + strlen(name)
			       : "";
	n->line = v[LINE_NUMBER] < INT32_MAX ? (int)v[LINE_NUMBER] : 0;
	uint32_t frame = feed_frame_name(r->im, n);
	free(name);
	free(system_name);
	free(module);
	return frame;
}

/* A function without a name: its file offset or address, "0x1234". */
static uint32_t address_frame(struct pprof *r, const struct pprof_location *l)
{
	uint32_t m = ids_find(&r->mapping_ids, l->mapping);
	uint64_t address = l->address;
	struct buf name = {0}, file = {0};

	if (m != HASH_NONE) {
		buf_adds(&file, pprof_text(r, r->mappings[m].file));
		if (address >= r->mappings[m].start)
			address += r->mappings[m].offset - r->mappings[m].start;
	}
	if (!l->address)
		return feed_frame_text(r->im, "[unknown]", 9, false);
	const char *slash = strrchr(buf_str(&file), '/');
	buf_printf(&name, "0x%" PRIx64, address);
	uint32_t frame =
		feed_frame_name(r->im, &(struct feed_name){.text = buf_str(&name),
					       .signature = "",
					       .module = slash ? slash + 1 : buf_str(&file),
					       .native = true});
	buf_done(&name);
	buf_done(&file);
	return frame;
}

/* Lines are innermost first; all but the last are inlined. */
static bool location_frames(struct pprof *r, struct pprof_location *l)
{
	struct message lines[PPROF_LINES], message = l->message;
	struct message_field f;
	uint32_t count = 0;

	while (message_next(&message, &f))
		if (f.number == LOCATION_LINE && f.is_bytes && count < PPROF_LINES)
			lines[count++] = f.bytes;
	l->frame = r->frame_count;
	for (uint32_t i = count; i-- > 0;) {
		struct feed_name name = {.inlined = i + 1 < count};
		uint32_t frame = line_frame(r, l, lines[i], &name);

		if (frame == PROFILE_NONE)
			return false;
		r->frames = xgrow(r->frames, r->frame_count, &r->frames_cap, sizeof(*r->frames));
		r->frames[r->frame_count++] = frame;
	}
	if (!count) { /* a location without lines */
		r->frames = xgrow(r->frames, r->frame_count, &r->frames_cap, sizeof(*r->frames));
		r->frames[r->frame_count++] = address_frame(r, l);
	}
	l->frames = r->frame_count - l->frame;
	return true;
}

int pprof_frames(struct pprof *r, uint64_t location, const uint32_t **frames)
{
	uint32_t at = ids_find(&r->location_ids, location);

	if (at == HASH_NONE)
		return -1;
	struct pprof_location *l = &r->locations[at];
	if (!l->frames && !location_frames(r, l))
		return -1;
	*frames = r->frames + l->frame;
	return (int)l->frames;
}

uint32_t pprof_leaf(struct pprof *r, uint64_t location)
{
	uint32_t at = ids_find(&r->location_ids, location), frame = PROFILE_NONE;
	struct feed_name name = {.leaf = true};
	struct message_field f;

	if (at == HASH_NONE)
		return PROFILE_NONE;
	struct pprof_location *l = &r->locations[at];
	if (l->leaf)
		return l->leaf - 1;
	struct message message = l->message;
	while (frame == PROFILE_NONE && message_next(&message, &f))
		if (f.number == LOCATION_LINE && f.is_bytes)
			frame = line_frame(r, l, f.bytes, &name);
	l->leaf = frame + 1; /* 0 if there is none, so that the next call searches again */
	return frame;
}

void pprof_done(struct pprof *r)
{
	buf_done(&r->bytes);
	free(r->strings);
	free(r->functions);
	free(r->locations);
	free(r->mappings);
	free(r->frames);
	free(r->chain);
	hash_index_done(&r->function_ids.index);
	hash_index_done(&r->location_ids.index);
	hash_index_done(&r->mapping_ids.index);
}
