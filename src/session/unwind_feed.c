/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of modules: compiled one at a time; those that are ready are sent together. */
#include "session/unwind_feed.h"

#include "attach/place.h"
#include "base/buf.h"
#include "base/clock.h"
#include "symbols/loader.h"
#include "symbols/mapped.h"
#include "wire/unwind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PIECES_MAX 64 /* in the staging area at once */
#define AHEAD_MAX  32
#define TRIES_MAX  50 /* -EAGAIN answers for one piece before its module is left out */

enum state {
	WAITING,
	READY, /* its rows are packed, and possibly being sent */
	SENT,
	LEFT_OUT,
	AHEAD, /* compiled or being compiled, not yet announced by the agent */
};

struct module {
	struct load load; /* the first member */
	pid_t pid;        /* 0: paths are opened as they are */
	struct proc_map at;
	uint32_t id;
	enum state state;
	int rank;       /* lower ranks are sent first */
	uint32_t sent;  /* bytes of the block sent so far */
	uint32_t bytes; /* size of the block, retained when it is freed */
	unsigned tries;

	/* Owned by the loader's thread until it is done. */
	enum mapped made;
	struct buf block; /* its rows */
	bool keeps_fp;    /* most of its code keeps a frame pointer */
	struct err why;
};

#define NONE SIZE_MAX

/* A piece in the staging area, not answered yet. */
struct piece {
	size_t module;
	uint32_t bytes; /* 0: asks the agent to evict this module */
};

struct unwind_feed {
	pid_t pid;
	struct module **modules;
	size_t count;
	uint32_t cap;

	struct loader *loader;
	size_t now; /* the module being compiled, or NONE */

	struct piece pieces[PIECES_MAX];
	size_t piece_count;
	size_t evicting; /* the module to be evicted next, or NONE */

	unsigned without_rows, without_space;
	struct err why;  /* error of the current module */
	struct err note; /* error of the last module left to frame pointers */
};

struct unwind_feed *unwind_feed_new(pid_t pid)
{
	struct unwind_feed *f = xcalloc(1, sizeof *f);

	f->pid = pid;
	f->now = f->evicting = NONE;
	f->loader = loader_new();
	loader_start(f->loader, 0);
	return f;
}

/* Runs in the loader's thread. */
static void make(struct load *l, struct elf_child *child, const atomic_bool *stop)
{
	struct module *m = (struct module *)l;

	m->made = unwind_pack_mapped(child, m->pid, &m->at, stop, &m->block, &m->keeps_fp, &m->why);
}

/* --- the queue --------------------------------------------------------------------------------------- */

/* Libraries in order of their frequency in stacks of Java programs; all others follow. */
static const char *const seen_most[] = {"libc.so", "libc-", "[vdso]", "ld-", "libpthread",
	"libm.so", "libm-", "libz.so", "libnet.so", "libnio.so", "libjava.so", "libzip.so",
	"libjimage.so"};
#define RANK_REST (int)(sizeof seen_most / sizeof *seen_most)
#define RANK_LAST 100 /* libjvm: it keeps frame pointers and is large */

static int rank_of(const char *path)
{
	const char *name = path_name(path);

	for (int i = 0; i < RANK_REST; i++)
		if (!strncmp(name, seen_most[i], strlen(seen_most[i])))
			return i;
	return strncmp(name, "libjvm.so", 9) ? RANK_REST : RANK_LAST;
}

static struct module *module_add(struct unwind_feed *f, const struct proc_map *m, enum state state)
{
	struct module *to = xcalloc(1, sizeof *to);

	f->modules = xgrow(f->modules, f->count, &f->cap, sizeof *f->modules);
	f->modules[f->count++] = to;
	to->load.run = make;
	to->pid = f->pid;
	to->at = *m;
	to->at.path = xstrdup(m->path);
	to->rank = rank_of(m->path);
	to->state = state;
	return to;
}

void unwind_feed_module(struct unwind_feed *f, uint32_t id, const struct proc_map *m)
{
	struct module *known = NULL;

	for (size_t i = 0; i < f->count && !known; i++) {
		const struct proc_map *at = &f->modules[i]->at;

		if (f->modules[i]->state == AHEAD && at->inode == m->inode &&
			at->dev_major == m->dev_major && at->dev_minor == m->dev_minor &&
			!strcmp(at->path, m->path))
			known = f->modules[i];
	}
	if (known)
		known->state = WAITING;
	else
		known = module_add(f, m, WAITING);
	known->id = id;
}

static bool add_ahead(void *ctx, const struct proc_map *m)
{
	struct unwind_feed *f = ctx;

	if (!m->deleted && m->perms[2] == 'x' && rank_of(m->path) < RANK_REST)
		module_add(f, m, AHEAD);
	return f->count < AHEAD_MAX;
}

void unwind_feed_ahead(struct unwind_feed *f)
{
	proc_maps(f->pid, add_ahead, f);
	for (int rank = 0; rank < RANK_REST; rank++)
		for (size_t i = 0; i < f->count; i++)
			if (f->modules[i]->rank == rank)
				loader_request(f->loader, &f->modules[i]->load);
}

/* The module with the lowest rank among those in a state. */
static size_t first_of(const struct unwind_feed *f, enum state state)
{
	size_t first = NONE;

	for (size_t i = 0; i < f->count; i++)
		if (f->modules[i]->state == state &&
			(first == NONE || f->modules[i]->rank < f->modules[first]->rank))
			first = i;
	return first;
}

bool unwind_feed_busy(const struct unwind_feed *f)
{
	return first_of(f, WAITING) != NONE || first_of(f, READY) != NONE;
}

/* Leaves a module to frame pointers; f->why must be set. */
static void leave_out(struct unwind_feed *f, size_t module, unsigned *counter)
{
	struct module *m = f->modules[module];

	++*counter;
	err_prefix(&f->why, "Stacks through %s follow frame pointers only. ", m->at.path);
	/* The agent's own file is unlinked, so only its owner and root can read it, and its threads are not unwound. */
	if (strncmp(path_name(m->at.path), PLACE_PREFIX, strlen(PLACE_PREFIX)) != 0)
		f->note = f->why;
	m->state = LEFT_OUT;
	buf_done(&m->block);
}

/* --- compiling --------------------------------------------------------------------------------------- */

static size_t ready_bytes(const struct unwind_feed *f)
{
	size_t ready = 0;

	for (size_t i = 0; i < f->count; i++)
		ready += f->modules[i]->state == READY ? f->modules[i]->block.len : 0;
	return ready;
}

/* Collects compiled modules and starts the next until `enough` are ready or wait_ns has passed. Never waits for libjvm. */
static void compile(struct unwind_feed *f, size_t enough, uint64_t wait_ns)
{
	uint64_t end_ns = clock_mono_ns() + wait_ns;
	struct module *m;

	do {
		if (f->now == NONE)
			f->now = first_of(f, WAITING);
		if (f->now == NONE)
			return;
		m = f->modules[f->now];
		while (!loader_request(f->loader, &m->load)) {
			uint64_t now_ns = clock_mono_ns();
			if (now_ns >= end_ns || m->rank == RANK_LAST)
				return;
			loader_wait(f->loader, (unsigned)((end_ns - now_ns) / NS_PER_MS + 1));
		}
		m->state = m->made == MAPPED_OPEN ? READY : LEFT_OUT;
		m->bytes = (uint32_t)m->block.len;
		if (m->made == MAPPED_FAILED) {
			f->why = m->why;
			leave_out(f, f->now, &f->without_rows);
		}
		f->now = NONE;
	} while (ready_bytes(f) < enough);
}

bool unwind_feed_ready(const struct unwind_feed *f)
{
	return first_of(f, READY) != NONE || f->evicting != NONE ||
	       (f->now != NONE ? !loader_is_pending(&f->modules[f->now]->load)
			       : first_of(f, WAITING) != NONE);
}

/* --- pieces ------------------------------------------------------------------------------------------ */

/* Writes one piece of a module, header and rows; bytes 0: a request to evict the module. */
static void piece_add(struct unwind_feed *f, size_t module, uint32_t bytes, char *to)
{
	struct module *m = f->modules[module];
	struct wire_unwind_chunk head = {.module = m->id, .bytes = bytes};

	if (bytes) {
		head.total_bytes = (uint32_t)m->block.len;
		head.offset = m->sent;
		memcpy(to + sizeof head, m->block.data + m->sent, bytes);
	}
	memcpy(to, &head, sizeof head);
	f->pieces[f->piece_count++] = (struct piece){module, bytes};
}

static bool is_staged(const struct unwind_feed *f, size_t module)
{
	for (size_t i = 0; i < f->piece_count; i++)
		if (f->pieces[i].module == module)
			return true;
	return false;
}

/* The next module to send: one already begun, else the lowest rank. */
static size_t next_ready(const struct unwind_feed *f)
{
	size_t best = NONE;

	for (size_t i = 0; i < f->count; i++) {
		const struct module *m = f->modules[i];

		if (m->state != READY || is_staged(f, i))
			continue;
		if (m->sent)
			return i;
		if (best == NONE || m->rank < f->modules[best]->rank)
			best = i;
	}
	return best;
}

/* Writes all ready pieces that fit, one per module: its next piece requires that the previous one was accepted. */
static size_t pieces_write(struct unwind_feed *f, char *staging, size_t space)
{
	const size_t head = sizeof(struct wire_unwind_chunk);
	size_t used = 0, module;

	f->piece_count = 0;
	if (f->evicting != NONE) {
		piece_add(f, f->evicting, 0, staging);
		return head;
	}
	while (f->piece_count < PIECES_MAX && space - used > head + 4 &&
		(module = next_ready(f)) != NONE) {
		size_t left = f->modules[module]->block.len - f->modules[module]->sent;
		size_t bytes = (space - used - head) & ~(size_t)3;

		bytes = left < bytes ? left : bytes;
		piece_add(f, module, (uint32_t)bytes, staging + used);
		used += head + bytes;
	}
	return used;
}

size_t unwind_feed_step(
	struct unwind_feed *f, void *staging, size_t staging_bytes, uint64_t wait_ns)
{
	compile(f, staging_bytes, wait_ns);
	return pieces_write(f, staging, staging_bytes);
}

/* The module does not fit: evicts another one, or leaves it out. */
static void answer_no_space(struct unwind_feed *f, size_t module)
{
	struct module *m = f->modules[module];

	m->sent = 0;
	/* Evicts the largest module that keeps frame pointers, unless the new one keeps them, too. */
	for (size_t i = 0; i < f->count && !m->keeps_fp; i++)
		if (f->modules[i]->state == SENT && f->modules[i]->keeps_fp &&
			(f->evicting == NONE ||
				f->modules[i]->bytes > f->modules[f->evicting]->bytes))
			f->evicting = i;
	if (f->evicting == NONE) {
		err_set(&f->why, ERR_FAILED, "Its %u kB of unwind rows do not fit into the agent.",
			m->bytes >> 10);
		leave_out(f, module, &f->without_space);
	}
}

/* The agent has evicted the module: its stacks follow frame pointers. */
static void answer_evicted(struct unwind_feed *f, size_t module)
{
	err_set(&f->why, ERR_FAILED, "Its unwind rows were evicted by those of other files.");
	leave_out(f, module, &f->without_space);
	f->evicting = NONE;
}

/* The agent has refused the first piece. */
static void answer_refused(struct unwind_feed *f, const struct piece *p, int result)
{
	struct module *m = f->modules[p->module];

	if (result == -EAGAIN && ++m->tries < TRIES_MAX)
		return; /* sent again */
	if (!p->bytes) {
		answer_evicted(f, p->module); /* space is free even if the module was unknown */
	} else if (result == -ENOSPC) {
		answer_no_space(f, p->module);
	} else if (result == -ENOENT) {
		m->state = LEFT_OUT; /* was unmapped: its rows are not needed */
		buf_done(&m->block);
	} else {
		errno = -result;
		err_set_errno(&f->why, ERR_FAILED, "The agent refuses its unwind rows");
		leave_out(f, p->module, &f->without_rows);
	}
}

void unwind_feed_answer(struct unwind_feed *f, int result)
{
	size_t accepted = result > 0 ? (size_t)result : 0;

	for (size_t i = 0; i < accepted && i < f->piece_count; i++) {
		struct module *m = f->modules[f->pieces[i].module];

		m->tries = 0;
		m->sent += f->pieces[i].bytes;
		if (!f->pieces[i].bytes) {
			answer_evicted(f, f->pieces[i].module);
		} else if (m->sent == m->block.len) {
			m->state = SENT;
			buf_done(&m->block);
		}
	}
	/* Pieces after the accepted ones are in an unknown state: they are sent again. */
	if (!accepted && f->piece_count)
		answer_refused(f, &f->pieces[0], result ? result : -EPROTO);
	f->piece_count = 0;
}

/* --- status, end ------------------------------------------------------------------------------------- */

void unwind_feed_status(const struct unwind_feed *f, struct unwind_feed_status *out)
{
	*out = (struct unwind_feed_status){.without_rows = f->without_rows,
		.without_space = f->without_space,
		.note = f->note.what};
	for (size_t i = 0; i < f->count; i++) {
		out->waiting += f->modules[i]->state <= READY;
		out->sent += f->modules[i]->state == SENT;
		out->bytes += f->modules[i]->state == SENT ? f->modules[i]->bytes : 0;
	}
}

void unwind_feed_free(struct unwind_feed *f)
{
	if (!f || !loader_free(f->loader))
		return;
	for (size_t i = 0; i < f->count; i++) {
		buf_done(&f->modules[i]->block);
		free((char *)(uintptr_t)f->modules[i]->at.path);
		free(f->modules[i]);
	}
	free(f->modules);
	free(f);
}
