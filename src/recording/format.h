/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a .jhot file, as doc/recording.md explains them: what its writer and its reader share.
 *
 * Inside of gzip: a head, then chunks, each with its size and type before it. Numbers of the heads are little-endian, those
 * in chunks have 7 bits a byte, low ones first (varint), signed ones with the sign in the lowest bit. A text is its
 * length and its bytes.
 */
#ifndef JHOT_RECORDING_FORMAT_H
#define JHOT_RECORDING_FORMAT_H

#include "base/buf.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define FORMAT_MAGIC "JHOTREC\n"
#define FORMAT_MAJOR 1
#define FORMAT_MINOR 3

struct format_head {
	char magic[8];
	uint16_t major, minor;
	uint32_t reserved;
};
_Static_assert(sizeof(struct format_head) == 16, "the head");

struct format_chunk {
	uint32_t bytes; /* behind this */
	uint32_t type;
};

/* Numbers in files: never another meaning for one; new ones at the end, and raise FORMAT_MINOR. */
enum format_type {
	CHUNK_META = 1, /* (name, text)... */
	CHUNK_EVENT,    /* number, name, unit, interval of a user event */
	CHUNK_HELD,     /* oldest, merged before */
	CHUNK_SECOND,   /* second: what follows is of it */
	CHUNK_METHODS,  /* (class, name, signature, module)... */
	CHUNK_FRAMES,  /* (method, type, bci + 1, signed line)...; type FRAME_C1_COARSE since 1.3 */
	CHUNK_STACKS,  /* (how far back the parent is, frame)... */
	CHUNK_THREADS, /* (thread, kind, tid, java tid, carrier, name)... */
	CHUNK_SAMPLES, /* event, (signed step of the stack, thread, state, count, weight)... */
	CHUNK_PROCESS, /* ns of CPU time */
	CHUNK_RUN,     /* event, second, on */
	CHUNK_GAP,     /* from, to */
	CHUNK_INTERVAL, /* event, least, most */
	CHUNK_WAITS, /* (thread, owner + 1, method + 1, lock, since, until - since + 1, before, at least)... */
	CHUNK_FIELDS, /* (kind, name)... */
	CHUNK_VITALS, /* (field, value)...: those of this second */
	CHUNK_STATE,  /* the same, at the beginning and at the end */
	CHUNK_FORGET, /* methods, frames and stacks are numbered anew */
	CHUNK_END,    /* ns that were sampled */
	CHUNK_HOLDERS, /* as SAMPLES, of lock: what holders did meanwhile (profile_add_held); since 1.1 */
	CHUNK_PULSE, /* (event, PROFILE_PULSE numbers)...: its weight by parts of this second; since 1.2 */
};

_Static_assert(FRAME_COMPILED == 0 && FRAME_NATIVE == 6 && FRAME_WAITS == 12 &&
		       FRAME_C1_COARSE == 13 && FRAME_TYPES == 14,
	"types of frames are numbers in files: new ones at the end");
_Static_assert(THREAD_STATE_NONE == 0 && THREAD_CARRIER == 8 && THREAD_STATES == 9,
	"states of threads are numbers in files");
_Static_assert(THREAD_NATIVE == 0 && THREAD_VIRTUAL == 6, "kinds of threads are numbers in files");
_Static_assert(
	PROFILE_PULSE == 20 && PROFILE_PULSE_MOST < 128, "so many numbers of a byte are in files");
_Static_assert(EVENT_WALL == 3 && EVENT_USER_FIRST == 4, "events are numbers in files");
#define FORMAT_UNNAMED   0xff /* kind of a thread that nobody named */

#define FORMAT_CHUNK_MAX (16u << 20) /* bytes; of a type that is not known it may be more */
#define FORMAT_PIECE     (1u << 20)  /* writers begin another chunk then */

static inline void format_put(struct buf *out, uint64_t value)
{
	char bytes[10];
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (char)(value | 0x80);
	bytes[n++] = (char)value;
	buf_add(out, bytes, n);
}

static inline void format_put_signed(struct buf *out, int64_t value)
{
	format_put(out, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

static inline void format_put_text(struct buf *out, const char *text)
{
	size_t n = strlen(text);

	format_put(out, n);
	buf_add(out, text, n);
}

/* A chunk that is read: at stands before what is next. Whatever goes beyond its end makes it bad, and gives 0. */
struct format_cursor {
	const unsigned char *at, *end;
	bool bad;
};

static inline bool format_more(const struct format_cursor *c)
{
	return !c->bad && c->at < c->end;
}

static inline uint64_t format_get(struct format_cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && c->at < c->end; shift += 7) {
		unsigned char byte = *c->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	c->bad = true;
	return 0;
}

/* One that must not be larger. */
static inline uint64_t format_get_most(struct format_cursor *c, uint64_t most)
{
	uint64_t value = format_get(c);

	c->bad |= value > most;
	return c->bad ? 0 : value;
}

static inline int64_t format_get_signed(struct format_cursor *c)
{
	uint64_t value = format_get(c);

	return (int64_t)(value >> 1 ^ (value & 1 ? UINT64_MAX : 0));
}

/* A text of *bytes, not ended by a NUL. */
static inline const char *format_get_text(struct format_cursor *c, size_t *bytes)
{
	const char *text = (const char *)c->at;

	*bytes = format_get_most(c, UINT32_MAX);
	text = (const char *)c->at;
	c->bad |= *bytes > (size_t)(c->end - c->at);
	if (c->bad)
		*bytes = 0;
	c->at += *bytes;
	return text;
}

#endif
