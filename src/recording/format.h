/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a .jhot file: constants and primitives of its writer and its reader. doc/recording.md has
 * the format.
 *
 * A recording of two seconds, decompressed: thread "main" with two samples of A.main > A.f, then one of
 * A.main, every 10 ms (checked by tests/recording/test_recording.c).
 *
 *   size  type         content
 *     16               4a 48 4f 54 52 45 43 0a  01 00  05 00  00 00 00 00    "JHOTREC\n", 1, 5
 *     18  01 META      08 "start_ns" 01 "0"  04 "host" 01 "h"
 *         0f FIELDS    00 07 "time_ns"  00 03 "pid"  01 04 "name" ...        ids 0, 1, 2, ...
 *         11 STATE     00 00  01 00  02 00  03 00 ...     time_ns 0, pid 0, name "", jdk ""
 *      1  04 SECOND    00
 *      9  0d INTERVAL  00  80 ad e2 04  80 ad e2 04       cpu: 10,000,000 ns at least and at most
 *      3  0b RUN       00 00 01                           cpu is sampled from second 0 on
 *     21  05 METHODS   01 "A" 04 "main" 03 "()V" 00       id 0
 *                      01 "A" 01 "f"    03 "()V" 00       id 1
 *      8  06 FRAMES    00 04 05 0e                        id 0: method 0, interpreted, bci 4, line 7
 *                      01 00 0a 18                        id 1: method 1, compiled, bci 9, line 12
 *      4  07 STACKS    01 00                              id 1: below 1 - 1, the root: frame 0
 *                      01 01                              id 2: below 2 - 1: frame 1
 *     10  08 THREADS   00 00 3e 02 00 04 "main"           id 0: native, tid 31, Java id 1, no carrier
 *      9  09 SAMPLES   00                                 cpu
 *                      04 00 00 02 80 da c4 09            stack 0 + 2, thread 0, 2 samples, 20 ms
 *      1  04 SECOND    01
 *      9  09 SAMPLES   00  02 00 00 01 80 ad e2 04        nothing is defined again
 *      1  04 SECOND    01                                 gaps, waits, vitals up to the end: none
 *      0  11 STATE                                        as before
 *      5  13 END       80 a8 d6 b9 07                     2,000,000,000 ns
 *
 * A chunk begins with its size and type, both u32; everything else in chunks is LEB128 or text. Signed
 * numbers are zigzag encoded: 3e is 31, 01 is -1. The sizes of FIELDS and STATE grow with struct vitals.
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
#define FORMAT_MINOR 5

struct format_head {
	char magic[8];
	uint16_t major, minor;
	uint32_t reserved;
};
_Static_assert(sizeof(struct format_head) == 16, "the head");

struct format_chunk {
	uint32_t bytes; /* of the content that follows */
	uint32_t type;
};

/* Values are part of the format: never change one; append new ones and increment FORMAT_MINOR. */
enum format_type {
	CHUNK_META = 1, /* (name, text)... */
	CHUNK_EVENT,    /* event, name, unit, interval: defines a user event */
	CHUNK_RETAINED, /* oldest second, second before which history is merged */
	CHUNK_SECOND,   /* second to which the following chunks belong */
	CHUNK_METHODS,  /* (class, name, signature, module)... */
	CHUNK_FRAMES, /* (method, type, bci + 1, signed line)...; FRAME_C1_NO_INLINING since 1.3, FRAME_CONTEXT since 1.5 */
	CHUNK_STACKS, /* (own id minus the id of the parent, frame)... */
	CHUNK_THREADS, /* (thread, kind, tid, java tid, carrier, name)... */
	CHUNK_SAMPLES, /* event, (signed difference of the stack, thread, state, count, weight)... */
	CHUNK_PROCESS,  /* ns of CPU time */
	CHUNK_RUN,      /* event, second, on: sampling starts or stops */
	CHUNK_GAP,      /* from, to: seconds without sampling */
	CHUNK_INTERVAL, /* event, shortest, longest */
	CHUNK_WAITS, /* (thread, owner + 1, method + 1, lock, since, until - since + 1, before, at least)... */
	CHUNK_FIELDS,  /* (kind, name)... */
	CHUNK_VITALS,  /* (field, value)...: changes in this second */
	CHUNK_STATE,   /* the same, at the beginning and the end of the file */
	CHUNK_FORGET,  /* ids of methods, frames and stacks restart */
	CHUNK_END,     /* duration of sampling, ns; the last chunk */
	CHUNK_HOLDERS, /* like SAMPLES: stacks of lock owners while others waited; since 1.1 */
	CHUNK_PULSE, /* (event, PROFILE_PULSE numbers)...: distribution of its weight in the second; since 1.2 */
	CHUNK_MEASURED, /* method, interval: whose calls follow; earlier calls are discarded; since 1.4 */
	CHUNK_CALLS,   /* (a call, its polls)...: see doc/recording.md; since 1.4 */
	CHUNK_ENTRIES, /* (tenth of a second, recorded entries into the method)...; since 1.4 */
	CHUNK_LINKS, /* (event, stack, thread, state, count, weight, trace id and span id as text)...; since 1.5 */
};

_Static_assert(FRAME_COMPILED == 0 && FRAME_NATIVE == 6 && FRAME_WAITS == 12 &&
		       FRAME_C1_NO_INLINING == 13 && FRAME_CONTEXT == 14 && FRAME_TYPES == 15,
	"types of frames are part of the format: append new ones");
_Static_assert(THREAD_STATE_NONE == 0 && THREAD_CARRIER == 8 && THREAD_STATES == 9,
	"states of threads are part of the format");
_Static_assert(
	THREAD_NATIVE == 0 && THREAD_VIRTUAL == 6, "kinds of threads are part of the format");
_Static_assert(PROFILE_PULSE == 20 && PROFILE_PULSE_MOST < 128,
	"the size of a pulse is part of the format");
_Static_assert(EVENT_WALL == 3 && EVENT_USER_FIRST == 4, "ids of events are part of the format");
#define FORMAT_UNNAMED   0xff /* kind of a thread without a name */

#define FORMAT_CHUNK_MAX (16u << 20) /* bytes of content; an unknown type may have more */
#define FORMAT_PIECE     (1u << 20)  /* writers start a new chunk at this size */

static inline void format_add(struct buf *out, uint64_t value)
{
	char bytes[10];
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (char)(value | 0x80);
	bytes[n++] = (char)value;
	buf_add(out, bytes, n);
}

static inline void format_add_signed(struct buf *out, int64_t value)
{
	format_add(out, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

static inline void format_add_text(struct buf *out, const char *text)
{
	size_t n = strlen(text);

	format_add(out, n);
	buf_add(out, text, n);
}

/* A position in a chunk. Reading past its end, or a malformed number, sets bad and returns 0. */
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

/* The same; a value above `most` sets bad. */
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

/* A text of *bytes bytes inside the chunk, without a NUL. */
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
