/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tail cache: the outer end of a thread's stack as an earlier walk found it. Most samples of a thread share its root and its
 * pool or main loop. If a walk reaches the same pc, sp and fp as an earlier walk of the same thread, and every stack word that
 * led that walk from there to the root is unchanged, the rest of the stack is the same.
 *
 * This holds because a walk is a function of its starting point and of the words that it loads. Stack words are compared
 * every time, as are the words that identify the nmethods. Methods are valid as in frame_cache.h, until a class is unloaded
 * or the epoch ends; unwind rows as long as their table's generation. A walk that loads anything else is not recorded.
 *
 * Where a tail begins is learned: one walk stores the places it passes, and the innermost that a later walk meets becomes
 * the start. After a tail was found invalid, the next one starts further out; occasionally a start further in is tried.
 *
 * One struct per thread, used only by that thread, in signal handlers or not: tail_acquire returns NULL to a handler that has
 * interrupted another walk of its thread. Zeroed memory is an empty tail. Signal-safe, never waits.
 */
#ifndef JHOT_WALK_FRAMES_TAIL_H
#define JHOT_WALK_FRAMES_TAIL_H

#include <stdbool.h>
#include <stdint.h>

#define TAIL_FRAMES 40
#define TAIL_WORDS  64 /* stack words compared */
#define TAIL_CODES  24 /* words in headers of nmethods compared */
#define TAIL_PLACES 32

struct tail_place {
	uint64_t pc, sp, fp;
	bool from_libjvm;
};

struct tail {
	uint32_t owner; /* the caller's id of the thread; a tail of another owner is discarded */
	bool acquired;
	bool learns;    /* this walk stores its places */
	uint8_t failed; /* failed recordings in a row, for the back-off */
	uint32_t wait;  /* back-off: walks left to do without the tail */
	uint32_t hits, learn_after;

	/* The recording, from its start to the root; frame_count 0: none. */
	struct tail_place start;
	uint64_t hi, unloads;
	uint32_t epoch, generation;
	uint16_t frame_count, word_count, code_count;
	uint16_t new_count;           /* recorded frames that have no names yet, */
	uint32_t new_first;           /* and the index of the first among the walk's frames */
	uint32_t offsets[TAIL_WORDS]; /* bytes from start.sp */
	uint64_t words[TAIL_WORDS];
	uint64_t frames[TAIL_FRAMES]; /* packed */
	struct {
		uint64_t at, value;
		uint32_t bytes;
	} codes[TAIL_CODES];

	uint32_t place_count;
	struct tail_place places[TAIL_PLACES]; /* innermost first */
};

/* Acquires the tail for a walk of thread `owner` (not 0). NULL: walk without it, and do not call tail_release. */
struct tail *tail_acquire(struct tail *tail, uint32_t owner);
/* Releases the tail. Call after names_resolve; packed: the named frames of the walk. */
void tail_release(struct tail *tail, const uint64_t *packed, uint32_t count);

#endif
