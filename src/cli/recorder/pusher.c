/* SPDX-License-Identifier: Apache-2.0 */
/* The process that pushes, and the recorder's functions for it. */
#include "cli/recorder/pusher.h"

#include "cli/recorder/unpushed.h"

#include "base/buf.h"
#include "base/clean.h"
#include "base/clock.h"
#include "base/hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEMORY_NAME   "jhot-push"
#define MAGIC         "jhotpsh"
#define VERSION       1u
#define LAST_NS       (10 * NS_PER_S) /* time limit for files that are queued when the recorder ends */
#define READY         "ready"
#define NOTE_MAX      900
#define PATH_PIPE_MAX ((size_t)4096) /* PIPE_BUF: longer writes could be interleaved */

/* --- in the pusher ------------------------------------------------------------------------------------- */

enum state { STATE_FINE, STATE_FAILING, STATE_REFUSED };

struct queue {
	struct pushing *how;
	struct push_counts *counts;
	int paths, notes;
	struct buf partial; /* bytes of a path that has not arrived completely */
	char **files;       /* those from `first` on wait, the oldest first */
	uint32_t first, count, cap;
	struct pushing_file file; /* progress of the first one */
	bool ended;               /* no process adds files any more */
	uint64_t end_ns;          /* then: when to give up */

	enum state state;
	bool partly;               /* only a part of the last file was accepted */
	long status;               /* that caused the state */
	unsigned failures;         /* consecutive ones */
	uint64_t due_ns;           /* time of the next attempt */
	uint64_t dropped, refused; /* since the state changed */
};

static void note(const struct queue *q, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void note(const struct queue *q, const char *fmt, ...)
{
	struct buf line = {0};
	char text[NOTE_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	buf_printf(&line, "%s\n", text);
	ssize_t ignored =
		write(q->notes, line.data, line.len); /* the recorder may have been killed */
	(void)ignored;
	buf_done(&line);
}

/* Reads the paths that have arrived, waiting up to timeout_ms for one. */
static void queue_read(struct queue *q, int timeout_ms)
{
	struct pollfd in = {.fd = q->ended ? -1 : q->paths, .events = POLLIN};
	ssize_t got = -1;
	char *end;

	if (poll(&in, 1, timeout_ms) > 0)
		got = buf_read(&q->partial, q->paths, 65536);
	if (!got) {
		q->ended = true;
		q->end_ns = clock_mono_ns() + LAST_NS;
	}
	while (q->partial.len && (end = memchr(q->partial.data, '\0', q->partial.len))) {
		size_t len = (size_t)(end - q->partial.data) + 1;

		q->files = xgrow(q->files, q->count, &q->cap, sizeof(*q->files));
		q->files[q->count++] = xstrdup(q->partial.data);
		memmove(q->partial.data, q->partial.data + len, q->partial.len - len);
		q->partial.len -= len;
	}
	q->counts->queued = q->count - q->first;
}

static bool gone(const char *path)
{
	return access(path, F_OK) && errno == ENOENT;
}

static void queue_pop(struct queue *q)
{
	unpushed_clear(q->files[q->first]);
	free(q->files[q->first++]);
	q->file = (struct pushing_file){0};
	if (q->first > q->count / 2) {
		memmove(q->files, q->files + q->first, (q->count - q->first) * sizeof(*q->files));
		q->count -= q->first;
		q->first = 0;
	}
	q->counts->queued = q->count - q->first;
}

/* Drops the oldest files of the queue that have been removed. */
static void queue_drop(struct queue *q)
{
	while (q->first < q->count && gone(q->files[q->first])) {
		__atomic_fetch_add(&q->counts->dropped, 1, __ATOMIC_RELAXED);
		if (!q->dropped++)
			note(q, "push: %s was removed before it could be pushed",
				q->files[q->first]);
		queue_pop(q);
	}
}

/* Called during requests: keeps the pipe empty, and ends the last request in time. */
static bool queue_tick(void *ctx)
{
	struct queue *q = ctx;

	queue_read(q, 0);
	return !q->ended || clock_mono_ns() < q->end_ns;
}

/* Reports a change: one line, however long it lasts. */
static void state_set(struct queue *q, enum state state, const struct err *why)
{
	struct buf late = {0};

	if (state == q->state && (state == STATE_FINE || q->status == q->file.status))
		return;
	if (q->dropped || q->refused)
		buf_printf(&late,
			"; in the meantime %llu were removed before they could be pushed, and %llu "
			"refused",
			(unsigned long long)q->dropped, (unsigned long long)q->refused);
	if (state == STATE_FINE)
		note(q, "push to %s works again: %u file%s waiting%s", q->how->target.shown,
			q->counts->queued, plural(q->counts->queued), buf_str(&late));
	else if (state == STATE_FAILING)
		note(q, "push: %s Trying again until it works.", why->what);
	else
		note(q, "push: %s was refused and is skipped: %s", q->files[q->first], why->what);
	buf_done(&late);
	q->state = state;
	q->status = q->file.status;
	if (state == STATE_FINE)
		q->dropped = q->refused = 0;
}

/* Stores the last error for `jhot status`. */
static void publish_error(const struct queue *q, const struct err *why)
{
	snprintf(q->counts->error, sizeof(q->counts->error), "%.*s",
		(int)sizeof(q->counts->error) - 1, why->what);
}

/* One attempt to push the oldest file. */
static void queue_push(struct queue *q)
{
	const char *path = q->files[q->first];
	struct err why = {0};

	q->counts->attempts++;
	enum push_outcome outcome = pushing_push(q->how, path, &q->file, &why);
	if (outcome == PUSH_DONE) {
		struct push_counts *c = q->counts;

		q->failures = 0;
		c->pushed++;
		c->bytes += q->file.bytes;
		if (q->file.sent) { /* else the file had no samples, and no request was made */
			c->failing_since_ns = 0;
			state_set(q, STATE_FINE, &why);
		}
		if (q->file.rejected && !q->partly)
			note(q, "push: a part of %s was not accepted: %s", q->files[q->first],
				why.what);
		q->partly = q->file.rejected != 0;
		c->rejected += q->file.rejected;
		queue_pop(q);
	} else if (outcome != PUSH_REFUSED) {
		uint64_t random = hash_pair(clock_mono_ns(), (uint64_t)getpid());

		if (!q->counts->failing_since_ns)
			q->counts->failing_since_ns = (int64_t)clock_wall_ns();
		publish_error(q, &why);
		if (!q->ended) /* queue_finish reports it otherwise */
			state_set(q, STATE_FAILING, &why);
		q->due_ns = clock_mono_ns() +
			    push_wait_ns(++q->failures, q->file.retry_after_s, random);
	} else if (!gone(path)) {
		q->failures = 0;
		q->counts->refused++;
		q->counts->failing_since_ns = 0;
		q->refused++;
		publish_error(q, &why);
		state_set(q, STATE_REFUSED, &why);
		queue_pop(q);
	} /* else: queue_drop counts it */
}

static int queue_timeout_ms(const struct queue *q)
{
	uint64_t now_ns = clock_mono_ns();

	if (q->first == q->count)
		return -1;
	return q->due_ns > now_ns ? (int)((q->due_ns - now_ns) / NS_PER_MS) + 1 : 0;
}

static void queue_run(struct queue *q)
{
	while (!q->ended) {
		queue_read(q, queue_timeout_ms(q));
		queue_drop(q);
		if (!q->ended && q->first < q->count && clock_mono_ns() >= q->due_ns)
			queue_push(q);
	}
	/* After the end: each file once more, until one fails or the time is over. */
	bool asked = q->file.retry_after_s && clock_mono_ns() < q->due_ns;
	unsigned failures = q->failures;
	while (!asked && q->first < q->count && q->failures <= failures &&
		clock_mono_ns() < q->end_ns) {
		queue_drop(q);
		if (q->first < q->count) {
			failures = q->failures;
			queue_push(q);
		}
	}
	queue_drop(q);
	if (q->first < q->count)
		note(q, "push: %u file%s not pushed, from %s on: %s", q->counts->queued,
			plural(q->counts->queued), q->files[q->first],
			q->failures ? q->counts->error : "there was no time");
	if (q->counts->dropped || q->counts->refused || q->counts->rejected)
		note(q,
			"push: %llu files pushed, %llu removed before, %llu refused, %llu profiles "
			"rejected",
			(unsigned long long)q->counts->pushed,
			(unsigned long long)q->counts->dropped,
			(unsigned long long)q->counts->refused,
			(unsigned long long)q->counts->rejected);
	for (uint32_t i = q->first; i < q->count; i++)
		free(q->files[i]);
	free(q->files);
	buf_done(&q->partial);
}

/* The process. It ends when no recorder has the pipe open any more, not by a signal that is sent to a whole group or service. */
static void pusher_main(struct queue *q)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGTSTP, SIGPIPE};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct err err = {0};

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	for (int stream = 0; stream <= STDERR_FILENO && null >= 0; stream++)
		dup2(null, stream);
	if (pushing_open(q->how, &err)) {
		note(q, "%s", err.what);
		_exit(1);
	}
	note(q, READY);
	q->how->options.tick = queue_tick;
	q->how->options.ctx = q;
	queue_run(q);
	_exit(0);
}

/* --- in the recorder ----------------------------------------------------------------------------------- */

/* Reads one line of the notes, waiting for it. Returns false at the end. */
static bool read_note(struct pusher *p, char *line, size_t bytes)
{
	size_t len = 0;
	ssize_t got;
	char c;

	while ((got = read(p->notes, &c, 1)) == 1 || (got < 0 && errno == EINTR)) {
		if (got == 1 && c == '\n')
			break;
		if (got == 1 && len + 1 < bytes)
			line[len++] = c;
	}
	line[len] = '\0';
	return len || got == 1;
}

static int make_memory(struct pusher *p, const struct pushing *how, struct err *err)
{
	p->memory = memfd_create(MEMORY_NAME, MFD_CLOEXEC);
	if (p->memory < 0 || ftruncate(p->memory, sizeof(*p->counts)))
		return err_set_errno(err, ERR_FAILED, "Cannot create shared memory");
	p->counts =
		mmap(NULL, sizeof(*p->counts), PROT_READ | PROT_WRITE, MAP_SHARED, p->memory, 0);
	if (p->counts == MAP_FAILED) {
		p->counts = NULL;
		return err_set_errno(err, ERR_FAILED, "Cannot map shared memory");
	}
	memcpy(p->counts->magic, MAGIC, sizeof(p->counts->magic));
	p->counts->version = VERSION;
	snprintf(p->counts->url, sizeof(p->counts->url), "%.*s", (int)sizeof(p->counts->url) - 1,
		how->target.shown);
	return 0;
}

int pusher_begin(struct pusher *p, struct pushing *how, struct err *err)
{
	int paths[2], notes[2];
	char line[NOTE_MAX];

	*p = (struct pusher){.paths = -1, .notes = -1, .memory = -1, .owner = getpid()};
	if (make_memory(p, how, err))
		return -1;
	if (pipe2(paths, O_CLOEXEC))
		return err_set_errno(err, ERR_FAILED, "Cannot create a pipe");
	p->paths = paths[1];
	if (pipe2(notes, O_CLOEXEC)) {
		close(paths[0]);
		return err_set_errno(err, ERR_FAILED, "Cannot create a pipe");
	}
	p->notes = notes[0];
	fcntl(paths[1], F_SETFL, O_NONBLOCK);
	fcntl(notes[1], F_SETFL, O_NONBLOCK);
	fflush(NULL);
	p->pid = fork();
	if (!p->pid) {
		struct queue q = {
			.how = how, .counts = p->counts, .paths = paths[0], .notes = notes[1]};

		close(paths[1]);
		close(notes[0]);
		pusher_main(&q);
	}
	close(paths[0]);
	close(notes[1]);
	if (p->pid < 0) {
		p->pid = 0;
		return err_set_errno(err, ERR_FAILED, "Cannot create a process");
	}
	if (!read_note(p, line, sizeof(line)))
		return err_set(err, ERR_FAILED, "The process that pushes has ended.");
	if (!strcmp(line, READY))
		return 0;
	/* Once more in this process, for the hints. */
	return pushing_open(how, err) ? -1 : err_set(err, ERR_FAILED, "%s", line);
}

int pusher_add(struct pusher *p, const char *path)
{
	size_t len = strlen(path) + 1;

	if (len <= PATH_PIPE_MAX && write(p->paths, path, len) == (ssize_t)len)
		return 0;
	__atomic_fetch_add(&p->counts->dropped, 1, __ATOMIC_RELAXED);
	return -1;
}

void pusher_report(struct pusher *p, void (*fn)(const char *line))
{
	struct pollfd in = {.fd = p->notes, .events = POLLIN};
	char line[NOTE_MAX];

	if (!p->pid || p->owner != getpid())
		return;
	while (poll(&in, 1, 0) > 0) {
		if (read_note(p, line, sizeof(line))) {
			fn(line);
			continue;
		}
		close(p->notes); /* reported by pusher_add for each further file */
		p->notes = -1;
		return;
	}
}

void pusher_end(struct pusher *p, void (*fn)(const char *line))
{
	char line[NOTE_MAX];

	if (p->owner != getpid())
		return;
	if (p->paths >= 0)
		close(p->paths);
	while (p->pid && p->notes >= 0 && read_note(p, line, sizeof(line)))
		fn(line);
	if (p->notes >= 0)
		close(p->notes);
	while (p->pid && waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (p->counts)
		munmap(p->counts, sizeof(*p->counts));
	if (p->memory >= 0)
		close(p->memory);
	*p = (struct pusher){0};
}

/* --- from another process ------------------------------------------------------------------------------ */

static bool read_counts(int folder, const char *name, struct push_counts *out)
{
	static const char wanted[] = "/memfd:" MEMORY_NAME " ";
	char target[64];
	ssize_t n = readlinkat(folder, name, target, sizeof(target) - 1);

	if (n < (ssize_t)sizeof(wanted) - 1 || strncmp(target, wanted, sizeof(wanted) - 1) != 0)
		return false;
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	n = pread(fd, out, sizeof(*out), 0);
	close(fd);
	if (n != (ssize_t)sizeof(*out) || memcmp(out->magic, MAGIC, sizeof(out->magic)) != 0 ||
		out->version != VERSION)
		return false;
	out->url[sizeof(out->url) - 1] = '\0';
	out->error[sizeof(out->error) - 1] = '\0';
	clean_own(out->url);
	clean_own(out->error);
	return true;
}

bool pusher_counts_of(pid_t recorder, struct push_counts *out)
{
	const struct dirent *entry;
	bool found = false;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)recorder);
	DIR *dir = opendir(path);
	while (dir && !found && (entry = readdir(dir)))
		found = read_counts(dirfd(dir), entry->d_name, out);
	if (dir)
		closedir(dir);
	return found;
}
