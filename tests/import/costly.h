/* SPDX-License-Identifier: Apache-2.0 */
/* Files crafted to be expensive to read: each function appends one to a buffer. For test_cost.c. */
#ifndef JHOT_TESTS_IMPORT_COSTLY_H
#define JHOT_TESTS_IMPORT_COSTLY_H

#include "profile/profile.h"
#include "recording/fields.h"
#include "recording/format.h"

#include <endian.h>

#define BYTES (16u << 10) /* of most files */

/* --- recordings -------------------------------------------------------------------------------------- */

static void jhot_chunk(struct buf *out, uint32_t type, struct buf *body)
{
	const struct format_chunk head = {htole32((uint32_t)body->len), htole32(type)};

	buf_add(out, &head, sizeof(head));
	buf_add(out, buf_str(body), body->len);
	buf_clear(body);
}

static void jhot_begin(struct buf *out)
{
	struct format_head head = {.magic = FORMAT_MAGIC};

	memcpy(head.magic, FORMAT_MAGIC, sizeof(head.magic));
	head.major = htole16(FORMAT_MAJOR);
	head.minor = htole16(FORMAT_MINOR);
	buf_add(out, &head, sizeof(head));
}

static void jhot_method(struct buf *out, size_t name_bytes)
{
	struct buf b = {0}, name = {0};

	for (size_t i = 0; i < name_bytes; i++)
		buf_addc(&name, (char)('a' + i % 26));
	format_add_text(&b, "a.B");
	format_add_text(&b, buf_str(&name));
	format_add_text(&b, "");
	format_add_text(&b, "");
	jhot_chunk(out, CHUNK_METHODS, &b);
	buf_done(&b);
	buf_done(&name);
}

/* Frames of method 0, distinguished by their lines, and a thread. */
static void jhot_frames(struct buf *out, int frames)
{
	struct buf b = {0};

	for (int i = 0; i < frames; i++) {
		format_add(&b, 0);
		format_add(&b, FRAME_COMPILED);
		format_add(&b, 0);
		format_add_signed(&b, i);
	}
	jhot_chunk(out, CHUNK_FRAMES, &b);
	format_add(&b, 0);
	format_add(&b, THREAD_JAVA);
	format_add_signed(&b, 7);
	format_add_signed(&b, 1);
	format_add_signed(&b, 0);
	format_add_text(&b, "main");
	jhot_chunk(out, CHUNK_THREADS, &b);
	buf_done(&b);
}

static void jhot_second(struct buf *out, uint32_t second)
{
	struct buf b = {0};

	format_add(&b, second);
	jhot_chunk(out, CHUNK_SECOND, &b);
	buf_done(&b);
}

static void jhot_sample(struct buf *b, int64_t step, uint64_t count)
{
	format_add_signed(b, step);
	format_add(b, 0);
	format_add(b, THREAD_STATE_NONE);
	format_add(b, count);
	format_add(b, 10000000);
}

static void jhot_samples(struct buf *out, struct buf *samples)
{
	struct buf b = {0};

	format_add(&b, EVENT_CPU);
	buf_add(&b, buf_str(samples), samples->len);
	jhot_chunk(out, CHUNK_SAMPLES, &b);
	buf_clear(samples);
	buf_done(&b);
}

/* `count` stacks, each below the one before or (back) below an earlier one; first: number 1 is below the root. */
static void jhot_stacks(struct buf *out, uint32_t count, uint64_t back, uint32_t frame)
{
	struct buf b = {0};

	for (uint32_t i = 0; i < count; i++) {
		format_add(&b, back);
		format_add(&b, frame);
	}
	jhot_chunk(out, CHUNK_STACKS, &b);
	buf_done(&b);
}

static void one_sample(struct buf *out, uint64_t count)
{
	struct buf s = {0};

	jhot_sample(&s, 1, count);
	jhot_samples(out, &s);
	buf_done(&s);
}

static void make_label(struct buf *out)
{
	struct buf b = {0};

	jhot_begin(out);
	format_add_text(&b, "label");
	format_add_text(&b, "no value");
	jhot_chunk(out, CHUNK_META, &b);
	buf_done(&b);
}

static void make_count(struct buf *out, uint64_t count, int samples)
{
	struct buf s = {0};

	jhot_begin(out);
	jhot_method(out, 1);
	jhot_frames(out, 1);
	jhot_stacks(out, 1, 1, 0);
	jhot_second(out, 0);
	for (int i = 0; i < samples; i++)
		jhot_sample(&s, !i, count);
	jhot_samples(out, &s);
	buf_done(&s);
}

static void make_count_refused(struct buf *out)
{
	make_count(out, 1ull << 48, 1);
}

static void make_count_many(struct buf *out)
{
	make_count(out, 1ull << 36, BYTES / 14);
}

static void make_count_one(struct buf *out)
{
	make_count(out, 1ull << 36, 1);
}

static void make_late(struct buf *out)
{
	jhot_begin(out);
	jhot_method(out, 1);
	jhot_frames(out, 1);
	jhot_stacks(out, 1, 1, 0);
	jhot_second(out, 2000000000);
	one_sample(out, 1);
}

static void make_seconds(struct buf *out)
{
	struct buf b = {0};

	jhot_begin(out);
	jhot_method(out, 1);
	jhot_frames(out, 1);
	jhot_stacks(out, 1, 1, 0);
	format_add(&b, FIELD_NUMBER);
	format_add_text(&b, "heap_used");
	jhot_chunk(out, CHUNK_FIELDS, &b);
	for (uint32_t i = 0; out->len < BYTES; i++) {
		jhot_second(out, i * 3000000);
		one_sample(out, 1);
		format_add(&b, 0);
		format_add_signed(&b, i);
		jhot_chunk(out, CHUNK_VITALS, &b);
		format_add(&b, EVENT_CPU);
		for (int k = 0; k < PROFILE_PULSE; k++)
			format_add(&b, PROFILE_PULSE_MOST);
		jhot_chunk(out, CHUNK_PULSE, &b);
	}
	buf_done(&b);
}

/* A chain of stacks, all of which have samples and the same frame. */
static void make_chain_of(struct buf *out, uint32_t count, size_t name_bytes)
{
	struct buf s = {0};

	jhot_begin(out);
	jhot_method(out, name_bytes);
	jhot_frames(out, 1);
	jhot_stacks(out, count, 1, 0);
	jhot_second(out, 0);
	for (uint32_t i = 0; i < count; i++)
		jhot_sample(&s, 1, 1);
	jhot_samples(out, &s);
	buf_done(&s);
}

static void make_chain(struct buf *out)
{
	make_chain_of(out, BYTES / 12, 1);
}

static void make_names(struct buf *out)
{
	make_chain_of(out, BYTES / 8, PROFILE_TEXT_MAX);
}

/* As deep as can be, and then wide: the most that is written per sample. */
static void make_wide(struct buf *out)
{
	uint32_t wide = BYTES / 16;
	struct buf s = {0}, b = {0};

	jhot_begin(out);
	jhot_method(out, 1);
	jhot_frames(out, (int)wide);
	jhot_stacks(out, PROFILE_DEPTH_MAX - 1, 1, 0);
	for (uint32_t i = 0; i < wide; i++) {
		format_add(&b, i + 1);
		format_add(&b, i);
	}
	jhot_chunk(out, CHUNK_STACKS, &b);
	jhot_second(out, 0);
	for (uint32_t i = 0; i < wide; i++)
		jhot_sample(&s, i ? 1 : PROFILE_DEPTH_MAX, 1);
	jhot_samples(out, &s);
	buf_done(&s);
	buf_done(&b);
}

/* Two deep chains that grow in turn: each new stack is far from the one before. */
static void make_turns(struct buf *out)
{
	struct buf b = {0};

	jhot_begin(out);
	jhot_method(out, 1);
	jhot_frames(out, BYTES / 8);
	for (uint32_t i = 0; i < PROFILE_DEPTH_MAX - 1; i++) {
		format_add(&b, i < 2 ? i + 1 : 2);
		format_add(&b, i & 1);
	}
	jhot_chunk(out, CHUNK_STACKS, &b);
	for (uint32_t i = 0; i < BYTES / 8; i++) {
		format_add(&b, i + 1 + (i & 1));
		format_add(&b, i);
	}
	jhot_chunk(out, CHUNK_STACKS, &b);
	jhot_second(out, 0);
	one_sample(out, 1);
	buf_done(&b);
}

/* An event that is switched on and off, with gaps, all the time. */
static void make_runs(struct buf *out)
{
	struct buf b = {0};

	jhot_begin(out);
	jhot_method(out, 1);
	jhot_frames(out, 1);
	jhot_stacks(out, 1, 1, 0);
	for (uint32_t i = 0; out->len < BYTES; i++) {
		for (uint32_t on = 0; on < 2; on++) {
			format_add(&b, EVENT_CPU);
			format_add(&b, 10 * i + 3 * on);
			format_add(&b, !on);
			jhot_chunk(out, CHUNK_RUN, &b);
		}
		format_add(&b, 10 * i + 1);
		format_add(&b, 10 * i + 2);
		jhot_chunk(out, CHUNK_GAP, &b);
		if (i % 8)
			continue;
		jhot_second(out, 10 * i);
		one_sample(out, 1);
	}
	buf_done(&b);
}

/* A leaf that says what it waits for, and whose name is shorter than that. */
static void make_waits(struct buf *out)
{
	struct buf b = {0};

	jhot_begin(out);
	format_add_text(&b, "a.B");
	format_add_text(&b, "m");
	format_add_text(&b, "socket read\t10.0.0.1:80");
	format_add_text(&b, "");
	jhot_chunk(out, CHUNK_METHODS, &b);
	format_add(&b, 0);
	format_add(&b, FRAME_WAITS);
	format_add(&b, 0);
	format_add_signed(&b, 0);
	jhot_chunk(out, CHUNK_FRAMES, &b);
	jhot_stacks(out, 1, 1, 0);
	format_add(&b, 0);
	format_add(&b, THREAD_JAVA);
	format_add_signed(&b, 7);
	format_add_signed(&b, 1);
	format_add_signed(&b, 0);
	format_add_text(&b, "main");
	jhot_chunk(out, CHUNK_THREADS, &b);
	jhot_second(out, 0);
	one_sample(out, 1);
	buf_done(&b);
}

/* --- flight recordings ------------------------------------------------------------------------------- */

static void jfr_string(struct buf *out, int kind, char c, size_t count)
{
	buf_addc(out, (char)kind);
	format_add(out, count);
	for (size_t i = 0; i < count; i++)
		buf_addc(out, c);
}

/* A chunk of metadata alone. */
static void jfr_chunk(struct buf *out, const struct buf *body)
{
	size_t size = body->len + 8, whole = 68 + size;
	const uint64_t head[] = {whole, 68, 68, 0, 1000000000, 0, 1000000000};

	buf_add(out, "FLR\0\0\2\0\0", 8);
	for (size_t i = 0; i < 7; i++)
		for (int k = 8; k-- > 0;)
			buf_addc(out, (char)(head[i] >> 8 * k));
	buf_add(out, "\0\0\0\1", 4);
	for (int i = 0; i < 3; i++)
		buf_addc(out, (char)(size >> 7 * i | 128));
	buf_addc(out, (char)(size >> 21));
	buf_add(out, "\0\0\0\0", 4); /* type, when, for how long, which */
	buf_add(out, body->data, body->len);
}

static void jfr_words(struct buf *out, int kind)
{
	uint32_t attributes = BYTES;
	struct buf b = {0};

	format_add(&b, 2);
	jfr_string(&b, 3, 'r', 4);
	jfr_string(&b, kind, 'x', 2 * BYTES);
	format_add(&b, 0);
	format_add(&b, attributes);
	for (uint32_t i = 0; i < attributes; i++)
		format_add(&b, 1), format_add(&b, 1);
	format_add(&b, 0);
	jfr_chunk(out, &b);
	buf_done(&b);
}

static void make_latin1(struct buf *out)
{
	jfr_words(out, 5);
}

static void make_chars(struct buf *out)
{
	jfr_words(out, 4);
}

static void make_empty_words(struct buf *out)
{
	struct buf b = {0};

	format_add(&b, 64 << 10);
	for (int i = 0; i < 64 << 10; i++)
		buf_addc(&b, 0);
	buf_add(&b, "\0\0\0", 3);
	jfr_chunk(out, &b);
	buf_done(&b);
}

/* --- pprof, collapsed -------------------------------------------------------------------------------- */

static void message(struct buf *out, unsigned field, struct buf *body)
{
	format_add(out, field << 3 | 2);
	format_add(out, body->len);
	buf_add(out, buf_str(body), body->len);
	buf_clear(body);
}

static void field(struct buf *out, unsigned number, uint64_t value)
{
	format_add(out, number << 3);
	format_add(out, value);
}

static void pprof_begin(struct buf *out, size_t name_bytes)
{
	struct buf b = {0};

	field(&b, 1, 1), field(&b, 2, 2);
	message(out, 1, &b);
	for (const char *const *s = (const char *const[]){"", "samples", "count", NULL}; *s; s++) {
		buf_adds(&b, *s);
		message(out, 6, &b);
	}
	for (size_t i = 0; i < name_bytes; i++)
		buf_addc(&b, 'n');
	message(out, 6, &b);
	field(&b, 1, 1), field(&b, 2, 3);
	message(out, 5, &b);
	buf_done(&b);
}

/* Locations of many lines, each of a function with a long name. */
static void make_lines(struct buf *out)
{
	struct buf b = {0}, line = {0};

	pprof_begin(out, BYTES / 4);
	for (uint64_t location = 1, number = 0; out->len < BYTES; location++) {
		field(&b, 1, location);
		for (int i = 0; i < 200; i++) {
			field(&line, 1, 1), field(&line, 2, ++number);
			message(&b, 4, &line);
		}
		message(out, 4, &b);
		field(&b, 1, location), field(&b, 2, 5);
		message(out, 2, &b);
	}
	buf_done(&b);
	buf_done(&line);
}

/* Samples whose thread has a long name. */
static void make_thread_names(struct buf *out)
{
	struct buf b = {0}, label = {0};

	pprof_begin(out, BYTES / 4);
	buf_adds(&b, "thread");
	message(out, 6, &b);
	while (out->len < BYTES) {
		field(&b, 2, 1);
		field(&label, 1, 4), field(&label, 2, 3);
		message(&b, 3, &label);
		message(out, 2, &b);
	}
	buf_done(&b);
	buf_done(&label);
}

/* --- speedscope -------------------------------------------------------------------------------------- */

static void speedscope_begin(struct buf *out)
{
	buf_adds(out,
		"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{"
		"\"frames\":[{\"name\":\"a\"}]},\"profiles\":[");
}

/* Each opens one more frame, and each time passes. */
static void make_opens(struct buf *out)
{
	speedscope_begin(out);
	buf_adds(out, "{\"type\":\"evented\",\"name\":\"x\",\"unit\":\"none\",\"startValue\":0,"
		      "\"endValue\":99999,\"events\":[");
	for (int i = 0; out->len < BYTES; i++)
		buf_printf(out, "%s{\"type\":\"O\",\"frame\":0,\"at\":%d}", i ? "," : "", i);
	buf_adds(out, "]}]}");
}

/* Profiles without samples, all of one event, and as many facts about that. */
static void make_profiles(struct buf *out)
{
	speedscope_begin(out);
	for (int i = 0; out->len < BYTES / 2; i++)
		buf_printf(out,
			"%s{\"type\":\"sampled\",\"name\":\"cpu\",\"samples\":[],\"weights\":[]}",
			i ? "," : "");
	buf_adds(out, "],\"jhot\":{\"events\":[");
	for (int i = 0; out->len < BYTES; i++)
		buf_printf(out, "%s{\"event\":\"cpu\"}", i ? "," : "");
	buf_adds(out, "]}}");
}

/* Arrays in arrays, as the value of a key that is not known. */
static void make_nested(struct buf *out)
{
	speedscope_begin(out);
	buf_adds(out,
		"{\"type\":\"sampled\",\"name\":\"x\",\"samples\":[[0]],\"weights\":[1]}],\"x\":");
	for (unsigned i = 0; i < BYTES; i++)
		buf_addc(out, '[');
	for (unsigned i = 0; i < BYTES; i++)
		buf_addc(out, ']');
	buf_addc(out, '}');
}

static void make_deep(struct buf *out)
{
	for (int i = 0; i < 65535; i++)
		buf_adds(out, i ? ";a" : "a");
	buf_adds(out, " 1\n");
}

static void make_counted(struct buf *out)
{
	buf_adds(out, "main;a 9000000000000000000\n");
}

#endif
