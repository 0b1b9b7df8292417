/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One walk in progress, private to walk.c and the files that step over one kind of frame each.
 *
 * A step looks at pc/sp/fp, adds the frames found there, and moves pc/sp/fp to the caller:
 *
 *   STEP_NEXT  pc/sp/fp are the caller's        STEP_ROOT  the thread's first frame was reached
 *   STEP_FAIL  no caller found, why says so; pc/sp/fp are unchanged
 */
#ifndef JHOT_WALK_FRAMES_WALKER_H
#define JHOT_WALK_FRAMES_WALKER_H

#include "walk/frames/frame_cache.h"
#include "walk/frames/tail.h"
#include "walk/hotspot/code_cache.h"
#include "walk/hotspot/layout.h"
#include "walk/load/arch.h"
#include "walk/load/mem.h"

enum walk_step { STEP_NEXT, STEP_ROOT, STEP_FAIL };

struct walk_cursor {
	uint64_t pc, sp, fp;
};

struct walker {
	const struct walk_layout *layout;
	const struct walk_mem *mem;
	const struct walk_regs *regs; /* as interrupted: valid while top */
	struct walk_regs signal_regs; /* what regs becomes when a signal frame was left */
	const struct walk_thread *thread;
	struct walk_cursor at;
	bool top;     /* at.pc is where the thread was interrupted, not a return address */
	bool no_size; /* the step left a frame of no size: sp may be what it was */
	bool leaf;    /* the frame below is a CODE_LEAF stub: its arguments may have been pushed */
	bool low; /* the step left what does not tell its size, by a register: sp may be too low */
	bool signal;               /* the step left a signal frame: at.pc is exact again */
	struct walk_cursor anchor; /* the newest JavaFrameAnchor not yet passed; sp 0 = none */
	bool from_libjvm;          /* the frame below is native and libjvm's */
	uint64_t hi;               /* of the stack */
	bool bounded;              /* hi is its end, not a guess */
	enum walk_break why;
	struct walk_frame *frames;
	uint32_t count, max;
	const struct walk_cut *cut; /* NULL: the walk ends where the buffer does */
	uint32_t left_out;          /* frames that were dropped between top and root */
	struct code_blob blobs
		[2]; /* walker_blob: that of the frame stood at, and the last one looked at ahead */
	unsigned here;                 /* which of them is the former */
	struct frame_cache_code known; /* the last compiled frame that it knew; pc 0: none */
	struct unwind_rule rule;       /* the same of native ones */
	uint64_t rule_pc;
	struct tail *tail;   /* NULL: the walk goes without */
	uint32_t mark;       /* how many of its marks have been left or passed */
	uint32_t join;       /* the mark at which this walk came upon the earlier one, */
	uint32_t join_count; /* how many frames it had then */
	uint32_t followed;   /* frames that came from the tail */
	bool joined;
};

/* false when the buffer is full. */
static inline bool walker_add(
	struct walker *w, enum walk_frame_type type, uint64_t value, uint16_t bci)
{
	if (w->count == w->max)
		return false;
	w->frames[w->count++] =
		(struct walk_frame){.value = value, .bci = bci, .type = (uint8_t)type};
	return true;
}

/* Whether there is space for what a step may add; with a cut, made by dropping frames. Moves frames. */
bool walker_has_space(struct walker *w);
/* A walk that has not begun: nothing is known of where it stands, all registers are 0. */
void walker_begin(struct walker *w, const struct walk_layout *layout, const struct walk_mem *mem,
	const struct walk_thread *thread, struct walk_frame *frames, uint32_t max);

/* Before and after the walk: how long it may get, and what is kept of it. */
void cut_begin(struct walker *w, uint32_t max);
void cut_end(struct walker *w, struct walk_result *result);

/* What is remembered of frames. */
static inline void walker_add_packed(struct walker *w, const uint64_t *frames, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		walker_add(w, WALK_PACKED, frames[i], WALK_BCI_UNKNOWN);
}

static inline bool walker_in_code(const struct walker *w, uint64_t pc)
{
	return w->layout && pc >= w->layout->code_low && pc < w->layout->code_high;
}

static inline bool walker_in_interpreter(const struct walker *w, uint64_t pc)
{
	return w->layout && pc >= w->layout->interpreter_low && pc < w->layout->interpreter_high;
}

static inline bool walker_in_libjvm(const struct walker *w, uint64_t pc)
{
	return w->layout && pc >= w->layout->libjvm_start && pc < w->layout->libjvm_end;
}

/* Whether addr is an aligned word of the stack at or above sp. */
static inline bool walker_on_stack(const struct walker *w, uint64_t addr)
{
	return !(addr & 7) && addr >= w->at.sp && addr < w->hi && w->hi - addr >= 16;
}

static inline enum walk_step walker_fail(struct walker *w, enum walk_break why)
{
	w->why = why;
	return STEP_FAIL;
}

static inline enum walk_step walker_next(struct walker *w, uint64_t pc, uint64_t sp, uint64_t fp)
{
	w->at = (struct walk_cursor){.pc = pc & ARCH_PC_MASK, .sp = sp, .fp = fp};
	return STEP_NEXT;
}

/* What the frame cache knows of a return address in compiled code (or FRAME_CACHE_EXACT), NULL if nothing. Valid until the next call. */
static inline const struct frame_cache_code *walker_known(struct walker *w, uint64_t pc)
{
	if (w->known.pc == pc)
		return &w->known; /* recursion; it was checked in this walk */
	if (!w->thread->cache ||
		!frame_cache_find(w->thread->cache->table, w->layout, w->mem, pc, &w->known)) {
		w->known.pc = 0;
		return NULL;
	}
	return &w->known;
}

/*
 * The blob that pc is in, NULL if there is none. Valid until the next call for another pc, that of the frame stood at
 * until the next step.
 */
static inline const struct code_blob *walker_blob(struct walker *w, uint64_t pc)
{
	struct code_blob *ahead = &w->blobs[!w->here];

	if (!walker_in_code(w, pc))
		return NULL;
	if (w->blobs[w->here].pc == pc)
		return &w->blobs[w->here];
	if (ahead->pc != pc)
		ahead->pc = code_cache_find(w->layout, w->mem, pc, ahead) ? pc : 0;
	return ahead->pc ? ahead : NULL;
}

/* Sender sp as adapters and method entries are given it: aarch64's HotSpot has had another register for it since JDK 20. */
static inline uint64_t walker_sender(const struct walker *w)
{
	return ARCH_HAS_LINK && w->layout->jdk < 20 ? w->regs->sender_19 : w->regs->sender;
}

/* Load a word of the stack. */
static inline uint64_t walker_word(const struct walker *w, uint64_t addr)
{
	return mem_u64(w->mem, addr);
}

/* The same of an interpreted frame's slot (walk_layout.interp_...: words from fp). */
static inline uint64_t walker_slot(const struct walker *w, uint64_t fp, int32_t words)
{
	return walker_word(w, fp + (uint64_t)(8 * (int64_t)words));
}

/* Whether pc is a return address into Java: the interpreter, compiled code, an entry frame. */
bool walker_returns_to_java(struct walker *w, uint64_t pc);
/* The same for any code: the above, or preceded by a call. */
bool walker_returns(struct walker *w, uint64_t pc);
bool interpreted_returns(const struct walker *w, uint64_t pc);

/*
 * Whether a guess at the caller is plausible: one step of looking ahead. Stale words of the stack are
 * often return addresses, rarely ones whose frame fits.
 */
bool walker_caller_sound(struct walker *w, uint64_t pc, uint64_t sp, uint64_t fp);
bool interpreted_sound(struct walker *w, uint64_t pc, uint64_t sp, uint64_t fp);
bool entry_sound(struct walker *w, uint64_t fp);
bool upcall_sound(struct walker *w, uint64_t sp, uint64_t fp);
bool native_sound(struct walker *w, uint64_t fp);

/* Add all frames from here to the root if an earlier walk's tail holds; otherwise a mark may be left. */
bool tail_follow(struct walker *w);
/* At the end of a walk that came to the root, and whose frames are all there. */
void tail_end(struct walker *w);
/* Go on to the root; false: it was not reached. */
bool walker_to_root(struct walker *w);

/* The caller of a top frame that is not there yet, or no more; pushed: its fp is. */
struct walk_cursor walker_before_frame(const struct walker *w, bool pushed);

/* Step to a Java caller if pc returns to one and that is plausible. */
enum walk_step walker_try(struct walker *w, uint64_t pc, uint64_t sp, uint64_t fp);
/* The same where a register may hold the caller's sp; otherwise it is near. */
enum walk_step walker_try_sender(
	struct walker *w, uint64_t pc, uint64_t sender, uint64_t near, uint64_t fp);

enum walk_step native_step(struct walker *w);
/* The caller of a leaf, by the rows of the nearest return address. */
enum walk_step native_leaf_step(struct walker *w);
enum walk_step interpreted_step(struct walker *w);
enum walk_step compiled_step(struct walker *w, const struct code_blob *blob);
/*
 * The same for a caller's frame, or a method's body where the thread was interrupted, that the frame cache knows.
 * STEP_FAIL: it does not, or its caller is in doubt.
 */
enum walk_step compiled_known(struct walker *w);
enum walk_step stub_step(struct walker *w, const struct code_blob *blob);
enum walk_step entry_step(struct walker *w);
enum walk_step upcall_step(struct walker *w, const struct code_blob *blob);
/* From a stub of continuations to the frame that the continuation was entered from. */
enum walk_step continuation_step(struct walker *w);

/* Only show what stands at w->at, or at fp: for frames that are not on the stack. */
void compiled_show(struct walker *w, const struct code_blob *blob);
bool interpreted_show(struct walker *w, uint64_t fp);

/* Find the sender of a top frame by looking for the nearest sure return address above sp. */
enum walk_step stub_search(struct walker *w, uint32_t words, enum walk_break why);

/* The anchor in memory; false, and sp 0, when it is not set. */
bool anchor_load(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t anchor,
	struct walk_cursor *out);

#endif
