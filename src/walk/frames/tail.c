/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Caches the outer part of a stack: stores the places of a walk, records the words loaded from one of them to the root, and
 * reuses the frames in later walks in which these words are the same.
 */
#include "walk/frames/unwind.h"
#include "walk/frames/walker.h"
#include "walk/hotspot/names.h"

#define LEARN_FIRST 32u   /* hits until a start further in is tried; doubles each time, */
#define LEARN_LAST  8192u /* up to this */
/* Back-off: after n failures in a row, 2^n walks go without a tail; n is at most this. */
#define WAIT_BITS 10

struct recorder {
	const struct walk_mem *through;
	const struct walk_layout *layout;
	const struct unwind_table *rows;
	struct tail *tail;
	const struct walker *walker;
	uint64_t stuck_sp; /* sp of the frame that loaded something incomparable; 0: none */
};

/* --- places ------------------------------------------------------------------------------------------ */

static bool is_at(const struct walker *w, const struct tail_place *place)
{
	return w->at.sp == place->sp && w->at.pc == place->pc && w->at.fp == place->fp &&
	       w->from_libjvm == place->from_libjvm;
}

/* Ends learning: rotates the ring of `left` places so that the innermost is the first. */
static void places_rotate(struct tail *t, uint32_t left)
{
	uint32_t first = left % TAIL_PLACES;

	t->place_count = left < TAIL_PLACES ? left : TAIL_PLACES;
	if (left <= TAIL_PLACES)
		return;
	for (uint32_t n = 0; n < first; n++) { /* rotate by one each time: rare, so simple */
		struct tail_place place = t->places[0];

		for (uint32_t i = 1; i < TAIL_PLACES; i++)
			t->places[i - 1] = t->places[i];
		t->places[TAIL_PLACES - 1] = place;
	}
}

/* Joins this walk with the earlier one at the first place that it meets: a tail may start there. */
static void place_compare(struct walker *w)
{
	const struct tail *t = w->tail;

	while (w->place < t->place_count && t->places[w->place].sp < w->at.sp)
		w->place++;
	if (w->joined || w->place == t->place_count || !is_at(w, &t->places[w->place]))
		return;
	w->joined = true;
	w->join = w->place;
	w->join_count = w->count;
}

/* Drops the innermost places: a tail starts at one of the remaining places, or further out. */
static void places_drop(struct tail *t, uint32_t inner)
{
	t->place_count -= inner;
	for (uint32_t i = 0; i < t->place_count; i++)
		t->places[i] = t->places[i + inner];
}

/* --- validity ---------------------------------------------------------------------------------------- */

/* Address of the outermost stack word that has changed; 0: none has. */
static uint64_t words_differ(const struct tail *t, const struct walk_mem *mem)
{
	uint64_t outermost = 0;

	for (uint32_t i = 0; i < t->word_count; i++) {
		uint64_t at = t->start.sp + t->offsets[i];

		if (mem_u64(mem, at) != t->words[i] && at > outermost)
			outermost = at;
	}
	return outermost;
}

static bool codes_match(const struct tail *t, const struct walk_mem *mem)
{
	for (uint32_t i = 0; i < t->code_count; i++) {
		if (mem_word(mem, t->codes[i].at, t->codes[i].bytes) != t->codes[i].value)
			return false;
	}
	return true;
}

static bool tail_is_current(const struct walker *w)
{
	const struct tail *t = w->tail;
	const struct frame_cache_walk *cache = w->thread->cache;

	return t->frame_count && t->unloads == cache->unloads && t->epoch == cache->epoch &&
	       t->generation == w->thread->rows->generation && t->hi == w->hi &&
	       w->max - w->count >= t->frame_count;
}

/* If the tail is no longer valid, the next one must start further out than the changed word. */
static bool tail_is_valid(struct walker *w)
{
	const struct tail *t = w->tail;
	uint64_t differs = words_differ(t, w->mem);

	if (!differs)
		return codes_match(t, w->mem);
	w->joined = false;
	while (w->place < t->place_count && t->places[w->place].sp <= differs)
		w->place++;
	return false;
}

bool tail_follow(struct walker *w)
{
	struct tail *t = w->tail;

	/* A tail starts where only `at` and from_libjvm affect the rest of the walk. */
	if (w->top || w->leaf || w->anchor.sp)
		return false;
	if (t->learns) { /* a ring until the walk ends: retains the outermost places */
		t->place_count = 0;
		t->places[w->place++ % TAIL_PLACES] =
			(struct tail_place){w->at.pc, w->at.sp, w->at.fp, w->from_libjvm};
		return false;
	}
	place_compare(w);
	if (!is_at(w, &t->start) || !tail_is_current(w) || !tail_is_valid(w))
		return false;
	walker_add_packed(w, t->frames, t->frame_count);
	w->followed = t->frame_count;
	return true;
}

/* --- recording --------------------------------------------------------------------------------------- */

static bool word_note(struct recorder *r, uint64_t addr, uint64_t value)
{
	struct tail *t = r->tail;
	uint64_t offset = addr - t->start.sp;

	for (uint32_t i = 0; i < t->word_count; i++)
		if (t->offsets[i] == offset)
			return true;
	if (t->word_count == TAIL_WORDS || offset > UINT32_MAX)
		return false;
	t->offsets[t->word_count] = (uint32_t)offset;
	t->words[t->word_count++] = value;
	return true;
}

static bool words_note(struct recorder *r, uint64_t addr, const void *data, size_t bytes)
{
	const char *from = data;
	uint64_t value;

	for (size_t at = 0; at < bytes; at += sizeof(value)) {
		__builtin_memcpy(&value, from + at, sizeof(value));
		if (!word_note(r, addr + at, value))
			return false;
	}
	return true;
}

static bool code_note(struct recorder *r, uint64_t addr, const void *data, size_t bytes)
{
	struct tail *t = r->tail;
	uint64_t value = 0;

	if (t->code_count == TAIL_CODES)
		return false;
	__builtin_memcpy(&value, data, bytes);
	t->codes[t->code_count].at = addr;
	t->codes[t->code_count].value = value;
	t->codes[t->code_count++].bytes = (uint32_t)bytes;
	return true;
}

/*
 * Records a load for later comparison. libjvm's code never changes, nor does that of modules while their rows are in the
 * table. False if the load can be neither compared nor relied on.
 */
static bool load_note(struct recorder *r, uint64_t addr, const void *data, size_t bytes)
{
	const struct walk_layout *l = r->layout;
	uint64_t hi = r->tail->hi;

	if (addr >= r->tail->start.sp && addr < hi)
		return !(addr & 7) && !(bytes & 7) && words_note(r, addr, data, bytes);
	if (bytes <= 8 && addr >= l->code_low && addr < l->code_high)
		return code_note(r, addr, data, bytes);
	return (addr >= l->libjvm_start && addr < l->libjvm_end) || unwind_find(r->rows, addr);
}

static bool recorder_load(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	struct recorder *r = mem->ctx;
	bool read = mem_load(r->through, addr, out, bytes);

	if (!r->stuck_sp && !(read && load_note(r, addr, out, bytes)))
		r->stuck_sp = r->walker->at.sp;
	return read;
}

static void tail_clear(struct tail *t)
{
	t->frame_count = t->new_count = 0;
	t->word_count = t->code_count = 0;
}

/*
 * Repeats the walk from the frame at which it joined the previous one, and records every load. The frames are those already
 * found, so they are written beyond the end of the list and dropped, like the records for the frame cache. Returns false if a
 * load cannot be compared later; *stuck_sp is then the sp of the frame that made it.
 */
static bool tail_record(struct walker *w, uint64_t *stuck_sp)
{
	struct tail *t = w->tail;
	struct frame_cache_walk *cache = w->thread->cache;
	struct recorder r = {.through = w->mem,
		.layout = w->layout,
		.rows = w->thread->rows,
		.tail = t,
		.walker = w};
	struct walk_mem mem = {.load = recorder_load, .ctx = &r};
	uint32_t count = w->count, frames = count - w->join_count;
	uint32_t fills = cache->count;

	tail_clear(t);
	t->start = t->places[w->join];
	t->hi = w->hi;
	w->mem = &mem;
	w->tail = NULL;
	w->at = (struct walk_cursor){t->start.pc, t->start.sp, t->start.fp};
	w->from_libjvm = t->start.from_libjvm;
	w->anchor.sp = 0;
	w->top = w->leaf = w->no_size = w->signal = false;
	/* Cached results would hide the loads that produced them. */
	w->known.pc = w->rule_pc = w->blobs[0].pc = w->blobs[1].pc = 0;
	bool root = walker_to_root(w) && w->count - count == frames;
	w->count = count;
	w->mem = r.through;
	w->tail = t;
	cache->count = fills;
	*stuck_sp = r.stuck_sp ? r.stuck_sp : t->start.sp;
	return root && !r.stuck_sp;
}

/* The next tail must start further out; if no places remain, back off. */
static void tail_fails(struct tail *t, uint64_t stuck_sp)
{
	uint32_t inner = 0;

	tail_clear(t);
	while (inner < t->place_count && t->places[inner].sp <= stuck_sp)
		inner++;
	places_drop(t, inner);
	if (t->place_count)
		return;
	if (t->failed < WAIT_BITS)
		t->failed++;
	t->wait = 1u << t->failed;
}

static void tail_renew(struct walker *w)
{
	struct tail *t = w->tail;
	const struct frame_cache_walk *cache = w->thread->cache;
	uint32_t frames = w->count - w->join_count;
	uint64_t stuck_sp = t->places[w->join].sp;

	if (frames > TAIL_FRAMES || w->max - w->count < 2 * TAIL_FRAMES ||
		!tail_record(w, &stuck_sp)) {
		tail_fails(t, stuck_sp);
		return;
	}
	places_drop(t, w->join);
	t->failed = 0;
	t->unloads = cache->unloads;
	t->epoch = cache->epoch;
	t->generation = w->thread->rows->generation;
	t->new_first = w->join_count;
	t->new_count = (uint16_t)frames;
}

static void tail_hit(struct tail *t)
{
	uint32_t after = t->learn_after ? t->learn_after : LEARN_FIRST;

	if (++t->hits < after)
		return;
	t->hits = 0;
	t->learns = true;
	t->learn_after = after < LEARN_LAST ? 2 * after : after;
}

void tail_end(struct walker *w)
{
	struct tail *t = w->tail;

	if (t->learns) {
		places_rotate(t, w->place);
		t->learns = false;
	} else if (w->followed) {
		tail_hit(t);
	} else if (w->joined) {
		tail_renew(w);
	} else {
		t->learns = true;
	}
}

/* --- ownership --------------------------------------------------------------------------------------- */

struct tail *tail_acquire(struct tail *t, uint32_t owner)
{
	if (t->acquired)
		return NULL;
	if (t->owner != owner) {
		tail_clear(t);
		t->owner = owner;
		t->place_count = t->hits = t->learn_after = t->wait = 0;
		t->failed = 0;
		t->learns = true;
	}
	if (t->wait) {
		t->wait--;
		return NULL;
	}
	t->acquired = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* only signal handlers of this thread compete */
	return t;
}

static bool is_named(uint64_t packed)
{
	unsigned type = (unsigned)(packed >> 56);

	return type == WALK_NATIVE || (uint32_t)packed > NAMES_ID_FULL;
}

static void tail_store(struct tail *t, const uint64_t *packed, uint32_t count)
{
	uint32_t frames = t->new_count;

	t->new_count = 0;
	if (!frames || t->new_first + frames > count)
		return;
	for (uint32_t i = 0; i < frames; i++) {
		if (!is_named(packed[t->new_first + i]))
			return;
		t->frames[i] = packed[t->new_first + i];
	}
	t->frame_count = (uint16_t)frames;
}

void tail_release(struct tail *t, const uint64_t *packed, uint32_t count)
{
	tail_store(t, packed, count);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->acquired = false;
}
