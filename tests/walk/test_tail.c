/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tail: a walk that follows it finds the same as a walk without it, also if any word has changed, and it is not
 * followed once it may be stale. On stacks of the memory images.
 */
#include "tests/tap.h"
#include "tests/walk/image.h"
#include "walk/frames/frame_cache.h"
#include "walk/frames/tail.h"
#include "walk/hotspot/layout.h"
#include "walk/hotspot/names.h"

#define NAMES_BYTES (1u << 20)
#define UNLOADED_AT 0x10000ull /* not in any image */

/* The image's memory, with one word of it changed. */
static struct {
	const struct walk_mem *through;
	uint64_t unloaded, changed_at, changed_to;
} memory;

static bool memory_load(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	(void)mem;
	if (addr == UNLOADED_AT) {
		memcpy(out, &memory.unloaded, bytes);
		return true;
	}
	if (!memory.through->load(memory.through, addr, out, bytes))
		return false;
	for (size_t i = 0; i < bytes; i++)
		if (memory.changed_at && addr + i - memory.changed_at < 8)
			((char *)out)[i] =
				(char)(memory.changed_to >> 8 * (addr + i - memory.changed_at));
	return true;
}

static const struct walk_mem mem = {.load = memory_load, .ctx = NULL};

struct found {
	uint32_t count, followed;
	uint64_t packed[IMAGE_DEPTH];
};

static struct frame_cache_walk cache;
static struct tail tail;
static struct names *names;

/* owner 0: a walk without cache and tail */
static void walk(
	const struct image *image, const struct image_stack *s, uint32_t owner, struct found *out)
{
	static struct walk_frame frames[IMAGE_DEPTH];
	struct walk_thread thread = s->thread;
	struct walk_result r;

	thread.cache = owner ? &cache : NULL;
	thread.tail = owner ? tail_acquire(&tail, owner) : NULL;
	r = walk_stack(image->layout, &mem, &s->regs, &thread, frames, IMAGE_DEPTH);
	names_resolve(names, image->layout, &mem, NULL, frames, r.count, out->packed, NULL);
	if (owner)
		frame_cache_insert(&cache, frames, out->packed, r.count);
	if (thread.tail)
		tail_release(thread.tail, out->packed, r.count);
	out->count = r.count;
	out->followed = r.followed;
}

static bool same(const struct found *a, const struct found *b)
{
	return a->count == b->count &&
	       !memcmp(a->packed, b->packed, a->count * sizeof(a->packed[0]));
}

/* Walks until the tail is followed; false if it never is. */
static bool walk_until_followed(
	const struct image *image, const struct image_stack *s, uint32_t owner)
{
	static struct found found;

	for (int i = 0; i < 20; i++) {
		walk(image, s, owner, &found);
		if (found.followed)
			return true;
	}
	return false;
}

/* The number of changed words that lead to another stack; *right: all walks noticed the changes. */
static uint32_t changes_seen(const struct image *image, const struct image_stack *s, bool *right)
{
	static struct found fresh, got, before;
	static struct tail known;
	uint32_t ways = 0;

	walk(image, s, 0, &before);
	known = tail;
	*right = true;
	for (uint32_t i = 0; i < known.word_count; i++) {
		for (uint64_t by = 1; by < 1ull << 40; by <<= 3) {
			memory.changed_at = known.start.sp + known.offsets[i];
			memory.changed_to = known.words[i] + by;
			tail = known;
			walk(image, s, tail.owner, &got);
			walk(image, s, 0, &fresh);
			*right = *right && same(&got, &fresh) && !got.followed;
			ways += !same(&fresh, &before);
		}
	}
	memory.changed_at = 0;
	tail = known;
	return ways;
}

/* Returns whether the stack leaves a tail. */
static bool test_stack(const struct image *image, const struct image_stack *s, uint32_t owner)
{
	static struct found fresh, got;
	struct tail known;
	uint32_t ways;
	bool right;

	memory.through = &s->mem;
	memory.unloaded = owner;
	s->table->generation = owner;
	walk(image, s, 0, &fresh);
	if (!walk_until_followed(image, s, owner))
		return false;
	walk(image, s, owner, &got);
	ok(same(&got, &fresh) && got.followed, "%s: %u of %u frames come from the tail", s->name,
		got.followed, got.count);
	known = tail;
	ways = changes_seen(image, s, &right);
	ok(right && ways, "%s: changed words are noticed (%u lead to another stack)", s->name,
		ways);

	memory.unloaded += 1000;
	walk(image, s, owner, &got);
	ok(same(&got, &fresh) && !got.followed,
		"%s: the tail is not followed after a class was unloaded", s->name);
	memory.unloaded -= 1000;
	tail = known;
	cache.epoch++;
	walk(image, s, owner, &got);
	ok(same(&got, &fresh) && !got.followed, "%s: the tail is not followed in a later epoch",
		s->name);
	ok(walk_until_followed(image, s, owner), "%s: a new tail is followed in the later epoch",
		s->name);
	known = tail;
	s->table->generation += 1000;
	walk(image, s, owner, &got);
	ok(same(&got, &fresh) && !got.followed,
		"%s: the tail is not followed with other unwind rows", s->name);
	s->table->generation -= 1000;
	tail = known;
	walk(image, s, owner + 1, &got);
	ok(same(&got, &fresh) && !got.followed, "%s: the tail is not followed by another thread",
		s->name);
	return true;
}

static void test_acquire(void)
{
	static struct tail one;

	ok(tail_acquire(&one, 7) == &one, "a free tail is acquired");
	ok(!tail_acquire(&one, 7), "an acquired tail cannot be acquired again");
	tail_release(&one, NULL, 0);
	ok(tail_acquire(&one, 7) == &one, "a released tail is acquired again");
}

int main(void)
{
	static const char *const files[] = {"jdk8", "jdk11", "jdk17", "jdk27", "jdk28"};
	const char *srcdir = getenv("srcdir") ? getenv("srcdir") : ".";
	uint32_t owner = 1, tails = 0;

#if !defined(__x86_64__)
	tap_skip_all("the images are of x86-64");
#endif
	names = names_init(calloc(1, NAMES_BYTES), NAMES_BYTES);
	cache.table = calloc(1, sizeof(struct frame_cache));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char path[512];
		struct image *image;

		snprintf(path, sizeof(path), "%s/tests/walk/images/%s.image.gz", srcdir, files[i]);
		image = image_open(path);
		image->layout->unloaded_classes = UNLOADED_AT;
		for (int k = 0; k < image->count; k++, owner += 2)
			tails += test_stack(image, &image->stacks[k], owner);
		image_close(image);
	}
	ok(tails >= 20, "%u stacks leave a tail", tails);
	test_acquire();
	free(cache.table);
	free(names);
	return tap_done();
}
