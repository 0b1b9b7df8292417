/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of one walk in progress, private to walk.c and to the files that step over one kind of frame each. On the walking
 * thread's stack; signal-safe.
 *
 * A step examines pc/sp/fp, adds the frames found there, and sets pc/sp/fp to the caller:
 *
 *   STEP_NEXT  pc/sp/fp are the caller's        STEP_ROOT  the thread's outermost frame was reached
 *   STEP_FAIL  caller not found, `why` says why; pc/sp/fp are unchanged
 *
 * A step tries these candidates in order and takes the first whose caller is plausible. "top": pc is where the thread was
 * interrupted (walker.top). Last column: images of tests/walk/images, or a test, that fail without the candidate; "-": only
 * walks of live JVMs cover it (tests/walk/test_walks.sh).
 *
 *   pc in        at      candidate                                               needed by
 *   any code     caller  anchor, if it is above the frames walked                -
 *                both    after a failed step: anchor (recover)                   test_stubs
 *   compiled     both    frame_cache row                                         (speed)
 *                top     by_prologue: frame being built or removed               jdk25-virtual
 *                        by_frame_size                                           jdk17, jdk27, jdk28
 *                        by_return_address: Graal's leaf code                    jdk11-graal
 *                        by_moved_sp                                             test_stubs
 *                        no frame; fp pushed; stub_search                        -
 *                caller  leaf, low or no PcDesc: by_frame_size above arguments   -
 *                        low: by_moved_sp                                        -
 *                        by_frame_size                                           jdk11, jdk17, jdk25-virtual
 *                        by_moved_sp                                             jdk8-c1
 *   interpreter  top     method entry: entering                                  -
 *                caller  entry without a frame: stub_search                      -
 *                both    frame_at fp                                             jdk11, jdk17, jdk21-interpreted
 *                top     entering, leaving                                       -
 *                both    in_barrier (Shenandoah)                                 jdk11-barrier, jdk28-barrier
 *   other blobs  both    continuation_step                                       jdk21-virtual, jdk25-virtual
 *                top     adapter_step; fp if it agrees with the link register;   -
 *                        by_link; leaf stub: words from sp on; prologue_step;
 *                        by_frame_size; undescribed_step; pushed fp;
 *                        native_leaf_step
 *                        stub_search                                             test_stubs
 *                caller  adapter_saved; by_frame_size; by_frame_pointer;         -
 *                        stub_search
 *   native       both    rows_step                                               jdk11, jdk17, test_leaf
 *                caller  trampoline_step                                         test_walk
 *                top     aarch64: java_link_step, link_step                      test_stubs, test_leaf there
 *                both    fp_step                                                 jdk11-graal, test_walk
 *                top     native_leaf_step                                        test_leaf
 *
 * Flags that one step leaves for the next: leaf (arguments may have been pushed), low (sp is only a lower bound), signal (the
 * next pc is exact again: top), no_size (sp may stay unchanged once).
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
	const struct walk_regs *regs; /* registers as interrupted: valid while top */
	struct walk_regs signal_regs; /* what regs points to after a signal frame */
	const struct walk_thread *thread;
	struct walk_cursor at;
	bool top;     /* at.pc is where the thread was interrupted, not a return address */
	bool no_size; /* the last step left a frame of size 0: sp may be unchanged */
	bool leaf;    /* the callee is a CODE_LEAF stub: its arguments may have been pushed */
	bool low;     /* the size of the callee's frame is unknown: at.sp is only a lower bound */
	bool signal;  /* the last step left a signal frame: at.pc is exact again */
	struct walk_cursor anchor; /* newest JavaFrameAnchor not yet passed; sp 0: none */
	bool from_libjvm;          /* the callee is a native frame of libjvm */
	uint64_t hi;               /* upper bound of the stack */
	bool bounded;              /* hi is the stack's end, not a guess */
	enum walk_break why;
	struct walk_frame *frames;
	uint32_t count, max;
	const struct walk_cut *cut; /* NULL: the walk ends when the buffer is full */
	uint32_t omitted;           /* frames dropped between top and root */
	/* walker_blob: the blob of the current frame, and the one that was last examined ahead of it. */
	struct code_blob blobs[2];
	unsigned current; /* index of the current frame's */
	/* last compiled frame found in the frame cache; pc 0: none */
	struct frame_cache_code known;
	struct unwind_rule rule; /* last native rule found, */
	uint64_t rule_pc;        /* and its pc */
	struct tail *tail;       /* NULL: walk without it */
	uint32_t place;          /* places of the tail stored or passed so far */
	uint32_t join;           /* index of the place at which this walk met the earlier one, */
	uint32_t join_count;     /* and the number of frames at that point */
	uint32_t followed;       /* frames that came from the tail */
	bool joined;
};

/* Appends a frame. Returns false if the buffer is full. */
static inline bool walker_add(
	struct walker *w, enum walk_frame_type type, uint64_t value, uint16_t bci)
{
	if (w->count == w->max)
		return false;
	w->frames[w->count++] = (struct walk_frame){.value = value,
		.bci = bci,
		.type = (uint8_t)type,
		.from_base = (uint32_t)((w->hi - w->at.sp) / 8)};
	return true;
}

/* True when there is space for all that a step may add. With a cut, drops (and moves) frames to make space. */
bool walker_has_space(struct walker *w);
/* Initializes a walk without a position: all registers are 0. */
void walker_begin(struct walker *w, const struct walk_layout *layout, const struct walk_mem *mem,
	const struct walk_thread *thread, struct walk_frame *frames, uint32_t max);

/* Call after the walk: applies thread->cut to frames beyond the limit. */
void cut_end(struct walker *w, struct walk_result *result);

/* Appends frames that are already in the 64-bit form. */
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

/* True when addr is an aligned word of the stack at or above sp. */
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

/*
 * The frame cache's row for a return address in compiled code (or for pc | FRAME_CACHE_EXACT), NULL if there is none. Valid
 * until the next call.
 */
static inline const struct frame_cache_code *walker_known(struct walker *w, uint64_t pc)
{
	if (w->known.pc == pc)
		return &w->known; /* recursion: validated in this walk already */
	if (!w->thread->cache ||
		!frame_cache_find(w->thread->cache->table, w->layout, w->mem, pc, &w->known)) {
		w->known.pc = 0;
		return NULL;
	}
	return &w->known;
}

/*
 * The blob that contains pc, NULL if there is none. Valid until the next call for another pc; the current frame's blob, until
 * the next step.
 */
static inline const struct code_blob *walker_blob(struct walker *w, uint64_t pc)
{
	struct code_blob *ahead = &w->blobs[!w->current];

	if (!walker_in_code(w, pc))
		return NULL;
	if (w->blobs[w->current].pc == pc)
		return &w->blobs[w->current];
	if (ahead->pc != pc)
		ahead->pc = code_cache_find(w->layout, w->mem, pc, ahead) ? pc : 0;
	return ahead->pc ? ahead : NULL;
}

/* Sender sp as passed to adapters and method entries; on aarch64, JDK 20 changed its register. */
static inline uint64_t walker_sender(const struct walker *w)
{
	return ARCH_HAS_LINK && w->layout->jdk < 20 ? w->regs->sender_19 : w->regs->sender;
}

/* Loads a word of the stack; 0 if unreadable. */
static inline uint64_t walker_word(const struct walker *w, uint64_t addr)
{
	return mem_u64(w->mem, addr);
}

/* Loads a slot of an interpreted frame (walk_layout.interp_...: words from fp). */
static inline uint64_t walker_slot(const struct walker *w, uint64_t fp, int32_t words)
{
	return walker_word(w, fp + (uint64_t)(8 * (int64_t)words));
}

/* True when pc is a return address into Java: interpreter, compiled code or an entry frame. */
bool walker_returns_to_java(struct walker *w, uint64_t pc);
/* True when pc is a return address into any code: the above, or preceded by a call. */
bool walker_returns(struct walker *w, uint64_t pc);
bool interpreted_returns(const struct walker *w, uint64_t pc);

/*
 * True when a guessed caller is plausible, judged by looking one step ahead. Stale stack words are often return addresses,
 * but rarely ones whose frame fits.
 */
bool walker_caller_sound(struct walker *w, uint64_t pc, uint64_t sp, uint64_t fp);
bool interpreted_sound(struct walker *w, uint64_t pc, uint64_t sp, uint64_t fp);
bool entry_sound(struct walker *w, uint64_t fp);
bool upcall_sound(struct walker *w, uint64_t sp, uint64_t fp);
bool native_sound(struct walker *w, uint64_t fp);

/* If the thread's tail is valid here, adds all frames from here to the root and returns true. Else may store the place. */
bool tail_follow(struct walker *w);
/* Updates the tail after a walk that reached the root with all its frames stored. */
void tail_end(struct walker *w);
/* Continues to the root. False if it was not reached. */
bool walker_to_root(struct walker *w);

/* The caller of an interrupted function whose frame is not built yet, or already removed. pushed: its fp is on the stack. */
struct walk_cursor walker_before_frame(const struct walker *w, bool pushed);

/* Steps to a Java caller if pc returns to one and its frame is plausible. */
enum walk_step walker_try(struct walker *w, uint64_t pc, uint64_t sp, uint64_t fp);
/* Likewise, where a register may hold the caller's sp (sender); otherwise it is close to `near`. */
enum walk_step walker_try_sender(
	struct walker *w, uint64_t pc, uint64_t sender, uint64_t near, uint64_t fp);

enum walk_step native_step(struct walker *w);
/* Steps to the caller of a leaf stub by the unwind row of the nearest return address. */
enum walk_step native_leaf_step(struct walker *w);
enum walk_step interpreted_step(struct walker *w);
enum walk_step compiled_step(struct walker *w, const struct code_blob *blob);
/*
 * Like compiled_step, for a frame in the frame cache: a caller's, or a method body where the thread was interrupted.
 * STEP_FAIL: not in the cache, or its caller is in doubt.
 */
enum walk_step compiled_known(struct walker *w);
enum walk_step stub_step(struct walker *w, const struct code_blob *blob);
enum walk_step entry_step(struct walker *w);
enum walk_step upcall_step(struct walker *w, const struct code_blob *blob);
/* Steps from a continuation stub to the frame that entered the continuation. */
enum walk_step continuation_step(struct walker *w);

/* Add the frames at w->at, or at fp, without stepping; work also for frames that are not on the stack. */
void compiled_show(struct walker *w, const struct code_blob *blob);
bool interpreted_show(struct walker *w, uint64_t fp);

/* Searches `words` words above sp for the caller of an interrupted stub: the nearest certain return address. */
enum walk_step stub_search(struct walker *w, uint32_t words, enum walk_break why);

/* Loads a JavaFrameAnchor. Returns false, with out->sp 0, if it is not set. */
bool anchor_load(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t anchor,
	struct walk_cursor *out);

#endif
