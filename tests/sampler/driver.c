/* SPDX-License-Identifier: Apache-2.0 */
/* Loading, mapping, the lease, commands, and one function per record type. */
#include "tests/sampler/driver.h"

#include "attach/attach.h"
#include "attach/jvm/hotspot.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int driver_load(pid_t pid, const char *agent, const char *token, const char *more)
{
	const struct agent_file file = {.path = agent};
	const struct patience patience = {0};
	char options[80], name[24];
	struct hotspot jvm;
	struct err err = {0};
	int result;

	snprintf(name, sizeof(name), "%d", (int)pid);
	snprintf(options, sizeof(options), "token=%s%s", token, more);
	if (hotspot_find(name, &jvm, &err) ||
		(result = attach_load(&jvm, &file, options, &patience, &err)) < 0) {
		fprintf(stderr, "driver: %s\n%s\n%s\n", err.what, err.hint, err.details);
		return -1;
	}
	return result;
}

/* driver_find: opens the descriptor of "memfd:jhot-TOKEN" of one of the target's threads. */
static int driver_find(pid_t pid, const char *token)
{
	char pattern[64], want[64], link[300];
	glob_t found;
	int fd = -1;

	snprintf(pattern, sizeof(pattern), "/proc/%d/task/*/fd/*", (int)pid);
	snprintf(want, sizeof(want), "/memfd:" WIRE_MEMFD_PREFIX "%s (deleted)", token);
	if (glob(pattern, GLOB_NOSORT, NULL, &found))
		return -1;
	for (size_t i = 0; i < found.gl_pathc && fd < 0; i++) {
		ssize_t n = readlink(found.gl_pathv[i], link, sizeof(link) - 1);

		if (n > 0 && (link[n] = '\0', !strcmp(link, want)))
			fd = open(found.gl_pathv[i], O_RDWR | O_CLOEXEC);
	}
	globfree(&found);
	return fd;
}

struct driver *driver_open(pid_t pid, const char *token)
{
	struct driver *d = calloc(1, sizeof(*d));
	struct stat st;

	d->pid = pid;
	d->fd = driver_find(pid, token);
	if (d->fd < 0 || fstat(d->fd, &st) ||
		pread(d->fd, &d->header, sizeof(d->header), 0) != sizeof(d->header) ||
		d->header.magic != WIRE_MAGIC || d->header.major != WIRE_MAJOR ||
		(uint64_t)st.st_size != d->header.map_bytes) {
		if (d->fd >= 0)
			close(d->fd);
		free(d);
		return NULL;
	}
	d->base = mmap(NULL, d->header.map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, d->fd, 0);
	d->control = (struct wire_control *)(void *)(d->base + d->header.control_off);
	d->status = (struct wire_status *)(void *)(d->base + d->header.status_off);
	ring_reader_init(&d->ring, (struct wire_cursors *)(void *)(d->base + d->header.cursors_off),
		d->base + d->header.ring_off, d->header.ring_bytes);
	return d;
}

/* --- the lease ------------------------------------------------------------------------------- */

static void *driver_beater(void *arg)
{
	struct driver *d = arg;
	struct timespec pause = {0, 100000000};

	while (!atomic_load(&d->stop_beating)) {
		atomic_fetch_add(&d->control->beat, 1);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

void driver_beat(struct driver *d)
{
	atomic_store(&d->stop_beating, false);
	d->beats = pthread_create(&d->beater, NULL, driver_beater, d) == 0;
}

void driver_silence(struct driver *d)
{
	if (!d->beats)
		return;
	atomic_store(&d->stop_beating, true);
	pthread_join(d->beater, NULL);
	d->beats = false;
}

/* --- waiting and commands -------------------------------------------------------------------- */

void driver_wait(struct driver *d, int timeout_ms)
{
	struct timespec ts = {timeout_ms / 1000, timeout_ms % 1000 * 1000000};
	uint32_t seen = atomic_load(&d->status->publish_seq);

	if (!ring_reader_pending(&d->ring) && !driver_left(d))
		syscall(SYS_futex, &d->status->publish_seq, FUTEX_WAIT, seen, &ts, NULL, 0);
}

bool driver_left(const struct driver *d)
{
	return atomic_load(&d->status->agent_state) == WIRE_AGENT_LEFT;
}

bool driver_ready(struct driver *d)
{
	uint64_t end = clock_mono_ns() + 10 * NS_PER_S;

	while (atomic_load(&d->status->agent_state) != WIRE_AGENT_READY) {
		if (clock_mono_ns() > end || driver_left(d))
			return false;
		driver_wait(d, 10);
	}
	return true;
}

int driver_run(struct driver *d, const struct wire_command *command)
{
	uint32_t seq = atomic_load(&d->control->command_seq) + 1;
	uint64_t end = clock_mono_ns() + 10 * NS_PER_S;

	d->control->command = *command;
	atomic_store(&d->control->command_seq, seq);
	syscall(SYS_futex, &d->control->command_seq, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	while (atomic_load(&d->status->done_seq) != seq) {
		if (clock_mono_ns() > end)
			return -ETIMEDOUT;
		driver_drain(d);
		driver_wait(d, 10);
	}
	return atomic_load(&d->status->done_result);
}

int driver_command(struct driver *d, uint32_t op, uint32_t event, uint64_t interval)
{
	return driver_run(
		d, &(struct wire_command){.op = op, .event = event, .interval = interval});
}

int driver_command_arg(struct driver *d, uint32_t op, uint64_t arg)
{
	return driver_run(d, &(struct wire_command){.op = op, .arg = arg});
}

uint64_t driver_counter(const struct driver *d, const char *name)
{
	uint32_t used = atomic_load(&d->status->counters_used);

	for (uint32_t i = 0; i < used && i < WIRE_COUNTERS; i++) {
		if (!strcmp(d->status->counters[i].name, name))
			return atomic_load(&d->status->counters[i].value);
	}
	return 0;
}

/* --- records --------------------------------------------------------------------------------- */

static void *driver_copy(const struct wire_record *rec)
{
	return memcpy(malloc(rec->size), rec, rec->size);
}

/* driver_check: checks that what a record refers to was published; reports the first failure by its id. */
static void driver_check(struct driver *d, bool present, const char *what, uint64_t id)
{
	if (present)
		return;
	if (!d->unknown_ids++)
		snprintf(d->unknown, sizeof(d->unknown), "%s %" PRIu64 " after %" PRIu64 " records",
			what, id, d->records);
}

static void driver_module(struct driver *d, const void *data)
{
	const struct wire_module *m = data;

	d->modules[m->id & 0xffff] = driver_copy(&m->rec);
}

static void driver_method(struct driver *d, const void *data)
{
	const struct wire_method *m = data;
	bool plain = m->class_bytes == 0;
	char *name = NULL;

	if (asprintf(&name, "%.*s%s%.*s", m->class_bytes, m->text, plain ? "" : ".", m->name_bytes,
		    m->text + m->class_bytes) < 0)
		abort();
	d->methods[m->id % DRIVER_NAMES].name = name;
}

static void driver_thread(struct driver *d, const void *data)
{
	const struct wire_thread *t = data;

	free(d->threads[t->id % DRIVER_NAMES]);
	d->threads[t->id % DRIVER_NAMES] = strndup(t->name, t->name_bytes);
	d->thread_kinds[t->id % DRIVER_NAMES] = t->kind;
}

static void driver_trace(struct driver *d, const void *data)
{
	const struct wire_trace *t = data;
	struct driver_trace *to = &d->traces[t->id % DRIVER_NAMES];

	free(to->record);
	to->record = driver_copy(&t->rec);
	to->count = to->weight = 0;
	driver_check(d, d->threads[t->thread % DRIVER_NAMES], "a trace's thread", t->thread);
}

bool driver_frame_named(uint64_t frame)
{
	unsigned kind = WIRE_FRAME_KIND(frame);

	return kind != WIRE_FRAME_NATIVE && kind != WIRE_FRAME_RAW && kind != WIRE_FRAME_KERNEL &&
	       kind != WIRE_FRAME_CUT;
}

static void driver_frames(struct driver *d, const struct wire_trace *t, uint32_t count)
{
	bool broken = false, java = false;

	for (uint32_t i = 0; i < t->frame_count; i++) {
		uint64_t frame = t->frames[i];
		unsigned kind = WIRE_FRAME_KIND(frame);
		struct driver_method *m = &d->methods[WIRE_FRAME_METHOD(frame) % DRIVER_NAMES];

		d->by_kind[kind] += count;
		broken |= kind == WIRE_FRAME_BREAK;
		java |= WIRE_FRAME_IS_JAVA(kind);
		d->kernel += kind == WIRE_FRAME_KERNEL && i == 0 ? count : 0;
		if (kind == WIRE_FRAME_NATIVE)
			driver_check(d, d->modules[WIRE_FRAME_MODULE(frame)], "a frame's module",
				WIRE_FRAME_MODULE(frame));
		if (!driver_frame_named(frame))
			continue;
		driver_check(d, m->name, "a frame's method", WIRE_FRAME_METHOD(frame));
		m->self += i == 0 ? count : 0;
		m->total += m->seen == t->id ? 0 : count;
		m->seen = t->id;
	}
	d->frames += (uint64_t)t->frame_count * count;
	d->broken += broken ? count : 0;
	d->events[t->event % WIRE_EVENTS].broken += broken ? count : 0;
	d->java += java ? count : 0;
	for (uint32_t i = 0; i < t->frame_count; i++) /* the next delta counts afresh */
		d->methods[WIRE_FRAME_METHOD(t->frames[i]) % DRIVER_NAMES].seen = 0;
}

static void driver_deltas(struct driver *d, const void *data)
{
	const struct wire_deltas *r = data;

	for (uint32_t i = 0; i < r->delta_count; i++) {
		struct driver_trace *t = &d->traces[r->deltas[i].trace % DRIVER_NAMES];

		d->samples += r->deltas[i].count;
		d->weight += r->deltas[i].weight;
		d->events[r->event % WIRE_EVENTS].samples += r->deltas[i].count;
		d->events[r->event % WIRE_EVENTS].weight += r->deltas[i].weight;
		d->events[r->event % WIRE_EVENTS].changes +=
			d->events[r->event % WIRE_EVENTS].interval != r->interval;
		d->events[r->event % WIRE_EVENTS].interval = r->interval;
		if (!t->record || t->record->id != r->deltas[i].trace) {
			driver_check(d, false, "a delta's trace", r->deltas[i].trace);
			continue;
		}
		t->count += r->deltas[i].count;
		t->weight += r->deltas[i].weight;
		driver_frames(d, t->record, r->deltas[i].count);
	}
}

static void driver_tick(struct driver *d, const void *data)
{
	const struct wire_tick *t = data;

	d->ticks++;
	d->cpu_ns += t->cpu_ns;
	d->halves +=
		t->half_ns > t->since_ns && t->half_ns < t->time_ns && t->half_weight[WIRE_CPU];
	driver_check(d, t->since_ns <= t->time_ns, "a tick's beginning", t->since_ns);
}

static void driver_wait_record(struct driver *d, const void *data)
{
	const struct wire_wait *w = data;

	d->waits++;
	d->waits_ended += w->ended;
	d->waits_owned += w->owner != 0;
	driver_check(d, d->threads[w->thread % DRIVER_NAMES], "a wait's thread", w->thread);
	driver_check(
		d, !w->owner || d->threads[w->owner % DRIVER_NAMES], "a wait's owner", w->owner);
	driver_check(d, !w->method || d->methods[w->method % DRIVER_NAMES].name, "a wait's method",
		w->method);
	driver_check(d, w->since_ns <= w->time_ns, "a wait's beginning", w->since_ns);
	if (d->on_wait)
		d->on_wait(d, w);
}

static void driver_note(struct driver *d, const void *data)
{
	const struct wire_note *n = data;

	d->notes++;
	d->gaps += n->kind == WIRE_NOTE_GAP;
	snprintf(d->note, sizeof(d->note), "%.*s", (int)n->text_bytes, n->text);
}

static void (*const driver_records[])(struct driver *d, const void *data) = {
	[WIRE_REC_MODULE] = driver_module,
	[WIRE_REC_METHOD] = driver_method,
	[WIRE_REC_THREAD] = driver_thread,
	[WIRE_REC_TRACE] = driver_trace,
	[WIRE_REC_DELTAS] = driver_deltas,
	[WIRE_REC_TICK] = driver_tick,
	[WIRE_REC_NOTE] = driver_note,
	[WIRE_REC_WAIT] = driver_wait_record,
};

bool driver_drain(struct driver *d)
{
	static _Alignas(8) unsigned char buffer[WIRE_RECORD_MAX];
	const struct wire_record *rec = (const struct wire_record *)(void *)buffer;
	int got;

	while ((got = ring_read(&d->ring, buffer)) > 0) {
		d->records++;
		if (rec->type < sizeof(driver_records) / sizeof(driver_records[0]) &&
			driver_records[rec->type])
			driver_records[rec->type](d, buffer);
	}
	return got == 0;
}

void driver_close(struct driver *d)
{
	driver_silence(d);
	for (uint32_t i = 0; i < DRIVER_NAMES; i++) {
		free(d->methods[i].name);
		free(d->traces[i].record);
		free(d->threads[i]);
	}
	for (uint32_t i = 0; i < 65536; i++)
		free(d->modules[i]);
	munmap(d->base, d->header.map_bytes);
	close(d->fd);
	free(d);
}
