/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's end of unwind rows without a JVM: modules and rows of this process, and threads that play handlers and
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
	is_int(a->s.memory_bytes, 0, "all memory of rows is given back");
	free(a->recv);
	free(a->s.modules);
}

/* What these blocks take, with the table that names them. */
static uint64_t taken(const struct buf *first, const struct buf *second)
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

/* One piece: 0 when it was taken. */
static int command(struct agent *a, size_t bytes)
{
	int taken =
		unwind_recv_pieces(a->recv, (const unsigned char *)staging, sizeof staging, bytes);

	return taken < 0 ? taken : taken == 1 ? 0 : -EPROTO;
}

static int send_piece(
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
		int r = send_piece(a, module, b, at, bytes);

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

/* --- one after the other ------------------------------------------------------------------------------ */

static const uint64_t pc_libc = (uintptr_t)qsort, pc_self = (uintptr_t)agent_init;

static void test_road(void)
{
	struct agent a;
	struct buf libc = {0}, self = {0};
	uint32_t id_libc, id_self;

	agent_init(&a);
	id_libc = module_of(&a, pc_libc, &libc);
	id_self = module_of(&a, pc_self, &self);
	ok(!rule_at(&a, pc_libc), "no rows at first");
	is_int(send_block(&a, id_libc, &libc), 0, "libc's rows are taken");
	ok(rule_at(&a, pc_libc) && !rule_at(&a, pc_self), "and found, others not");
	is_int(send_block(&a, id_self, &self), 0, "a second module's rows are taken");
	ok(rule_at(&a, pc_libc) && rule_at(&a, pc_self), "both are found");
	is_int(send_block(&a, id_libc, &libc), 0, "the same rows again");
	is_int(forget(&a, id_libc), 0, "libc's are forgotten");
	ok(!rule_at(&a, pc_libc) && rule_at(&a, pc_self), "the other's stay");
	is_int(a.s.memory_bytes, taken(&self, NULL), "memory is counted");
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
	is_int(send_piece(&a, id, &libc, 4096, 4096), -EINVAL, "a piece out of the middle");
	is_int(send_piece(&a, 60000, &libc, 0, 4096), -ENOENT, "a module that nobody announced");
	is_int(send_piece(&a, id, &libc, 0, 4096), 0, "a first piece");
	is_int(send_piece(&a, id, &libc, 8192, 4096), -EINVAL, "not the next one");
	is_int(send_piece(&a, id, &libc, 4096, 4095), -EINVAL, "an odd size");
	buf_reserve(&big, WIRE_UNWIND_BUDGET + 4);
	big.len = WIRE_UNWIND_BUDGET + 4;
	is_int(send_piece(&a, id, &big, 0, 4096), -ENOSPC, "more than the budget");
	libc.data[libc.len - 12] = 99;
	is_int(send_block(&a, id, &libc), -EINVAL, "rows that do not pass the check");
	ok(!rule_at(&a, pc_libc), "nothing of this is used");
	is_int(a.s.memory_bytes, 0, "or kept");
	agent_done(&a);
	buf_done(&libc);
	buf_done(&big);
}

static size_t add_piece(size_t at, uint32_t module, const struct buf *b)
{
	struct wire_unwind_chunk head = {
		.module = module, .total_bytes = (uint32_t)b->len, .bytes = (uint32_t)b->len};

	memcpy((char *)staging + at, &head, sizeof head);
	memcpy((char *)staging + at + sizeof head, b->data, b->len);
	return at + sizeof head + b->len;
}

static int send_staged(struct agent *a, size_t bytes)
{
	return unwind_recv_pieces(a->recv, (const unsigned char *)staging, sizeof staging, bytes);
}

static void test_together(void)
{
	struct agent a;
	struct buf libc = {0}, self = {0};
	uint32_t id_libc, id_self;
	size_t both, all;

	agent_init(&a);
	id_libc = module_of(&a, pc_libc, &libc);
	id_self = module_of(&a, pc_self, &self);
	both = add_piece(add_piece(0, id_libc, &libc), id_self, &self);
	is_int(send_staged(&a, both), 2, "two modules in one command");
	ok(rule_at(&a, pc_libc) && rule_at(&a, pc_self), "and both are found");
	all = add_piece(both, id_self, &self);
	is_int(send_staged(&a, all), 3, "one of them again, twice");
	ok(rule_at(&a, pc_self), "and found");
	is_int(forget(&a, id_self), 0, "and forgotten");
	is_int(a.s.memory_bytes, taken(&libc, NULL), "with all its copies");
	self.data[self.len - 12] = 99;
	is_int(send_staged(&a, add_piece(add_piece(0, id_libc, &libc), id_self, &self)), 1,
		"what comes before a wrong one is taken");
	ok(rule_at(&a, pc_libc) && !rule_at(&a, pc_self), "and used, the wrong one not");
	is_int(send_staged(&a, both - 4), 1, "a piece that is cut short is wrong");
	agent_done(&a);
	buf_done(&libc);
	buf_done(&self);
}

static uint64_t file_offset(const struct unwind_table *t)
{
	const struct unwind_module *m = unwind_find(t, pc_libc);

	return pc_libc - m->start + m->file_offset;
}

/* Somebody is in the room while rows change, others come and go: what he may read stays, and only that. */
static void test_busy(void)
{
	_Atomic uint32_t *early, *late;
	const struct unwind_table *held;
	struct agent a;
	struct buf libc = {0}, self = {0};
	uint32_t id;

	agent_init(&a);
	id = module_of(&a, pc_libc, &libc);
	is_int(send_block(&a, id, &libc), 0, "the first table is published at once");
	sig_enter(&early);
	held = atomic_load(&a.s.unwind);
	is_int(forget(&a, id), 0, "rows are forgotten while somebody walks by them");
	ok(!atomic_load(&a.s.unwind), "who comes now finds none");
	sig_enter(&late);
	sig_leave(late);
	ok(unwind_rows_find(unwind_find(held, pc_libc)->rows, file_offset(held)) != NULL,
		"who came before still reads them");
	is_int(a.s.memory_bytes, taken(&libc, NULL), "and they are counted");
	is_int(send_block(&a, module_of(&a, pc_self, &self), &self), 0,
		"others are taken meanwhile");
	sig_enter(&late);
	sig_leave(early);
	unwind_recv_prune(a.recv);
	unwind_recv_prune(a.recv);
	is_int(a.s.memory_bytes, taken(&self, NULL),
		"when he has left they are unmapped, though somebody else is in the room");
	sig_leave(late);
	agent_done(&a);
	buf_done(&libc);
	buf_done(&self);
}

/* One never leaves: rows still change, and what is given up is bounded. */
static void test_lost(void)
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
	is_int(error, -EAGAIN, "in the end there is no space for more");
	ok(a.s.memory_bytes <= WIRE_UNWIND_BUDGET + UNWIND_RECV_TABLE_BYTES(1),
		"within the budget");
	ok(rule_at(&a, pc_libc), "the last rows are in use");
	sig_leave(lost);
	is_int(send_block(&a, id, &libc), 0, "when he has left after all there is space again");
	agent_done(&a);
	buf_done(&libc);
}

/* A library that comes and goes. */
static void test_unloaded(void)
{
	struct agent a;
	struct buf rows = {0};
	void *lib = dlopen("libthread_db.so.1", RTLD_LAZY);
	uint64_t pc = lib ? (uintptr_t)dlsym(lib, "td_init") : 0;
	bool full;

	if (!pc) {
		tap_skip("rows of a library that is unloaded", "no libthread_db");
		return;
	}
	agent_init(&a);
	is_int(send_block(&a, module_of(&a, pc, &rows), &rows), 0,
		"a loaded library's rows are taken");
	ok(rule_at(&a, pc), "and found");
	dlclose(lib);
	ok(modules_refresh(a.s.modules, &full), "it is unloaded");
	unwind_recv_prune(a.recv);
	ok(!rule_at(&a, pc) && !atomic_load(&a.s.unwind), "its rows are out of use");
	agent_done(&a);
	buf_done(&rows);
}

/* --- all at once -------------------------------------------------------------------------------------- */

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
	diag("%u changes taken, %u told to come again, %" PRIu64 " lookups, %" PRIu64 " found",
		sent, again, atomic_load(&st.lookups), atomic_load(&st.found));
	ok(!other && sent > 300, "tables change under handlers that use them");
	ok(atomic_load(&st.found) > 0, "which find rows all the time");
	agent_done(&st.a);
	buf_done(&libc);
	buf_done(&self);
}

int main(void)
{
	if (!self_libc_has_rows(self_table()))
		tap_skip_all(NO_LIBC_ROWS);
	test_road();
	test_refusals();
	test_together();
	test_busy();
	test_lost();
	test_unloaded();
	test_storm();
	return tap_done();
}
