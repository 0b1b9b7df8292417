/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was found at a return address, so that it need not be looked up in the next stack: for compiled Java its
 * frames with their names and its size, for native code its unwind rule; and what interpreted frames' Methods are.
 *
 * To decode a compiled frame touches some thirty cache lines of HotSpot's, most of them cold; to find it here two,
 * and one to see that it still holds. Compiled code is known again by its nmethod's address, compile id and Method, in
 * a block that is in use: a JVM never uses a compile id twice. While a frame is on the stack its nmethod and all its
 * Methods live. Native rules are valid for the table of rows that they were read from. A Method, whose name takes
 * some ten more lines to read, is known by its address as long as the JVM has unloaded no class, and never longer than
 * an epoch: versions of redefined methods are freed without being counted.
 *
 * One table per session, in the caller's memory. Rows are written under a version that is odd meanwhile: readers
 * that see it move, and writers that find it taken, do without. Signal-safe, lock-free, never waits.
 */
#ifndef JHOT_WALK_FRAMES_FRAME_CACHE_H
#define JHOT_WALK_FRAMES_FRAME_CACHE_H

#include "walk/frames/unwind.h"
#include "walk/hotspot/layout.h"

#include <stdatomic.h>

#define FRAME_CACHE_CODE_ROWS   8192u
#define FRAME_CACHE_RULE_ROWS   1024u
#define FRAME_CACHE_METHOD_ROWS 4096u
#define FRAME_CACHE_FRAMES      10 /* frames of more inlined methods are decoded each time */
#define FRAME_CACHE_FILLS       64 /* of one walk; what finds no space is kept by a later one */

/* Of a pc that is no return address, where a thread was interrupted: what it says of frames holds only there. */
#define FRAME_CACHE_EXACT (1ull << 63)

/* A return address in compiled Java. */
struct frame_cache_code {
	uint64_t pc, start, method; /* start: the nmethod */
	int32_t compile_id;
	int32_t frame_words;
	uint32_t count;
	uint64_t frames[FRAME_CACHE_FRAMES]; /* packed, innermost first */
};

/* A Method: its name, and what interpreted frames need. */
struct frame_cache_method {
	uint64_t method, const_method, pool;
	uint32_t id;         /* of its name */
	uint16_t code_bytes; /* 0 for native methods */
	uint16_t name_index; /* in its pool */
};

/* Three tables of rows, each with a version; in the caller's memory, which is zeroed. */
struct frame_cache_code_row {
	_Alignas(8) _Atomic uint32_t version; /* odd: being written */
	struct frame_cache_code code;
};
_Static_assert(sizeof(struct frame_cache_code_row) == 128, "two cache lines");

struct frame_cache_rule_row {
	_Atomic uint32_t version;
	uint32_t generation; /* of the table of rows */
	uint64_t pc;
	struct unwind_rule rule;
};

struct frame_cache_method_row {
	_Atomic uint32_t version;
	uint32_t epoch;
	struct frame_cache_method method;
	uint64_t unloads;
};
_Static_assert(sizeof(struct frame_cache_method_row) == 48, "one or two cache lines");

struct frame_cache {
	_Alignas(64) struct frame_cache_code_row codes[FRAME_CACHE_CODE_ROWS];
	struct frame_cache_method_row methods[FRAME_CACHE_METHOD_ROWS];
	struct frame_cache_rule_row rules[FRAME_CACHE_RULE_ROWS];
};

/* What one walk found out, until its frames have names. In the walk's own buffer. */
struct frame_cache_walk {
	struct frame_cache *table;
	uint32_t count;
	uint32_t epoch;   /* the caller's; moves on every few seconds */
	bool methods;     /* whether Methods can be remembered */
	uint64_t unloads; /* how many classes the JVM had unloaded when the walk began */
	struct frame_cache_fill {
		struct frame_cache_code code; /* without frames */
		uint32_t first;               /* of the walk's frames */
		uint64_t sum;                 /* of these, to see whether they were taken back */
	} fills[FRAME_CACHE_FILLS];
};

/* Before each walk. */
void frame_cache_begin(struct frame_cache_walk *walk, const struct walk_layout *layout,
	const struct walk_mem *mem);

/* Is there a row for pc, and does the nmethod that it is of still stand there? */
bool frame_cache_find(const struct frame_cache *cache, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t pc, struct frame_cache_code *out);

/* Frames first..last of the walk are those of code (pc, start, method, compile_id, frame_words set). */
void frame_cache_note(struct frame_cache_walk *walk, const struct frame_cache_code *code,
	const struct walk_frame *frames, uint32_t first, uint32_t last);
/*
 * Is there a row for this Method? One of an older epoch is renewed if the Method still has the same parts: a class that
 * was redefined gets others, though its Methods may get the old ones' addresses.
 */
bool frame_cache_method(const struct frame_cache_walk *walk, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t method, struct frame_cache_method *out);
/* Keeps a Method that has been read and named in this walk. Ignored while nothing tells of unloaded classes. */
void frame_cache_method_keep(
	const struct frame_cache_walk *walk, const struct frame_cache_method *method);

/* What was noted of frames from `first` on is forgotten: they were moved. */
void frame_cache_forget(struct frame_cache_walk *walk, uint32_t first);
/* After names_resolve: keeps what was noted, with names. */
void frame_cache_keep(struct frame_cache_walk *walk, const struct walk_frame *frames,
	const uint64_t *packed, uint32_t count);

/* The rule of a native return address, of that table of rows; the caller's address was seen to be one. */
bool frame_cache_rule(const struct frame_cache *cache, const struct unwind_table *rows, uint64_t pc,
	struct unwind_rule *out);
void frame_cache_rule_keep(struct frame_cache *cache, const struct unwind_table *rows, uint64_t pc,
	const struct unwind_rule *rule);

#endif
