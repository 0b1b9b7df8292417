/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the memory images of tests/walk/images again: stacks of every kind and JDK, and every one that was once
 * walked incorrectly, without a JVM. `walkstat -i FILE PID` creates images; they contain the expected frames.
 */
#include <dirent.h>

#include "tests/tap.h"
#include "tests/walk/image.h"
#include "walk/frames/frame_cache.h"
#include "walk/frames/tail.h"
#include "walk/hotspot/names.h"

#define NAMES_BYTES (1u << 20)
#define IDS         4096

struct text {
	char *of[IDS];
	uint32_t last;
};

static void names_read(struct names *names, struct text *text)
{
	struct names_entry e;

	while (names_next(names, text->last, &e)) {
		text->last = e.id;
		if (e.id < IDS && asprintf(&text->of[e.id], "%.*s%s%.*s%.*s", e.class_bytes,
					  e.class_name, e.class_bytes ? "." : "", e.name_bytes,
					  e.name, e.signature_bytes, e.signature) < 0)
			exit(1);
	}
}

/* Whether repeated walks with a cache and a tail give the same stack. */
static bool same_cached(const struct image *image, const struct image_stack *s, struct names *names,
	const uint64_t *want, uint32_t count)
{
	static struct walk_frame frames[IMAGE_DEPTH];
	static uint64_t packed[IMAGE_DEPTH];
	static struct frame_cache_walk cache;
	struct tail tail = {.owner = 0};
	struct walk_thread thread = s->thread;
	bool same = true;

	cache.table = calloc(1, sizeof(struct frame_cache));
	if (s->table)
		s->table->generation = 1;
	thread.cache = &cache;
	for (int i = 0; i < 6; i++) {
		thread.tail = tail_acquire(&tail, 1);

		struct walk_result r =
			walk_stack(image->layout, &s->mem, &s->regs, &thread, frames, IMAGE_DEPTH);

		names_resolve(names, image->layout, &s->mem, &cache, frames, r.count, packed, NULL);
		frame_cache_insert(&cache, frames, packed, r.count);
		if (thread.tail)
			tail_release(thread.tail, packed, r.count);
		same = same && r.count == count && !memcmp(packed, want, count * sizeof(*packed));
	}
	free(cache.table);
	return same;
}

/* The frame lines of this walk; the caller frees them. */
static char *walk(const struct image *image, const struct image_stack *s, bool *again)
{
	static struct walk_frame frames[IMAGE_DEPTH];
	static uint64_t packed[IMAGE_DEPTH];
	void *memory = calloc(1, NAMES_BYTES);
	struct names *names = names_init(memory, NAMES_BYTES);
	struct text text = {.last = 0};
	struct walk_result r =
		walk_stack(image->layout, &s->mem, &s->regs, &s->thread, frames, IMAGE_DEPTH);
	char *out = NULL, value[32];
	size_t bytes;
	FILE *f = open_memstream(&out, &bytes);

	names_resolve(names, image->layout, &s->mem, NULL, frames, r.count, packed, NULL);
	names_read(names, &text);
	for (uint32_t i = 0; i < r.count; i++) {
		const char *name = text.of[(uint32_t)packed[i] % IDS];

		snprintf(value, sizeof(value), "%" PRIx64, frames[i].value);
		if (frames[i].type == WALK_NATIVE || !name)
			name = value;
		image_frame_write(f, frames[i].type, frames[i].bci, name);
	}
	fclose(f);
	*again = same_cached(image, s, names, packed, r.count);
	for (uint32_t i = 0; i < IDS; i++)
		free(text.of[i]);
	free(memory);
	return out;
}

static void diag_lines(const char *what, const char *lines)
{
	diag("%s:", what);
	while (*lines) {
		int length = (int)strcspn(lines, "\n");

		diag("  %.*s", length, lines);
		lines += length + 1;
	}
}

static void image_test(const char *path)
{
	struct image *image = image_open(path);
	const char *name = strrchr(path, '/') + 1;

	ok(image->count > 0, "%s contains %d stacks", name, image->count);
	for (int i = 0; i < image->count; i++) {
		struct image_stack *s = &image->stacks[i];
		bool again;
		char *got = walk(image, s, &again);

		if (!ok(!strcmp(got, s->want), "%s: stack %s is walked as expected", name,
			    s->name)) {
			diag_lines("walked", got);
			diag_lines("wanted", s->want);
			if (s->missed)
				diag("%" PRIu64 " bytes asked for are not in the image, last "
				     "0x%" PRIx64,
					s->missed, s->missed_at);
		}
		ok(again, "%s: stack %s is the same with cache and tail", name, s->name);
		free(got);
	}
	image_close(image);
}

static int is_image(const struct dirent *e)
{
	return strstr(e->d_name, ".image.gz") != NULL;
}

int main(int argc, char **argv)
{
	const char *srcdir = getenv("srcdir") ? getenv("srcdir") : ".";
	struct dirent **files;
	char dir[512], path[1024];
	int count;

#if !defined(__x86_64__)
	tap_skip_all("the images are of x86-64");
#endif
	for (int i = 1; i < argc; i++)
		image_test(argv[i]);
	if (argc > 1)
		return tap_done();
	snprintf(dir, sizeof(dir), "%s/tests/walk/images", srcdir);
	count = scandir(dir, &files, is_image, alphasort);
	ok(count > 0, "images are found in %s", dir);
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i]->d_name);
		image_test(path);
		free(files[i]);
	}
	if (count >= 0)
		free(files);
	return tap_done();
}
