/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SafeFetch looked for by its code: in libjvm's file, as to look at what is mapped would make all of it resident, or, in
 * versions that make it when they start, among the stubs at the beginning of the code cache.
 */
#include "sampler/jvm/jvm.h"

#include "sampler/publish/modules.h"
#include "sampler/signal/raw.h"

#include "walk/hotspot/code_cache.h"
#include "walk/load/fetch.h"

#include <string.h>

#define LIBRARY_SINCE    17 /* JDK */
#define EVERYWHERE_SINCE 11
#define PART_BYTES       (16u << 10)
#define PARTS            256u /* of a file in one go: 4 MB */
#define STUBS_PARTS      64u  /* of a heap of the code cache: 1 MB, the interpreter included */
#define PATH_BYTES       512u

/* Of the process, not of a session. */
static uint64_t search_at; /* in libjvm's code: where to go on */
static bool search_over;
static uint8_t search_part[PART_BYTES];

/* search_find: where the code begins in the part; count when it is not there. The second byte is a rare one. */
static size_t search_find(const struct fetch_code *code, size_t count)
{
	size_t last = count - code->count;

	for (size_t i = 0; i <= last; i++) {
		const uint8_t *second = memchr(search_part + i + 1, code->bytes[1], last + 1 - i);

		if (!second)
			break;
		i = (size_t)(second - search_part) - 1;
		if (!memcmp(search_part + i, code->bytes, code->count))
			return i;
	}
	return count;
}

static bool search_stubs(struct sampler *s, const struct walk_heap *heap)
{
	for (uint32_t i = 0; i < STUBS_PARTS; i++) {
		uint64_t at = heap->low + (uint64_t)i * (PART_BYTES - FETCH_CODE_MAX);
		struct code_blob blob;
		size_t found;

		if (at + PART_BYTES > heap->high ||
			!s->mem.load(&s->mem, at, search_part, PART_BYTES))
			return false;
		found = search_find(&fetch_stubs, PART_BYTES);
		if (found == PART_BYTES)
			continue;
		if (!code_cache_find(s->layout, &s->mem, at + found, &blob) ||
			blob.kind != CODE_STUBS)
			return false;
		fetch_use(&fetch_stubs, at + found, s->layout->jdk >= EVERYWHERE_SINCE);
		return true;
	}
	return false;
}

static long library_open(const struct module *m)
{
	char path[PATH_BYTES];

	if (!m || m->path_bytes >= sizeof(path))
		return -1;
	memcpy(path, m->path, m->path_bytes);
	path[m->path_bytes] = '\0';
	return raw(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
}

/* library_found: the same must be where the file says that it is mapped: the file may be another by now. */
static void library_found(struct sampler *s, uint64_t at)
{
	uint8_t there[FETCH_CODE_MAX];

	if (s->mem.load(&s->mem, at, there, fetch_library.count) &&
		!memcmp(there, fetch_library.bytes, fetch_library.count))
		fetch_use(&fetch_library, at, true);
	search_over = true;
}

static void search_library(struct sampler *s, const struct module *m, long fd)
{
	for (uint32_t i = 0; i < PARTS && !search_over; i++) {
		long got =
			raw(SYS_pread64, fd, search_part, PART_BYTES, m->file_offset + search_at);
		size_t found;

		if (got <= FETCH_CODE_MAX || search_at >= m->end - m->start) {
			search_over = true;
			return;
		}
		found = search_find(&fetch_library, (size_t)got);
		if (found < (size_t)got)
			library_found(s, m->start + search_at + found);
		search_at += (uint64_t)got - FETCH_CODE_MAX;
	}
}

void fetch_search(struct sampler *s)
{
	const struct module *m;
	long fd = -1;

	if (search_over || !s->layout || !fetch_library.bytes)
		return;
	if (s->layout->jdk < LIBRARY_SINCE) {
		for (uint32_t i = 0; i < s->layout->heap_count && !fetch_ready(); i++)
			search_stubs(s, &s->layout->heaps[i]);
		search_over = true;
		return;
	}
	m = modules_find(s->modules, jvm_inside());
	fd = library_open(m);
	if (fd < 0) {
		search_over = true;
		return;
	}
	search_library(s, m, fd);
	raw(SYS_close, fd);
}
