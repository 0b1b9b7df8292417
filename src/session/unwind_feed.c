/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of modules, and the one that is being compiled or sent. */
#include "session/unwind_feed.h"

#include "base/buf.h"
#include "session/unwind_pack.h"
#include "symbols/cfi.h"
#include "symbols/target_file.h"
#include "wire/layout.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define VDSO_MAX         (1u << 20)
#define KEEPS_FP_PERCENT 60 /* libjvm 88, the JDK's other libraries about 80, libc 17, libz 0 */
#define TRIES_MAX        50 /* answers "later" for one piece before its module is left out */

enum state { WAITING, SENT, LEFT_OUT };

struct module {
	struct symbols_module at;
	uint32_t id;
	enum state state;
	int rank;       /* smaller goes first */
	bool keeps_fp;  /* once compiled: most of its code has a frame pointer */
	uint32_t bytes; /* of its rows, once sent */
};

#define NONE SIZE_MAX

struct unwind_feed {
	pid_t pid;
	struct module *modules;
	size_t count, cap;

	/* the one at work */
	size_t now;      /* an index, or NONE */
	struct cfi *cfi; /* while it is compiled */
	int fd;
	void *image;      /* of the vDSO */
	struct buf block; /* while it is sent: its packed rows */
	uint32_t sent;    /* of the block */
	uint32_t piece;   /* bytes of the block in the staging area, not answered yet */
	size_t evicting;  /* the module that the agent is asked to forget, or NONE */
	unsigned tries;

	unsigned without_rows, without_room;
	struct err note;
};

struct unwind_feed *unwind_feed_new(pid_t pid)
{
	struct unwind_feed *f = xcalloc(1, sizeof *f);

	f->pid = pid;
	f->fd = -1;
	f->now = f->evicting = NONE;
	return f;
}

/* --- the queue --------------------------------------------------------------------------------------- */

/* What Java programs are seen in most, then the rest, libjvm last: it keeps frame pointers and is large. */
static int rank_of(const char *path)
{
	static const char *const first[] = {"libc.so", "libc-", "[vdso]", "ld-", "libpthread",
		"libm.so", "libm-", "libz.so", "libnet.so", "libnio.so", "libjava.so", "libzip.so",
		"libjimage.so"};
	const int rest = sizeof first / sizeof *first;
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	for (int i = 0; i < rest; i++)
		if (!strncmp(name, first[i], strlen(first[i])))
			return i;
	return strncmp(name, "libjvm.so", 9) ? rest : rest + 1;
}

void unwind_feed_module(struct unwind_feed *f, uint32_t id, const struct symbols_module *m)
{
	struct module *to;

	if (f->count == f->cap) {
		f->cap = f->cap ? 2 * f->cap : 64;
		f->modules = xreallocarray(f->modules, f->cap, sizeof *f->modules);
	}
	to = &f->modules[f->count++];
	*to = (struct module){.at = *m, .id = id, .rank = rank_of(m->path)};
	to->at.path = xstrdup(m->path);
}

static size_t queue_first(const struct unwind_feed *f)
{
	size_t first = NONE;

	for (size_t i = 0; i < f->count; i++)
		if (f->modules[i].state == WAITING &&
			(first == NONE || f->modules[i].rank < f->modules[first].rank))
			first = i;
	return first;
}

bool unwind_feed_busy(const struct unwind_feed *f)
{
	return f->now != NONE || queue_first(f) != NONE;
}

/* --- the one at work --------------------------------------------------------------------------------- */

static void now_done(struct unwind_feed *f, enum state state)
{
	f->modules[f->now].state = state;
	cfi_close(f->cfi);
	f->cfi = NULL;
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	free(f->image);
	f->image = NULL;
	buf_done(&f->block);
	f->now = NONE;
	f->sent = f->piece = 0;
	f->tries = 0;
}

/* The note already says why. */
static void now_leave_out(struct unwind_feed *f, unsigned *counter)
{
	++*counter;
	err_prefix(&f->note, "Frame pointers alone lead through %s. ", f->modules[f->now].at.path);
	now_done(f, LEFT_OUT);
}

/* The vDSO has no file: the one in the target's memory is read. */
static struct cfi *open_vdso(struct unwind_feed *f, const struct symbols_module *m)
{
	size_t bytes = m->end - m->start;
	struct iovec local, remote = {(void *)(uintptr_t)m->start, bytes};

	if (bytes > VDSO_MAX) {
		err_set(&f->note, ERR_INPUT, "It is too large.");
		return NULL;
	}
	f->image = xmalloc(bytes);
	local = (struct iovec){f->image, bytes};
	if (process_vm_readv(f->pid ? f->pid : getpid(), &local, 1, &remote, 1, 0) !=
		(ssize_t)bytes) {
		err_set_errno(&f->note, ERR_INPUT, "It cannot be read from the process's memory");
		return NULL;
	}
	return cfi_open_image(f->image, bytes, &f->note);
}

/* Archives of classes (.jsa) and [vsyscall] are mapped as code, too, and are no loss. */
static bool is_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, SELFMAG, 0) == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG);
}

static struct cfi *open_file(struct unwind_feed *f, const struct symbols_module *m)
{
	f->fd = target_file_open_module(f->pid, m);
	if (f->fd < 0) {
		errno = -f->fd;
		err_set_errno(&f->note, ERR_INPUT, "The file cannot be opened");
		return NULL;
	}
	return is_elf(f->fd) ? cfi_open(f->fd, &f->note) : NULL;
}

static void now_open(struct unwind_feed *f)
{
	const struct symbols_module *m = &f->modules[f->now].at;
	bool vdso = !strcmp(m->path, "[vdso]");

	if (vdso)
		f->cfi = open_vdso(f, m);
	else if (m->path[0] == '/')
		f->cfi = open_file(f, m);
	if (f->cfi)
		return;
	if (m->path[0] == '[' ? vdso : f->fd < 0 || is_elf(f->fd))
		now_leave_out(f, &f->without_rows);
	else
		now_done(f, LEFT_OUT);
}

static bool rows_keep_fp(const struct cfi_row *rows, size_t count)
{
	uint64_t all = 0, with = 0;

	for (size_t i = 0; i + 1 < count; i++) {
		uint64_t bytes = rows[i + 1].offset - rows[i].offset;

		all += rows[i].rule.cfa == CFI_CFA_NONE ? 0 : bytes;
		with += rows[i].rule.cfa == CFI_CFA_FP ? bytes : 0;
	}
	return with * 100 > all * KEEPS_FP_PERCENT;
}

static void now_compile(struct unwind_feed *f, uint64_t slice_ns)
{
	int r = cfi_compile(f->cfi, slice_ns, &f->note);
	const struct cfi_row *rows;
	size_t count;

	if (r == 0)
		return;
	rows = cfi_rows(f->cfi, &count);
	if (r < 0 || unwind_pack(rows, count, &f->block, &f->note)) {
		now_leave_out(f, &f->without_rows);
		return;
	}
	f->modules[f->now].keeps_fp = rows_keep_fp(rows, count);
	cfi_close(f->cfi);
	f->cfi = NULL;
}

/* --- pieces ------------------------------------------------------------------------------------------ */

static size_t piece_write(struct unwind_feed *f, struct wire_unwind_chunk *out, size_t room)
{
	size_t left = f->block.len - f->sent;
	struct wire_unwind_chunk head = {.module = f->modules[f->now].id};

	if (f->evicting != NONE) {
		head.module = f->modules[f->evicting].id;
		memcpy(out, &head, sizeof head);
		return sizeof head;
	}
	room = (room - sizeof head) & ~(size_t)3;
	f->piece = (uint32_t)(left < room ? left : room);
	head.total_bytes = (uint32_t)f->block.len;
	head.offset = f->sent;
	head.bytes = f->piece;
	memcpy(out, &head, sizeof head);
	memcpy(out->data, f->block.data + f->sent, f->piece);
	return sizeof head + f->piece;
}

size_t unwind_feed_step(
	struct unwind_feed *f, void *staging, size_t staging_bytes, uint64_t slice_ns)
{
	if (f->now == NONE)
		f->now = queue_first(f);
	if (f->now != NONE && !f->cfi && !f->block.len)
		now_open(f);
	if (f->now != NONE && f->cfi)
		now_compile(f, slice_ns);
	if (f->now == NONE || f->cfi)
		return 0;
	return piece_write(f, staging, staging_bytes);
}

/* What can do best without its rows: the largest of those that keep frame pointers. */
static size_t evictable(const struct unwind_feed *f)
{
	size_t best = NONE;

	for (size_t i = 0; i < f->count; i++)
		if (f->modules[i].state == SENT && f->modules[i].keeps_fp &&
			(best == NONE || f->modules[i].bytes > f->modules[best].bytes))
			best = i;
	return best;
}

static void answer_no_room(struct unwind_feed *f)
{
	f->sent = f->piece = 0;
	if (!f->modules[f->now].keeps_fp)
		f->evicting = evictable(f);
	if (f->evicting == NONE) {
		err_set(&f->note, ERR_FAILED,
			"Its %zu kB of unwind rows find no room in the agent.", f->block.len >> 10);
		now_leave_out(f, &f->without_room);
	}
}

static void answer_evicted(struct unwind_feed *f)
{
	struct module *m = &f->modules[f->evicting];

	m->state = LEFT_OUT;
	m->bytes = 0;
	f->without_room++;
	err_set(&f->note, ERR_FAILED,
		"Frame pointers alone lead through %s. It made room for unwind rows of others.",
		m->at.path);
	f->evicting = NONE;
}

void unwind_feed_answer(struct unwind_feed *f, int result)
{
	struct module *m = &f->modules[f->now];

	if (result == -EAGAIN && ++f->tries < TRIES_MAX)
		return; /* the same piece again */
	f->tries = 0;
	if (f->evicting != NONE) { /* a module that is gone has left its room, too */
		answer_evicted(f);
	} else if (result == -ENOSPC) {
		answer_no_room(f);
	} else if (result == -ENOENT) {
		now_done(f, LEFT_OUT); /* unmapped meanwhile: nobody misses its rows */
	} else if (result) {
		errno = -result;
		err_set_errno(&f->note, ERR_FAILED, "The agent refuses its unwind rows");
		now_leave_out(f, &f->without_rows);
	} else {
		f->sent += f->piece;
		m->bytes = f->sent;
		if (f->sent == f->block.len)
			now_done(f, SENT);
	}
}

/* --- the rest ---------------------------------------------------------------------------------------- */

void unwind_feed_status(const struct unwind_feed *f, struct unwind_feed_status *out)
{
	*out = (struct unwind_feed_status){.without_rows = f->without_rows,
		.without_room = f->without_room,
		.note = f->note.what};
	for (size_t i = 0; i < f->count; i++) {
		out->waiting += f->modules[i].state == WAITING;
		out->sent += f->modules[i].state == SENT;
		out->bytes += f->modules[i].state == SENT ? f->modules[i].bytes : 0;
	}
}

void unwind_feed_free(struct unwind_feed *f)
{
	if (!f)
		return;
	if (f->now != NONE)
		now_done(f, LEFT_OUT);
	for (size_t i = 0; i < f->count; i++)
		free((char *)(uintptr_t)f->modules[i].at.path);
	free(f->modules);
	free(f);
}
