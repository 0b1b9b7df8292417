/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads memory of this process without a fault handler.
 *
 * Three kinds of ranges stay mapped while they are read, and are read in place: those of struct self_kept, for the life of
 * the process; `own`, and the stack in struct walk_mem, for as long as the caller guarantees. All other memory may be
 * unmapped at any time: the kernel copies it (`copy`), in lines that are cached until self_mem_refresh. Lines save system
 * calls, but may be stale: a reader that compares two reads must call self_mem_refresh in between.
 *
 * Memory that does not change while its owner exists, such as an nmethod's debug information, is cached longer, in a struct
 * self_constants: until its epoch ends, it is evicted by another line, or the owner's id differs. A line that is unchanged in a
 * later epoch never expires: its first copy was not made while the owner was still being written.
 *
 * Signal-safe. A struct self_mem belongs to one thread, and with lines to one walk at a time; a struct self_kept and
 * a struct self_constants are shared.
 */
#ifndef JHOT_WALK_LOAD_SELF_H
#define JHOT_WALK_LOAD_SELF_H

#include "walk/types.h"

#include <stdatomic.h>

/* The smallest page. A system call costs hardly more for a page than for a word. */
#define SELF_LINE_BYTES 4096u
/* Type of a cache of that many lines. tags: address | SELF_READABLE, or address alone; 0: empty. */
#define SELF_LINES_OF(count)                                 \
	struct {                                             \
		uint64_t tags[count];                        \
		unsigned char bytes[count][SELF_LINE_BYTES]; \
	}
#define SELF_LINES 8u /* enough for one walk */
#define SELF_WAYS  8u /* associativity; divides the number of lines */

struct self_lines {
	uint64_t *tags; /* NULL: every load is a system call */
	unsigned char (*bytes)[SELF_LINE_BYTES];
	uint32_t count;
};
/* cache: address of a SELF_LINES_OF(), borrowed */
#define self_lines(cache)     \
	((struct self_lines){ \
		(cache)->tags, (cache)->bytes, sizeof((cache)->tags) / sizeof(uint64_t)})
/* Without a cache. */
#define self_no_lines() ((struct self_lines){.tags = NULL})

#define SELF_CONSTANTS  512u
#define SELF_CONFIRMED  UINT32_MAX

/* Cache of constant lines, shared by all threads. Zeroed memory is an empty table. */
struct self_constants {
	struct self_constant {
		_Atomic uint32_t version; /* walk/load/version.h */
		uint32_t epoch;           /* of the copy; SELF_CONFIRMED: it does not expire */
		uint64_t owner, low;
		unsigned char bytes[SELF_LINE_BYTES];
	} rows[SELF_CONSTANTS];
};

#define SELF_KEPT 24u

/* Filled by one thread; ranges only ever grow at their ends. */
struct self_kept {
	_Atomic uint32_t count;
	struct self_range {
		uint64_t low;
		_Atomic uint64_t high;
	} ranges[SELF_KEPT];
};

/*
 * Copies bytes of this process through the kernel; false if any of them is unreadable. *checked is false at first and after
 * self_mem_refresh: the callee must then verify its means of reading, and set it.
 */
typedef bool self_copy(uint64_t addr, void *out, size_t bytes, bool *checked);

/* Copies up to SELF_WAYS blocks, by one system call where possible. Returns how many precede the first unreadable one. */
struct self_block {
	uint64_t addr;
	void *out;
	uint32_t bytes;
};
typedef uint32_t self_copy_blocks(const struct self_block *blocks, uint32_t count);

struct self_mem {
	struct walk_mem mem; /* for the walker; its ctx is this struct */
	self_copy *copy;
	self_copy_blocks *copy_blocks; /* with mem.prefetch */
	const struct self_kept *kept;
	uint64_t own_low, own_high;
	struct self_lines lines;
	struct self_constants *constants; /* NULL: no constants are cached; requires lines */
	uint32_t epoch;                   /* current epoch: rows of an earlier one are stale */
	uint32_t evicted;                 /* count of lines, to evict them in turn */
	bool checked;                     /* state of copy, with lines */
};

/* Initializes *self, which must not move afterwards, and clears the lines. All pointers are borrowed. */
void self_mem_open(struct self_mem *self, self_copy *copy, const struct self_kept *kept,
	struct self_lines lines);
/* Caches constants in that table. The caller owns the epoch and advances it every few seconds. */
void self_keep_constants(struct self_mem *self, struct self_constants *constants, uint32_t epoch);
/* Copies announced lines together; requires lines. */
void self_prefetch_by(struct self_mem *self, self_copy_blocks *copy_blocks);
/* Drops all lines, but no constants. */
void self_mem_refresh(struct self_mem *self);
/* Sets the running thread's stack, read in place from sp to its end. */
void self_mem_stack(struct self_mem *self, uint64_t sp, uint64_t end);

/* Adds a range; later calls with the same low raise its end. Ignored when all SELF_KEPT are in use. */
void self_kept_add(struct self_kept *kept, uint64_t low, uint64_t high);

#endif
