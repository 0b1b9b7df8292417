/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outer end of a thread's stack, as it was walked before: a thread's root, what its pool or its main loop is made
 * of, stay where they are from sample to sample. Where a walk comes to a place where an earlier one of the same thread
 * was, at the same pc, sp and fp, and all words of the stack that led that one from there to the root are the same,
 * so is the rest of the stack.
 *
 * A walk is a function of the place that it starts from and of the words that it loads. Those of the stack are
 * compared each time; so is what says that compiled code is still the same nmethod's. Methods hold as they do in the
 * cache (frame_cache.h): until a class is unloaded, or the epoch is over; unwind rows by the generation of their table. A walk
 * that loads anything else leaves no tail.
 *
 * Where it begins is found by comparing: the places of one walk are kept (marks), and the innermost of them that a
 * later walk comes by is where the tail begins. One that did not hold begins further out; from time to time it is
 * tried further in.
 *
 * One per thread, which alone walks with it, in signal handlers or not: tail_take tells a handler that has
 * interrupted another walk of the thread to do without. Zeroed memory is a tail that knows nothing.
 */
#ifndef JHOT_WALK_FRAMES_TAIL_H
#define JHOT_WALK_FRAMES_TAIL_H

#include <stdbool.h>
#include <stdint.h>

#define TAIL_FRAMES 40
#define TAIL_WORDS  64 /* of the stack */
#define TAIL_CODES  24 /* of the heads of nmethods */
#define TAIL_MARKS  32

struct tail_mark {
	uint64_t pc, sp, fp;
	bool from_libjvm;
};

struct tail {
	uint32_t owner; /* what the caller calls the thread; of another one nothing is known */
	bool taken;
	bool learns;    /* this walk leaves marks */
	uint8_t failed; /* recordings in a row that led to nothing */
	uint32_t wait;  /* so many walks go without it */
	uint32_t hits, learn_after;

	/* from where it was recorded to the root; frame_count 0: there is none */
	struct tail_mark start;
	uint64_t hi, unloads;
	uint32_t epoch, generation;
	uint16_t frame_count, word_count, code_count;
	uint16_t new_count;           /* frames of a recording that have no names yet, */
	uint32_t new_first;           /* and where they are among the walk's */
	uint32_t offsets[TAIL_WORDS]; /* from start.sp */
	uint64_t words[TAIL_WORDS];
	uint64_t frames[TAIL_FRAMES]; /* packed */
	struct {
		uint64_t at, value;
		uint32_t bytes;
	} codes[TAIL_CODES];

	uint32_t mark_count;
	struct tail_mark marks[TAIL_MARKS]; /* innermost first */
};

/* For a walk of thread `owner` (not 0); NULL: do without. */
struct tail *tail_take(struct tail *tail, uint32_t owner);
/* After names_resolve. packed: the names of the walk's frames. */
void tail_give(struct tail *tail, const uint64_t *packed, uint32_t count);

#endif
