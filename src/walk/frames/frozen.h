/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames that wait in the heap: those of a continuation that is not mounted, or not wholly. They are in StackChunks,
 * Continuation.tail and its parents, laid out as on the stack, but for interpreted frames, whose pointers are word
 * offsets:
 *
 *   StackChunk: fields (parent, sp...) | stack: ... [pc]<- sp  youngest frame ... oldest frame
 */
#ifndef JHOT_WALK_FRAMES_FROZEN_H
#define JHOT_WALK_FRAMES_FROZEN_H

#include "walk/frames/walker.h"
#include "walk/hotspot/oop.h"

/* Offsets in StackChunk (bottom or argsize: 0 = the other), and where its stack begins; of Continuation.tail. */
struct frozen_fields {
	uint32_t parent, sp, size, bottom, argsize, bytes, tail;
	uint64_t klass; /* StackChunk */
};

/* false: continuation is none, or its classes are not as they are known to be. */
bool frozen_fields(const struct walk_layout *layout, const struct walk_mem *mem,
	uint64_t continuation, struct frozen_fields *out);

struct frozen {
	struct frozen_fields at;
	uint64_t chunk;
};

/* The chunk that a Continuation ends in; false: it has none. mode: quicker, NULL where it is not known. */
bool frozen_tail(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct oop_mode *mode, uint64_t continuation, struct frozen *f);

/* Where the stack of its youngest frame begins; f->chunk + f->at.bytes: the stack is empty, or nearly. */
uint64_t frozen_sp(const struct walk_mem *mem, const struct frozen *f);
/* Whether there is a frame in it. */
bool frozen_any(const struct walk_mem *mem, const struct frozen *f);

/* Adds the frames of this chunk and its parents, youngest first; false: some could not be read. Moves w->at. */
bool frozen_show(struct walker *w, const struct frozen *f);

/* All of these frames, of a thread that is not mounted, youngest first. thread: only cache and cut count. count 0: none could be read. */
struct walk_result walk_frozen(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct walk_thread *thread, const struct frozen *f, struct walk_frame *frames,
	uint32_t max);

/* The Method of the youngest frame, which has been shown as frame number `shown`. */
uint64_t frozen_method(const struct walker *w, const struct frozen *f, uint32_t shown);

#endif
