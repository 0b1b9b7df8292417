/* SPDX-License-Identifier: Apache-2.0 */
/* Names: ids match the current contents of memory, memory is bounded, and handlers may interrupt each other. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/time.h>

#include "tests/tap.h"
#include "walk/hotspot/layout.h"
#include "walk/hotspot/names.h"

#define BYTES   (256u << 10)
#define METHODS 64

/* A simulated metaspace, which the walker reads at its real addresses. */
struct symbol {
	uint32_t hash_and_refcount;
	uint16_t length;
	char body[58];
};
struct klass {
	uint64_t vtable, layout, pad;
	struct symbol *name;
};
struct pool {
	uint64_t vtable, tags, cache;
	struct klass *holder;
	int32_t length, pad;
	struct symbol *entries[2 * METHODS + 2];
};
struct const_method {
	uint64_t fingerprint;
	struct pool *constants;
	uint16_t code_size, name_index, signature_index, flags;
};
struct method {
	uint64_t vtable;
	struct const_method *const_method;
};

static struct metaspace {
	struct symbol class_name, names[METHODS], signature;
	struct klass klass;
	struct pool pool;
	struct const_method const_methods[METHODS];
	struct method methods[METHODS];
	struct {
		struct const_method method;
		uint8_t code[4], lines[36];
	} lined; /* a method with a line table after its bytecodes */
} meta;

static struct walk_layout layout;
static _Atomic int unreadable; /* loads of text fail, as if the class was unloaded meanwhile */

static bool load(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	if (addr < (uintptr_t)&meta || addr + bytes > (uintptr_t)(&meta + 1))
		return false;
	if (atomic_load(&unreadable) && addr == (uintptr_t)meta.names[4].body && bytes > 2)
		return false;
	memcpy(out, (const void *)(uintptr_t)addr, bytes);
	return true;
}
static const struct walk_mem mem = {.load = load, .ctx = NULL};

static void symbol_set(struct symbol *s, const char *text)
{
	s->length = (uint16_t)strlen(text);
	memcpy(s->body, text, strlen(text));
}

#define FIELD(type, member)                                                       \
	(struct walk_field)                                                       \
	{                                                                         \
		offsetof(struct type, member), sizeof(((struct type *)0)->member) \
	}

static void meta_fill(void)
{
	symbol_set(&meta.class_name, "a/b/Test");
	symbol_set(&meta.signature, "(I)V");
	meta.klass.name = &meta.class_name;
	meta.pool.holder = &meta.klass;
	meta.pool.length = 2 * METHODS + 2;
	for (int i = 0; i < METHODS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "m%d", i);
		symbol_set(&meta.names[i], name);
		meta.pool.entries[2 * i + 1] = &meta.names[i];
		meta.pool.entries[2 * i + 2] = &meta.signature;
		meta.const_methods[i] = (struct const_method){.constants = &meta.pool,
			.name_index = (uint16_t)(2 * i + 1),
			.signature_index = (uint16_t)(2 * i + 2)};
		meta.methods[i].const_method = &meta.const_methods[i];
	}
	layout.method_const = FIELD(method, const_method);
	layout.const_constants = FIELD(const_method, constants);
	layout.const_name = FIELD(const_method, name_index);
	layout.const_signature = FIELD(const_method, signature_index);
	layout.const_code_size = FIELD(const_method, code_size);
	layout.const_flags = FIELD(const_method, flags);
	layout.const_method_bytes = sizeof(struct const_method);
	layout.constant_pool_bytes = offsetof(struct pool, entries);
	layout.pool_holder = FIELD(pool, holder);
	layout.pool_length = FIELD(pool, length);
	layout.klass_name = FIELD(klass, name);
	layout.symbol_length = FIELD(symbol, length);
	layout.symbol_body = (struct walk_field){offsetof(struct symbol, body), 1};
}

/* An empty table; invalidates the one before. */
static struct names *names_fresh(void)
{
	static void *memory;

	free(memory);
	memory = aligned_alloc(4096, BYTES);
	memset(memory, 0, BYTES);
	return names_init(memory, BYTES);
}

static uint64_t resolve(struct names *n, const struct method *m, uint32_t *unnamed)
{
	struct walk_frame frame = {.value = (uintptr_t)m, .bci = 7, .type = WALK_C2};
	uint64_t packed;

	names_resolve(n, &layout, &mem, NULL, &frame, 1, &packed, unnamed);
	return packed;
}

static bool entry_is(const struct names_entry *e, const char *class_name, const char *name,
	const char *signature)
{
	return e->class_bytes == strlen(class_name) && e->name_bytes == strlen(name) &&
	       e->signature_bytes == strlen(signature) &&
	       !memcmp(e->class_name, class_name, e->class_bytes) &&
	       !memcmp(e->name, name, e->name_bytes) &&
	       !memcmp(e->signature, signature, e->signature_bytes);
}

static void test_lines(void)
{
	/* With a zero in one of the two numbers after 0xff, and a byte after the end. */
	static const uint8_t table[] = {0 << 3 | 7, 0xff, 0, 200, 0, 5 << 3 | 2, 0, 99};
	struct names *n = names_fresh();
	struct const_method *was = meta.methods[5].const_method;
	struct names_entry e;

	meta.lined.method = *was;
	meta.lined.method.code_size = sizeof(meta.lined.code);
	meta.lined.method.flags = 1;
	memcpy(meta.lined.lines, table, sizeof(table));
	meta.methods[5].const_method = &meta.lined.method;
	resolve(n, &meta.methods[5], NULL);
	ok(names_next(n, 2, &e) && entry_is(&e, "a/b/Test", "m5", "(I)V") &&
			e.line_bytes == sizeof(table) - 1 &&
			!memcmp(e.lines, table, sizeof(table) - 1),
		"a method's line table is stored with its name");
	meta.lined.method.flags = 0;
	meta.lined.method.name_index = 1; /* another method */
	resolve(n, &meta.methods[5], NULL);
	ok(names_next(n, 3, &e) && e.line_bytes == 0, "a method without a line table has none");
	meta.lined.method.flags = 1;
	meta.lined.method.name_index = 3;
	memset(meta.lined.lines, 8, sizeof(meta.lined.lines));
	resolve(n, &meta.methods[5], NULL);
	ok(names_next(n, 4, &e) && e.name_bytes == 2 && e.line_bytes == 0,
		"a line table without an end is omitted");
	meta.methods[5].const_method = was;
}

static void test_methods(void)
{
	struct names *n = names_fresh();
	struct names_entry e;
	uint32_t unnamed = 0, last;
	uint64_t first = resolve(n, &meta.methods[0], &unnamed);

	ok(names_next(n, 0, &e) && e.id == NAMES_ID_UNLOADED && entry_is(&e, "", "[unloaded]", ""),
		"id 1 is [unloaded]");
	ok(names_next(n, 1, &e) && e.id == NAMES_ID_FULL && entry_is(&e, "", "[names_full]", ""),
		"id 2 is [names_full]");
	ok(names_next(n, 2, &e) && entry_is(&e, "a/b/Test", "m0", "(I)V"),
		"a method has class, name and signature");
	ok(first == WALK_PACK_JAVA(WALK_C2, e.id, 7), "the packed frame has type, id and bci");
	last = e.id;
	ok(!names_next(n, last, &e), "there are no further names");
	ok(resolve(n, &meta.methods[0], &unnamed) == first && !names_next(n, last, &e),
		"a known method has the same id and adds no name");
	ok(resolve(n, &meta.methods[1], &unnamed) != first && names_next(n, last, &e) &&
			entry_is(&e, "a/b/Test", "m1", "(I)V"),
		"another method has another id");
	is_int(unnamed, 0, "no method is unnamed");
}

static void test_reuse(void)
{
	struct names *n = names_fresh();
	uint64_t first = resolve(n, &meta.methods[0], NULL);
	struct names_entry e = {.id = 0};

	meta.names[0].body[1] = 'x';
	ok(resolve(n, &meta.methods[0], NULL) != first,
		"a Symbol with a changed text gets a new id");
	meta.names[0].body[1] = '0';
	ok(resolve(n, &meta.methods[0], NULL) == first,
		"a Symbol with its previous text gets its previous id");
	meta.names[0].hash_and_refcount += 3;
	ok(resolve(n, &meta.methods[0], NULL) == first, "a changed reference count keeps the id");
	symbol_set(&meta.names[6], "lambda$main$14");
	meta.names[6].hash_and_refcount = 0x51230001;
	first = resolve(n, &meta.methods[6], NULL);
	symbol_set(&meta.names[6], "lambda$main$15");
	meta.names[6].hash_and_refcount = 0x17770001;
	ok(resolve(n, &meta.methods[6], NULL) != first && names_next(n, (uint32_t)first, &e),
		"another Symbol of the same length and beginning gets a new id");
	ok(entry_is(&e, "a/b/Test", "lambda$main$15", "(I)V"), "the new id has its own text");
	symbol_set(&meta.names[6], "m6");
	meta.methods[0].const_method = &meta.const_methods[2];
	ok(resolve(n, &meta.methods[0], NULL) != first,
		"a Method with another ConstMethod gets a new id");
	meta.methods[0].const_method = &meta.const_methods[0];
}

static void test_unreadable(void)
{
	struct names *n = names_fresh();
	struct names_entry e = {.id = 0};
	uint32_t unnamed = 0;
	uint64_t unloaded = WALK_PACK_JAVA(WALK_C2, NAMES_ID_UNLOADED, 7);
	struct method outside = {0};

	ok(resolve(n, &outside, &unnamed) == unloaded, "an unreadable Method is [unloaded]");
	meta.const_methods[3].name_index = 9999;
	ok(resolve(n, &meta.methods[3], &unnamed) == unloaded,
		"a Method with an invalid name index is [unloaded]");
	meta.const_methods[3].name_index = 7;
	meta.methods[3].const_method = (void *)((char *)&meta.const_methods[3] + 1);
	ok(resolve(n, &meta.methods[3], &unnamed) == unloaded,
		"a Method with a misaligned pointer is [unloaded]");
	meta.methods[3].const_method = &meta.const_methods[3];
	is_int(unnamed, 3, "each unnamed Method is counted");

	struct symbol *long_name = &meta.names[4];

	symbol_set(long_name, "aNameThatIsCopiedInMoreThanOneWord");
	atomic_store(&unreadable, 1);
	resolve(n, &meta.methods[4], NULL);
	atomic_store(&unreadable, 0);
	while (names_next(n, e.id, &e) && e.id <= NAMES_ID_FULL)
		;
	is_int(e.name_bytes, 0, "a text that becomes unreadable while copied leaves an empty name");
	symbol_set(long_name, "m4");
	long_name->length = 2;
}

static void test_texts(void)
{
	struct names *n = names_fresh();
	struct walk_frame broken = {.type = WALK_BREAK, .value = WALK_BREAK_STUB};
	struct walk_frame native = {.type = WALK_NATIVE, .value = 0x7f0012345678};
	struct walk_frame stub = {.type = WALK_STUB, .value = 0x5150};
	uint64_t packed;
	uint32_t id = names_text(n, "byte[]", 6);

	ok(id > NAMES_ID_FULL && names_text(n, "byte[]", 6) == id && names_text(n, "byte", 4) != id,
		"equal texts have one id");
	names_resolve(n, &layout, &mem, NULL, &broken, 1, &packed, NULL);
	ok(packed == WALK_PACK(WALK_BREAK, names_text(n, "[break_stub]", 12)),
		"a break is named by its reason");
	names_resolve(n, &layout, &mem, NULL, &native, 1, &packed, NULL);
	ok(packed == WALK_PACK(WALK_NATIVE, 0x7f0012345678), "a native frame is packed as its pc");
	ok(names_stub_add(n, 0x6000, 0x800, "after") &&
			names_stub_add(n, 0x5000, 0x1000, "jbyte_arraycopy") &&
			names_stub_add(n, 0x4000, 0xf00, "before"),
		"stubs are registered");
	names_stubs_ready(n);
	names_resolve(n, &layout, &mem, NULL, &stub, 1, &packed, NULL);
	ok(packed == WALK_PACK(WALK_STUB, names_text(n, "jbyte_arraycopy", 15)),
		"a stub's pc has its name");
	ok(!names_stub_add(n, 0x7000, 0x100, "late"), "stubs after names_stubs_ready are refused");
}

/* Far more names than the memory holds: a reader gets each once, in order; without a reader they run out. */
static void test_bounded(void)
{
	struct names *n = names_fresh();
	struct names_entry e;
	uint32_t last = 0, wrong = 0, got = 0, full = 0;

	for (int i = 0; i < 200000; i++) {
		char text[32];
		int bytes = snprintf(text, sizeof(text), "text%d", i);

		full += names_text(n, text, (size_t)bytes) == NAMES_ID_FULL;
		while (names_next(n, last, &e)) {
			wrong += e.id != last + 1;
			if (e.id > NAMES_ID_FULL) {
				wrong += !entry_is(&e, "", text, "");
				got++;
			}
			last = e.id;
		}
	}
	is_int(wrong, 0, "200,000 names pass through 256 kB in order, each with its text");
	is_int(got, 200000, "no name is lost");
	is_int(full, 0, "no name is refused while the reader keeps up");
	for (int i = 0; i < 20000; i++) {
		char text[32];

		full += names_text(n, text, (size_t)snprintf(text, sizeof(text), "more%d", i)) ==
			NAMES_ID_FULL;
	}
	ok(full > 0, "without a reader names run out (%d refused)", (int)full);
	while (names_next(n, last, &e))
		last = e.id;
	ok(names_text(n, "afterwards", 10) > NAMES_ID_FULL,
		"names are accepted again after the reader caught up");
}

/* --- threads and handlers at once -------------------------------------------------------------------- */

static struct names *shared;
static _Atomic uint32_t ids_wrong;
static _Atomic int storm_over;
static volatile sig_atomic_t interrupts;
static _Atomic(const char *) seen[1u << 16]; /* id -> the method's address */

static void one(unsigned i)
{
	uint64_t packed = resolve(shared, &meta.methods[i % METHODS], NULL);
	uint32_t id = (uint32_t)packed;
	const char *mine = (const char *)&meta.methods[i % METHODS], *expected = NULL;

	if (id == NAMES_ID_FULL || id >= 1u << 16)
		return;
	if (!atomic_compare_exchange_strong(&seen[id], &expected, mine) && expected != mine)
		atomic_fetch_add(&ids_wrong, 1);
}

static void on_signal(int sig)
{
	static _Atomic unsigned i;

	interrupts++;
	one(atomic_fetch_add(&i, 7));
}

static void *storm(void *arg)
{
	for (unsigned i = (unsigned)(uintptr_t)arg; !atomic_load(&storm_over); i++)
		one(i);
	return NULL;
}

static void test_storm(void)
{
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_NODEFER};
	struct itimerval it = {.it_interval = {0, 200}, .it_value = {0, 200}}, off = {0};
	pthread_t threads[3];
	struct names_entry e;
	uint32_t last = 0, wrong = 0, named = 0;

	shared = names_fresh();
	sigaction(SIGPROF, &sa, NULL);
	setitimer(ITIMER_PROF, &it, NULL);
	for (uintptr_t i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, storm, (void *)(i * 21));
	while (interrupts < 300) {
		while (names_next(shared, last, &e)) {
			wrong += e.id != last + 1;
			if (e.id > NAMES_ID_FULL)
				named += e.class_bytes == 8 && e.name[0] == 'm';
			last = e.id;
		}
	}
	atomic_store(&storm_over, 1);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	setitimer(ITIMER_PROF, &off, NULL);
	is_int(atomic_load(&ids_wrong), 0, "no id is used for two methods");
	is_int(wrong, 0, "names arrive in order of id");
	ok(named >= METHODS, "every method is named (%d names)", (int)named);
}

int main(void)
{
	meta_fill();
	ok(!names_init(meta.names, 1000), "too little memory is refused");
	test_lines();
	test_methods();
	test_reuse();
	test_unreadable();
	test_texts();
	test_bounded();
	test_storm();
	return tap_done();
}
