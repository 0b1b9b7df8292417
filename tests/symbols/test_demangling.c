/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols: names are demangled by the loader's thread. The demangler of the C++ runtime is replaced by one that
 * blocks until it is released, like an expensive name; the thread that asks for names, and the reading of files,
 * continue meanwhile.
 */
#include "base/clock.h"
#include "symbols/child/child.h"
#include "symbols/demangle.h"
#include "symbols/symbols.h"
#include "tests/tap.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MANGLED  "_ZN4slow4nameEv"
#define LIMIT_NS (20 * NS_PER_S)
#define HELD_NS  (5 * NS_PER_S) /* a demangler that is not released returns after this */

void slow_name(void) __asm__(MANGLED);
__attribute__((noinline)) void slow_name(void)
{
	__asm__ volatile("");
}

static atomic_bool released;
static atomic_int calls, thread; /* thread: that of the last call */

char *__cxa_demangle(const char *mangled, char *out, size_t *size, int *status);
char *__cxa_demangle(const char *mangled, char *out, size_t *size, int *status)
{
	uint64_t end_ns = clock_mono_ns() + HELD_NS;

	(void)out;
	(void)size;
	*status = 0;
	atomic_store(&thread, (int)gettid());
	atomic_fetch_add(&calls, 1);
	while (!atomic_load(&released) && clock_mono_ns() < end_ns)
		usleep(1000);
	return strcmp(mangled, MANGLED) != 0 ? NULL : strdup("slow::name()");
}

static const struct proc_map self = {.path = "/proc/self/exe", .end = UINT64_MAX};

static bool is_done(struct symbols *s, int module, uint64_t offset, struct symbol *out)
{
	symbols_native(s, module, offset, out);
	if (out->loading)
		symbols_wait(s, 10);
	return !out->loading;
}

static void test_other_file(struct symbols *s)
{
	struct proc_map libc = {.path = "", .end = UINT64_MAX};
	Dl_info info;

	if (dladdr((void *)(uintptr_t)qsort, &info))
		libc.path = info.dli_fname;
	ok(symbols_function(s, symbols_module_add(s, &libc), &libc, "qsort") != 0,
		"another file is read while the demangler is busy");
}

static void test_thread(uint64_t offset)
{
	struct symbols *s = symbols_new(0, 0);
	int module = symbols_module_add(s, &self);
	uint64_t begin_ns = clock_mono_ns();
	struct symbol sym;

	symbols_start_thread(s);
	while (!is_done(s, module, offset, &sym) && !atomic_load(&calls) &&
		clock_mono_ns() - begin_ns < LIMIT_NS)
		;
	ok(atomic_load(&calls) && atomic_load(&thread) != (int)gettid(),
		"a name is demangled by another thread than the caller's");
	ok(sym.loading && !*sym.name && sym.start == offset,
		"while it is being demangled the frame has no name and is not final");
	test_other_file(s);
	ok(sym.loading, "the name is still being demangled afterwards");
	atomic_store(&released, true);
	while (!is_done(s, module, offset, &sym) && clock_mono_ns() - begin_ns < LIMIT_NS)
		;
	is_str(sym.name, "slow::name", "after demangling the frame has its name");
	is_int(atomic_load(&calls), 1, "the name was demangled once");
	symbols_native(s, module, offset, &sym);
	is_str(sym.name, "slow::name", "the demangled name is cached");
	is_int((int64_t)symbols_function(s, module, &self, "slow::name"), (int64_t)offset,
		"the function is found by its demangled name");
	ok(atomic_load(&thread) != (int)gettid(), "the lookup demangles in the other thread, too");
	symbols_free(s);
}

/* Without a thread everything is answered at once. */
static void test_alone(uint64_t offset)
{
	struct symbols *s = symbols_new(0, 0);
	struct symbol sym;

	symbols_native(s, symbols_module_add(s, &self), offset, &sym);
	is_str(sym.name, "slow::name", "without a thread the first answer is final");
	ok(!sym.loading && atomic_load(&thread) == (int)gettid(),
		"without a thread the caller demangles");
	symbols_free(s);
}

int main(int argc, char **argv)
{
	struct symbols *s;
	uint64_t offset;

	if (elf_child_main(argc, argv, NULL))
		return 0;
	slow_name();
	s = symbols_new(0, 0);
	offset = symbols_function(s, symbols_module_add(s, &self), &self, MANGLED);
	symbols_free(s);
	ok(offset != 0, "this program has a function with the mangled name");
	test_thread(offset);
	test_alone(offset);
	return tap_done();
}
