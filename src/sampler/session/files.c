/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's descriptor table, and the thread that stays in the program's. */
#include "sampler/session/files.h"

#include "base/clock.h"
#include "sampler/procfile.h"
#include "sampler/session/epochs.h"
#include "sampler/signal/raw.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2u
#endif

#define FILES_STACK   (64u << 10)
#define FILES_WAIT_NS NS_PER_S
#define FILES_BUSY_NS 100000
#define FILES_GROW    1024u

/* --- "jhot files" ----------------------------------------------------------------------------- */

static void *files_main(void *arg)
{
	struct sampler *s = arg;
	struct files *f = &s->files;
	uint32_t done = 0;

	while (!atomic_load(&f->leave)) {
		uint32_t asked = atomic_load(&f->asked);

		if (asked == done) {
			raw_futex_wait(&f->asked, asked, 10 * NS_PER_S);
			continue;
		}
		f->function(f->ctx);
		done = asked;
		atomic_store(&f->done, done);
		raw_futex_wake(&f->done);
	}
	epochs_release(s);
	return NULL;
}

bool files_run(struct sampler *s, void (*function)(void *), void *ctx)
{
	struct files *f = &s->files;
	uint64_t now = clock_mono_ns(), end = now + FILES_WAIT_NS;
	uint32_t done;
	bool served = false;

	while (atomic_exchange(&f->busy, 1)) {
		if (clock_mono_ns() > end)
			return false;
		raw_sleep(FILES_BUSY_NS);
	}
	if (f->lost)
		goto out;
	uint32_t number = atomic_load(&f->asked) + 1;
	f->function = function;
	f->ctx = ctx;
	atomic_store(&f->asked, number);
	raw_futex_wake(&f->asked);
	for (; (done = atomic_load(&f->done)) != number && now < end; now = clock_mono_ns())
		raw_futex_wait(&f->done, done, end - now);
	served = done == number;
	f->lost = !served;
out:
	atomic_store(&f->busy, 0);
	return served;
}

/* --- the agent's table ------------------------------------------------------------------------ */

/* Closes all descriptors in the calling thread's table, a copy of the program's. */
static void table_empty(void)
{
	_Alignas(8) char buffer[2048];
	long fd = raw(SYS_openat, AT_FDCWD, "/proc/thread-self/fd",
		O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	long got;

	while (fd >= 0 && (got = raw(SYS_getdents64, fd, buffer, sizeof(buffer))) > 0) {
		for (long at = 0; at < got;) {
			const struct raw_dirent *entry = (const void *)(buffer + at);
			const char *name = entry->name;
			long number = (long)procfile_digits(&name, 10);

			if (entry->name[0] != '.' && number != fd)
				raw(SYS_close, number);
			at += entry->bytes;
		}
	}
	if (fd >= 0)
		raw(SYS_close, fd);
}

/*
 * Gives the calling thread an empty table. close_range copies nothing; without it (before Linux 5.9) a copy exists for
 * a moment.
 */
static bool table_unshare(void)
{
	if (raw(SYS_close_range, 0, ~0u, CLOSE_RANGE_UNSHARE) >= 0)
		return true;
	if (raw(SYS_unshare, CLONE_FILES) < 0)
		return false;
	table_empty();
	return true;
}

int files_begin(struct sampler *s)
{
	struct files *f = &s->files;
	uint64_t limit = raw_limit(RLIMIT_NOFILE);
	int error =
		epochs_spawn(s, &(struct spawn){FILES_NAME, FILES_STACK, files_main, s, &f->tid});

	if (error)
		return -error;
	f->own = table_unshare();
	raw_file_identify(&s->task, (int32_t)raw(SYS_openat, AT_FDCWD, "/proc/self/task",
					    O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
	if (f->own && s->task.fd >= 0) {
		while (raw(SYS_fcntl, s->task.fd, F_DUPFD_CLOEXEC, 0) < 2)
			;
		/* Grows the table while one thread uses it; later the kernel would take 8 to 20 ms per step. */
		long high = raw(SYS_fcntl, s->task.fd, F_DUPFD_CLOEXEC,
			(limit < FILES_GROW ? limit : FILES_GROW) - 1);
		if (high >= 0)
			raw(SYS_close, high);
	}
	return 0;
}

void files_end(struct sampler *s)
{
	if (!atomic_load(&s->files.tid))
		return;
	s->files.lost = true;
	atomic_store(&s->files.leave, 1);
	atomic_fetch_add(&s->files.asked, 1);
	raw_futex_wake(&s->files.asked);
}
