/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The places of a thread-local variable, in libraries of each access model and in this program, beside the address that the
 * program itself uses, in threads that have and have not used it; process contexts, intact and not.
 */
#include "session/context/context.h"
#include "tests/tap.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* In the program itself, where the linker knows its place. */
__attribute__((visibility("default"))) __thread void *volatile otel_thread_ctx_v1;

static bool read_own(void *ctx, uint64_t addr, void *out, size_t bytes)
{
	struct iovec to = {out, bytes}, from = {(void *)(uintptr_t)addr, bytes};

	(void)ctx;
	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)bytes;
}

static const struct context_mem own = {read_own, NULL};

/* As the agent finds it; 0: not in this thread. */
static uint64_t address_by(const struct wire_context_place *place)
{
	uint64_t pointer = (uint64_t)(uintptr_t)__builtin_thread_pointer();
	uint64_t vector, count, block = pointer;

	if (place->module) {
		if (!read_own(NULL, pointer + (uint64_t)(int64_t)place->vector_at, &vector, 8) ||
			!read_own(NULL, vector + (uint64_t)(int64_t)place->count_at, &count, 8) ||
			place->module > count ||
			!read_own(NULL, vector + place->module * place->entry_bytes, &block, 8) ||
			block == UINT64_MAX)
			return 0;
	}
	return block + (uint64_t)place->offset;
}

struct in_thread {
	const struct wire_context_place *place;
	void *library;
	uint64_t before, after, wanted;
};

static void *in_thread(void *arg)
{
	struct in_thread *t = arg;

	t->before = address_by(t->place);
	t->wanted = (uint64_t)(uintptr_t)dlsym(t->library, "otel_thread_ctx_v1");
	t->after = address_by(t->place);
	return NULL;
}

static uint64_t base_of(void *library)
{
	struct link_map *map;

	return dlinfo(library, RTLD_DI_LINKMAP, &map) ? 0 : map->l_addr;
}

static void check_place(const char *name, void *library, uint64_t base)
{
	struct wire_context_place place;
	enum context_found found = context_place_find(&own, base, false, &place);
	struct in_thread other = {&place, library, 0, 0, 0};
	pthread_t thread;
	uint64_t want;

	if (!ok(found == CONTEXT_FOUND, "%s: the variable is found", name))
		return;
	want = (uint64_t)(uintptr_t)dlsym(library, "otel_thread_ctx_v1");
	ok(address_by(&place) == want,
		"%s: its place is where this thread has it: module %llu, offset %lld", name,
		(unsigned long long)place.module, (long long)place.offset);
	pthread_create(&thread, NULL, in_thread, &other);
	pthread_join(thread, NULL);
	ok(other.before == 0 || other.before == other.wanted,
		"%s: in a thread that has not used it, it is there or not", name);
	ok(other.after == other.wanted, "%s: it is where another thread has it", name);
}

/* As before the loader has filled in what it stores for variables: words in pairs, in the library's data. */
static bool read_unresolved(void *base, uint64_t addr, void *out, size_t bytes)
{
	bool good = read_own(NULL, addr, out, bytes);

	if (bytes == 16 && addr > *(uint64_t *)base + 8192)
		memset(out, 0, bytes);
	return good;
}

static void check_unresolved(const char *name, uint64_t base)
{
	const struct context_mem mem = {read_unresolved, &base};
	struct wire_context_place place;

	ok(context_place_find(&mem, base, false, &place) == CONTEXT_LATER,
		"%s: a place that the loader has not resolved is none", name);
}

static void test_libraries(void)
{
	static const char *const models[] = {"desc", "gd", "ie"};
	const char *build = getenv("builddir");
	char path[4096];

	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		void *library;

		snprintf(path, sizeof(path), "%s/tests/sampler/librequests-%s.so",
			build ? build : ".", models[i]);
		/* Else it would use the program's variable of that name. */
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
		if (library) {
			check_place(models[i], library, base_of(library));
			check_unresolved(models[i], base_of(library));
		} else {
			tap_skip(models[i], "make check builds it");
		}
	}
}

static int first_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && !info->dlpi_phdr[i].p_offset)
			*(uint64_t *)base = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
	return 1;
}

static void test_program(void)
{
	struct wire_context_place place;
	uint64_t base = 0;

	dl_iterate_phdr(first_base, &base);
	ok(context_place_find(&own, base, false, &place) == CONTEXT_FOUND && !place.module &&
			address_by(&place) == (uint64_t)(uintptr_t)&otel_thread_ctx_v1,
		"a variable of the program is where the linker has put it");
	ok(context_place_find(&own, base_of(dlopen("libc.so.6", RTLD_NOW)), false, &place) ==
			CONTEXT_NONE,
		"libc has no such variable");
}

/* A copy of a library with random bytes: any result, but it ends and reads no memory of its own. */
static unsigned char *damaged;
static size_t damaged_bytes;

static bool read_damaged(void *ctx, uint64_t addr, void *out, size_t bytes)
{
	(void)ctx;
	if (addr < 65536 || addr - 65536 > damaged_bytes || bytes > damaged_bytes - (addr - 65536))
		return false;
	memcpy(out, damaged + (addr - 65536), bytes);
	return true;
}

static void test_damaged(void)
{
	const struct context_mem mem = {read_damaged, NULL};
	struct wire_context_place place;
	uint64_t base = 0;
	uint32_t x = 1, found = 0;

	dl_iterate_phdr(first_base, &base);
	damaged_bytes = 12288;
	damaged = malloc(damaged_bytes);
	for (int i = 0; i < 20000; i++) {
		read_own(NULL, base, damaged, 4096);
		read_own(NULL, base + 4096, damaged + 4096, 4096);
		read_own(NULL, base + 8192, damaged + 8192, 4096);
		for (int n = 0; n < 1 + i % 30; n++) {
			x = x * 1664525 + 1013904223;
			damaged[(x >> 8) % (i % 2 ? 1024u : (uint32_t)damaged_bytes)] =
				(unsigned char)(x >> 3);
		}
		found += context_place_find(&mem, 65536, false, &place) == CONTEXT_FOUND;
	}
	free(damaged);
	ok(true, "20,000 damaged files are rejected or give a place (%u)", found);
}

/* --- the process context ------------------------------------------------------------------------------ */

static const char message[] = "\x0a\x18" /* resource */
			      "\x0a\x16\x0a\x0cservice.name\x12\x06\x0a\x04shop"
			      "\x12\x39" /* attribute */
			      "\x0a\x1dthreadlocal.attribute_key_map"
			      "\x12\x18\x2a\x16\x0a\x06\x0a\x04user\x0a\x0c\x0a\x0ahttp.route";

struct published {
	char magic[8];
	uint32_t version, bytes;
	uint64_t stamp, payload;
};

static bool process_read(const struct published *p, struct process_context *c)
{
	return process_context_read(&own, (uint64_t)(uintptr_t)p, c);
}

static void test_process(void)
{
	struct published p = {"OTEL_CT", 2, sizeof(message) - 1, 7, (uint64_t)(uintptr_t)message};
	struct process_context c = {0};
	bool good;

	p.magic[7] = 'X';
	good = process_read(&p, &c);
	ok(good && c.label_count == 1 && !strcmp(c.labels[0], "service.name=shop"),
		"a process context has the service's attributes");
	ok(good && c.keys[0] && !strcmp(c.keys[0], "user") && c.keys[1] &&
			!strcmp(c.keys[1], "http.route") && !c.keys[2],
		"and the names of the threads' attributes");
	p.stamp = 0;
	ok(!process_read(&p, &c) && !c.label_count && !c.keys[0],
		"one that is being written is none");
	p.stamp = 8;
	p.version = 3;
	ok(!process_read(&p, &c), "another version is none");
	p.version = 2;
	p.payload = 8;
	ok(!process_read(&p, &c), "one without memory is none");
	p.payload = (uint64_t)(uintptr_t)message;
	p.bytes = UINT32_MAX;
	ok(!process_read(&p, &c), "one of 4 GB is none");
	for (size_t n = 0; n < sizeof(message) - 1; n++) {
		char damaged_text[sizeof(message)];

		process_context_parse(message, n, &c);
		process_context_done(&c);
		for (int bit = 0; bit < 8; bit++) {
			memcpy(damaged_text, message, sizeof(message));
			damaged_text[n] ^= (char)(1 << bit);
			process_context_parse(damaged_text, sizeof(message) - 1, &c);
			process_context_done(&c);
		}
	}
	ok(true, "cut and damaged messages are read or refused");
	process_context_done(&c);
}

int main(void)
{
	otel_thread_ctx_v1 = NULL;
	test_libraries();
	test_program();
	test_damaged();
	test_process();
	return tap_done();
}
