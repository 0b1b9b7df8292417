/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frozen frames: the frames of a continuation that is not mounted, or only partly. They live in the heap, in StackChunks
 * (Continuation.tail and its parents), laid out as on the stack; the pointers of interpreted frames are word offsets instead:
 *
 *   StackChunk: fields (parent, sp...) | stack: ... [pc]<- sp  youngest frame ... oldest frame
 *
 * Field offsets come from the JVM's own field lists. Structs belong to the caller. A collector may relocate or change a chunk
 * while it is read: callers validate afterwards (unmounted_still). Signal-safe.
 */
#ifndef JHOT_WALK_FRAMES_FROZEN_H
#define JHOT_WALK_FRAMES_FROZEN_H

#include "walk/frames/walker.h"
#include "walk/hotspot/oop.h"

/* Offsets in StackChunk (of bottom and argsize, one is 0), of its stack (bytes), and of Continuation.tail. */
struct frozen_fields {
	uint32_t parent, sp, size, bottom, argsize, bytes, tail;
	uint64_t klass; /* StackChunk */
};

/* Returns false if this is no Continuation, or its classes do not have the expected fields. */
bool frozen_fields(const struct walk_layout *layout, const struct walk_mem *mem,
	uint64_t continuation, struct frozen_fields *out);

struct frozen {
	struct frozen_fields at;
	uint64_t chunk;
};

/* Finds the youngest chunk of a Continuation. False if there is none. mode: avoids reading class names; NULL if unknown. */
bool frozen_tail(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct oop_mode *mode, uint64_t continuation, struct frozen *f);

/* sp of the youngest frame, whose pc is in the word below. f->chunk + f->at.bytes if unreadable. */
uint64_t frozen_sp(const struct walk_mem *mem, const struct frozen *f);
/* True when the chunk contains a frame. */
bool frozen_any(const struct walk_mem *mem, const struct frozen *f);

/* Adds the frames of this chunk and its parents, youngest first. False if some could not be read. Changes w->at. */
bool frozen_show(struct walker *w, const struct frozen *f);

/*
 * Stores all frames of an unmounted virtual thread, youngest first. Of `thread`, only cache and cut are used. Count 0: no frame
 * could be read.
 */
struct walk_result walk_frozen(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct walk_thread *thread, const struct frozen *f, struct walk_frame *frames,
	uint32_t max);

#endif
