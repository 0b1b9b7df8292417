/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's end of unwind rows without a JVM: modules and rows of this process, and threads that act as handlers and
 * use the published table while it changes. Freed tables are unmapped, so a table used for too long faults and ends
 * the test.
 */
#include "base/buf.h"
#include "sampler/publish/modules.h"
#include "sampler/session/unwind_recv.h"
#include "sampler/signal/signal.h"
#include "symbols/cfi.h"
#include "tests/tap.h"
#include "tests/walk/self_table.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

static uint64_t staging[WIRE_STAGING_BYTES / 8];

struct agent {
	struct sampler s;
	struct unwind_recv *recv;
};

static void agent_init(struct agent *a)
{
	bool full;

	memset(a, 0, sizeof(*a));
	a->s.modules = calloc(1, sizeof(*a->s.modules));
	a->recv = calloc(1, sizeof(*a->recv));
	a->recv->s = &a->s;
	modules_refresh(a->s.modules, &full);
}

static void agent_done(struct agent *a)
{
	unwind_recv_done(a->recv);
	is_int(a->s.memory_bytes, 0, "all memory of rows is freed");
	free(a->recv);
	free(a->s.modules);
}

/* The memory of these blocks and of the table that lists them. */
static uint64_t size_of(const struct buf *first, const struct buf *second)
{
	return first->len + (second ? second->len : 0) + UNWIND_RECV_TABLE_BYTES(second ? 2 : 1);
}

/* The module that holds an address, and its packed rows. */
static uint32_t module_of(struct agent *a, uint64_t pc, struct buf *block)
{
	struct module *m = modules_find(a->s.modules, pc);
	char *path = strndup(m->path, m->path_bytes);
	struct cfi *c = self_compile(path);
	struct err e;
	size_t count;
	const struct cfi_row *rows = cfi_rows(c, &count);

	unwind_pack(rows, count, block, &e);
	cfi_close(c);
	free(path);
	return m->id;
}

/* Sends one chunk; returns 0 if it was accepted. */
static int command(struct agent *a, size_t bytes)
{
	int size_of =
		unwind_recv_chunks(a->recv, (const unsigned char *)staging, sizeof staging, bytes);

	return size_of < 0 ? size_of : size_of == 1 ? 0 : -EPROTO;
}

static int send_chunk(
	struct agent *a, uint32_t module, const struct buf *b, uint32_t offset, uint32_t bytes)
{
	struct wire_unwind_chunk head = {.module = module,
		.total_bytes = (uint32_t)b->len,
		.offset = offset,
		.bytes = bytes};

	memcpy(staging, &head, sizeof head);
	memcpy((char *)staging + sizeof head, b->data + offset, bytes);
	return command(a, sizeof head + bytes);
}

static int send_block(struct agent *a, uint32_t module, const struct buf *b)
{
	for (uint32_t at = 0; at < b->len;) {
		uint32_t bytes = (uint32_t)b->len - at < 50000 ? (uint32_t)b->len - at : 50000;
		int r = send_chunk(a, module, b, at, bytes);

		if (r)
			return r;
		at += bytes;
	}
	return 0;
}

static int forget(struct agent *a, uint32_t module)
{
	struct wire_unwind_chunk head = {.module = module};

	memcpy(staging, &head, sizeof head);
	return command(a, sizeof head);
}

static const struct unwind_rule *rule_at(struct agent *a, uint64_t pc)
{
	const struct unwind_table *t = atomic_load(&a->s.unwind);
	const struct unwind_module *m = t ? unwind_find(t, pc) : NULL;

	return m ? unwind_rows_find(m->rows, pc - m->start + m->file_offset) : NULL;
}

/* --- one after the other ------------------------------------------------------------------------------- */

static const uint64_t pc_libc = (uintptr_t)qsort, pc_self = (uintptr_t)agent_init;

static void test_basics(void)
{
	struct agent a;
	struct buf libc = {0}, self = {0};
	uint32_t id_libc, id_self;

	agent_init(&a);
	id_libc = module_of(&a, pc_libc, &libc);
	id_self = module_of(&a, pc_self, &self);
	ok(!rule_at(&a, pc_libc), "there are no rows at first");
	is_int(send_block(&a, id_libc, &libc), 0, "libc's rows are accepted");
	ok(rule_at(&a, pc_libc) && !rule_at(&a, pc_self),
		"libc's rows are found, those of other modules are not");
	is_int(send_block(&a, id_self, &self), 0, "a second module's rows are accepted");
	ok(rule_at(&a, pc_libc) && rule_at(&a, pc_self), "the rows of both modules are found");
	is_int(send_block(&a, id_libc, &libc), 0, "the same rows are accepted again");
	is_int(forget(&a, id_libc), 0, "libc's rows are evicted by a command");
	ok(!rule_at(&a, pc_libc) && rule_at(&a, pc_self), "the other module's rows remain");
	is_int(a.s.memory_bytes, size_of(&self, NULL),
		"the memory of the remaining rows is counted");
	agent_done(&a);
	buf_done(&libc);
	buf_done(&self);
}

static void test_refusals(void)
{
	struct agent a;
	struct buf libc = {0}, big = {0};
	uint32_t id;

	agent_init(&a);
	id = module_of(&a, pc_libc, &libc);
	is_int(send_chunk(&a, id, &libc, 4096, 4096), -EINVAL,
		"a chunk from the middle is refused");
	is_int(send_chunk(&a, 60000, &libc, 0, 4096), -ENOENT,
		"a chunk of an unannounced module is refused");
	is_int(send_chunk(&a, id, &libc, 0, 4096), 0, "a first chunk is accepted");
	is_int(send_chunk(&a, id, &libc, 8192, 4096), -EINVAL, "a chunk out of order is refused");
	is_int(send_chunk(&a, id, &libc, 4096, 4095), -EINVAL, "a chunk of an odd size is refused");
	buf_reserve(&big, WIRE_UNWIND_BUDGET + 4);
	big.len = WIRE_UNWIND_BUDGET + 4;
	is_int(send_chunk(&a, id, &big, 0, 4096), -ENOSPC, "a block above the budget is refused");
	libc.data[libc.len - 12] = 99;
	is_int(send_block(&a, id, &libc), -EINVAL, "rows that fail the check are refused");
	ok(!rule_at(&a, pc_libc), "refused rows are not used");
	is_int(a.s.memory_bytes, 0, "refused rows use no memory");
	agent_done(&a);
	buf_done(&libc);
	buf_done(&big);
}

static size_t add_chunk(size_t at, uint32_t module, const struct buf *b)
{
	struct wire_unwind_chunk head = {
		.module = module, .total_bytes = (uint32_t)b->len, .bytes = (uint32_t)b->len};

	memcpy((char *)staging + at, &head, sizeof head);
	memcpy((char *)staging + at + sizeof head, b->data, b->len);
	return at + sizeof head + b->len;
}

static int send_staged(struct agent *a, size_t bytes)
{
	return unwind_recv_chunks(a->recv, (const unsigned char *)staging, sizeof staging, bytes);
}

static void test_batch(void)
{
	struct agent a;
	struct buf libc = {0}, self = {0};
	uint32_t id_libc, id_self;
	size_t both, all;

	agent_init(&a);
	id_libc = module_of(&a, pc_libc, &libc);
	id_self = module_of(&a, pc_self, &self);
	both = add_chunk(add_chunk(0, id_libc, &libc), id_self, &self);
	is_int(send_staged(&a, both), 2, "two modules are accepted in one command");
	ok(rule_at(&a, pc_libc) && rule_at(&a, pc_self), "the rows of both modules are found");
	all = add_chunk(both, id_self, &self);
	is_int(send_staged(&a, all), 3, "a command with a repeated module is accepted");
	ok(rule_at(&a, pc_self), "the repeated module's rows are found");
	is_int(forget(&a, id_self), 0, "the repeated module is evicted");
	is_int(a.s.memory_bytes, size_of(&libc, NULL), "all copies of the evicted rows are freed");
	self.data[self.len - 12] = 99;
	is_int(send_staged(&a, add_chunk(add_chunk(0, id_libc, &libc), id_self, &self)), 1,
		"the chunk before an invalid one is accepted");
	ok(rule_at(&a, pc_libc) && !rule_at(&a, pc_self),
		"the accepted chunk is used, the invalid one is not");
	is_int(send_staged(&a, both - 4), 1, "a truncated chunk is refused");
	agent_done(&a);
	buf_done(&libc);
	buf_done(&self);
}

static uint64_t file_offset(const struct unwind_table *t)
{
	const struct unwind_module *m = unwind_find(t, pc_libc);

	return pc_libc - m->start + m->file_offset;
}

/*
 * A reader is in the critical section while rows change and other readers enter and leave: only the tables it may read
 * are kept.
 */
static void test_busy(void)
{
	_Atomic uint32_t *early, *late;
	const struct unwind_table *pinned;
	struct agent a;
	struct buf libc = {0}, self = {0};
	uint32_t id;

	agent_init(&a);
	id = module_of(&a, pc_libc, &libc);
	is_int(send_block(&a, id, &libc), 0, "the first table is published at once");
	sig_enter(&early);
	pinned = atomic_load(&a.s.unwind);
	is_int(forget(&a, id), 0, "rows are evicted while a reader uses them");
	ok(!atomic_load(&a.s.unwind), "a reader that enters later does not get them");
	sig_enter(&late);
	sig_leave(late);
	ok(unwind_rows_find(unwind_find(pinned, pc_libc)->rows, file_offset(pinned)) != NULL,
		"the earlier reader still reads them");
	is_int(a.s.memory_bytes, size_of(&libc, NULL), "rows in use are counted");
	is_int(send_block(&a, module_of(&a, pc_self, &self), &self), 0,
		"other rows are accepted meanwhile");
	sig_enter(&late);
	sig_leave(early);
	unwind_recv_prune(a.recv);
	unwind_recv_prune(a.recv);
	is_int(a.s.memory_bytes, size_of(&self, NULL),
		"after the earlier reader left they are unmapped, although another reader is "
		"inside");
	sig_leave(late);
	agent_done(&a);
	buf_done(&libc);
	buf_done(&self);
}

/* A reader never leaves: rows still change, within bounded memory. */
static void test_never_left(void)
{
	_Atomic uint32_t *lost;
	struct agent a;
	struct buf libc = {0};
	uint32_t id;
	int error = 0;

	agent_init(&a);
	id = module_of(&a, pc_libc, &libc);
	sig_enter(&lost);
	for (int i = 0; i < 1000 && !error; i++)
		error = send_block(&a, id, &libc);
	is_int(error, -EAGAIN, "rows are refused once the memory of unreleased tables is used up");
	ok(a.s.memory_bytes <= WIRE_UNWIND_BUDGET + UNWIND_RECV_TABLE_BYTES(1),
		"unreleased tables stay within the budget");
	ok(rule_at(&a, pc_libc), "the latest rows are in use");
	sig_leave(lost);
	is_int(send_block(&a, id, &libc), 0, "rows are accepted again after the reader left");
	agent_done(&a);
	buf_done(&libc);
}

/* A library that is loaded and unloaded. */
static void test_unloaded(void)
{
	struct agent a;
	struct buf rows = {0};
	void *lib = dlopen("libthread_db.so.1", RTLD_LAZY);
	uint64_t pc = lib ? (uintptr_t)dlsym(lib, "td_init") : 0;
	bool full;

	if (!pc) {
		tap_skip("rows of an unloaded library are pruned", "no libthread_db");
		return;
	}
	agent_init(&a);
	is_int(send_block(&a, module_of(&a, pc, &rows), &rows), 0,
		"a loaded library's rows are accepted");
	ok(rule_at(&a, pc), "a loaded library's rows are found");
	dlclose(lib);
	ok(modules_refresh(a.s.modules, &full), "the library is unloaded");
	unwind_recv_prune(a.recv);
	ok(!rule_at(&a, pc) && !atomic_load(&a.s.unwind),
		"an unloaded library's rows are not used any more");
	agent_done(&a);
	buf_done(&rows);
}

/* --- concurrently --------------------------------------------------------------------------------------- */

struct storm {
	struct agent a;
	_Atomic bool stop;
	_Atomic uint64_t lookups, found;
};

static void *handlers(void *arg)
{
	struct storm *st = arg;
	uint64_t pc = pc_libc;

	while (!atomic_load(&st->stop)) {
		const struct unwind_table *t;
		_Atomic uint32_t *inside;

		sig_enter(&inside);
		t = atomic_load(&st->a.s.unwind);
		for (int i = 0; t && i < 50; i++, pc += 61) {
			const struct unwind_module *m = unwind_find(t, pc);

			atomic_fetch_add(&st->lookups, 1);
			if (!m)
				pc = pc_libc;
			else if (unwind_rows_find(m->rows, pc - m->start + m->file_offset))
				atomic_fetch_add(&st->found, 1);
		}
		sig_leave(inside);
		for (volatile int rest = 0; rest < 3000; rest++)
			;
	}
	return NULL;
}

static void test_storm(void)
{
	static struct storm st;
	struct buf libc = {0}, self = {0};
	uint32_t id_libc, id_self;
	pthread_t threads[2];
	unsigned sent = 0, again = 0, other = 0;

	agent_init(&st.a);
	id_libc = module_of(&st.a, pc_libc, &libc);
	id_self = module_of(&st.a, pc_self, &self);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, handlers, &st);
	for (unsigned i = 0;
		i < 1000 || ((sent <= 300 || atomic_load(&st.found) < 100000) && i < 1000000);
		i++) {
		int r = i % 5 == 4 ? forget(&st.a, id_libc)
			: i % 2    ? send_block(&st.a, id_self, &self)
				   : send_block(&st.a, id_libc, &libc);

		sent += r == 0;
		again += r == -EAGAIN;
		other += r && r != -EAGAIN;
	}
	atomic_store(&st.stop, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	diag("%u changes size_of, %u told to come again, %" PRIu64 " lookups, %" PRIu64 " found",
		sent, again, atomic_load(&st.lookups), atomic_load(&st.found));
	ok(!other && sent > 300, "tables change under handlers that use them");
	ok(atomic_load(&st.found) > 0, "the handlers find rows meanwhile");
	agent_done(&st.a);
	buf_done(&libc);
	buf_done(&self);
}

int main(void)
{
	if (!self_libc_has_rows(self_table()))
		tap_skip_all(NO_LIBC_ROWS);
	test_basics();
	test_refusals();
	test_batch();
	test_busy();
	test_never_left();
	test_unloaded();
	test_storm();
	return tap_done();
}
