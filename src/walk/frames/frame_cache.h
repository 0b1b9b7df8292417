/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Per-session cache of decoded frames. For a return address in compiled Java: its named frames and the frame size. For one in
 * native code: its unwind rule. For a Method: its name, and the fields that a step over an interpreted frame reads.
 *
 * Decoding a compiled frame touches some thirty cache lines of HotSpot, most of them cold; a cache hit touches two, and one
 * more to validate it. Validity:
 *
 *   compiled code  the nmethod's address, compile id and Method match, in a block in use: a JVM never reuses a compile id.
 *                  While a frame is on the stack, its nmethod and all its Methods are alive.
 *   native rule    the generation of the unwind table that it was read from.
 *   Method         its address, while the JVM has unloaded no class and the epoch lasts: old versions of redefined methods
 *                  are freed without being counted. (Reading a Method's name takes some ten more cache lines.)
 *
 * The caller owns the memory, zeroed. Rows are sequence locks (load/version.h): a row that changes while it is read is a miss,
 * and a row that is being written is not inserted into. Signal-safe and lock-free, any thread, never waits.
 */
#ifndef JHOT_WALK_FRAMES_FRAME_CACHE_H
#define JHOT_WALK_FRAMES_FRAME_CACHE_H

#include "walk/frames/unwind.h"
#include "walk/hotspot/layout.h"

#include <stdatomic.h>

#define FRAME_CACHE_CODE_ROWS   8192u
#define FRAME_CACHE_RULE_ROWS   1024u
#define FRAME_CACHE_METHOD_ROWS 8192u
/* Associativity of the Methods: with 1, two frequent Methods in the same row would evict each other in every walk. */
#define FRAME_CACHE_METHOD_WAYS 4u
#define FRAME_CACHE_FRAMES      10 /* frames with more inlined methods are decoded every time */
#define FRAME_CACHE_FILLS       64 /* fills per walk; the excess is cached by a later walk */

/* Flag in pc: an interrupted pc, not a return address. The row is valid for exactly that pc. */
#define FRAME_CACHE_EXACT (1ull << 63)

/*
 * A return address in compiled Java, or (FRAME_CACHE_EXACT) an interrupted pc. FRAME_CACHE_EXACT with the address of an
 * nmethod's header, where no instruction is: a fact about that nmethod, in frame_words, without frames.
 */
struct frame_cache_code {
	uint64_t pc, start, method; /* start: CodeBlob* of the nmethod */
	int32_t compile_id;
	int32_t frame_words;
	uint32_t count;
	uint64_t frames[FRAME_CACHE_FRAMES]; /* packed, innermost first */
};

/* A Method: its name, and the fields that a step over an interpreted frame reads. */
struct frame_cache_method {
	uint64_t method, const_method, pool;
	uint32_t id;         /* name id */
	uint16_t code_bytes; /* 0 for native methods */
	uint16_t name_index; /* in its constant pool */
};

/* Rows of the three tables, each with a version (load/version.h). */
struct frame_cache_code_row {
	_Alignas(8) _Atomic uint32_t version; /* odd: being written */
	struct frame_cache_code code;
};
_Static_assert(sizeof(struct frame_cache_code_row) == 128, "two cache lines");

struct frame_cache_rule_row {
	_Atomic uint32_t version;
	uint32_t generation; /* of the unwind table */
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

/* Frames that one walk has decoded, until they have names. In the walk's own buffer. */
struct frame_cache_walk {
	struct frame_cache *table;
	uint32_t count;
	uint32_t epoch;   /* the caller's; advances every few seconds */
	bool methods;     /* Methods can be cached: the JVM counts unloaded classes */
	uint64_t unloads; /* classes that the JVM had unloaded when the walk began */
	struct frame_cache_fill {
		struct frame_cache_code code; /* without frames */
		uint32_t first;               /* index among the walk's frames */
		/* Checksum of those frames; a mismatch: they were removed from the walk. */
		uint64_t sum;
	} fills[FRAME_CACHE_FILLS];
};

/* Call before each walk. */
void frame_cache_begin(struct frame_cache_walk *walk, const struct walk_layout *layout,
	const struct walk_mem *mem);

/* Copies the row for pc. False if there is none, or its nmethod is no longer valid. */
bool frame_cache_find(const struct frame_cache *cache, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t pc, struct frame_cache_code *out);

/* Records that frames first..last of the walk belong to code (pc, start, method, compile_id, frame_words set). */
void frame_cache_record(struct frame_cache_walk *walk, const struct frame_cache_code *code,
	const struct walk_frame *frames, uint32_t first, uint32_t last);
/*
 * Copies the row for this Method. False if there is none. A row of an older epoch is renewed if the Method still has the same
 * parts: a redefined class gets new ones, although its Methods may reuse the old addresses.
 */
bool frame_cache_method(const struct frame_cache_walk *walk, const struct walk_layout *layout,
	const struct walk_mem *mem, uint64_t method, struct frame_cache_method *out);
/* Caches a Method that this walk has read and named. No-op while unloaded classes are not counted. */
void frame_cache_method_insert(
	const struct frame_cache_walk *walk, const struct frame_cache_method *method);
/* Caches a fact about an nmethod: pc, start, method, compile_id and frame_words are set. */
void frame_cache_fact_insert(struct frame_cache *cache, const struct frame_cache_code *code);

/* Drops the records of frames from index `first` on, which have been moved within the walk. */
void frame_cache_forget(struct frame_cache_walk *walk, uint32_t first);
/* Call after names_resolve: inserts the recorded frames, now named, into the table. */
void frame_cache_insert(struct frame_cache_walk *walk, const struct walk_frame *frames,
	const uint64_t *packed, uint32_t count);

/* Copies the unwind rule of a native return address. A row exists only for a pc that is proven to be a return address. */
bool frame_cache_rule(const struct frame_cache *cache, const struct unwind_table *rows, uint64_t pc,
	struct unwind_rule *out);
void frame_cache_rule_insert(struct frame_cache *cache, const struct unwind_table *rows,
	uint64_t pc, const struct unwind_rule *rule);

#endif
