/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mock agent without a JVM: a sealed memfd with the layout of wire/, and a writer for its ring.
 *
 * It lives in the test's process, whose descriptors session/ can scan like a target's.
 */
#ifndef JHOT_SESSION_FAKE_AGENT_H
#define JHOT_SESSION_FAKE_AGENT_H

#include "base/clock.h"
#include "wire/layout.h"
#include "wire/ring.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct fake_agent {
	int fd;
	unsigned char *base;
	struct wire_header header;
	struct wire_control *control;
	struct wire_status *status;
	struct ring_writer ring;
};

static inline struct wire_header fake_header(const char *token)
{
	struct wire_header h = {
		.magic = WIRE_MAGIC,
		.major = WIRE_MAJOR,
		.minor = WIRE_MINOR,
		.header_bytes = sizeof(h),
		.control_off = WIRE_PAGE,
		.control_bytes = WIRE_PAGE,
		.status_off = 2 * WIRE_PAGE,
		.status_bytes = WIRE_PAGE,
		.cursors_off = 3 * WIRE_PAGE,
		.cursors_bytes = WIRE_PAGE,
		.ring_off = 4 * WIRE_PAGE,
		.ring_bytes = 4 * WIRE_RECORD_MAX,
		.staging_off = 4 * WIRE_PAGE + 4 * WIRE_RECORD_MAX,
		.staging_bytes = WIRE_STAGING_BYTES,
		.map_bytes = 4 * WIRE_PAGE + 4 * WIRE_RECORD_MAX + WIRE_STAGING_BYTES,
		.start_mono_ns = clock_mono_ns(),
		.start_wall_ns = clock_wall_ns(),
		.target_pid = getpid(),
		.page_bytes = WIRE_PAGE,
		.writer = "libjhot of a test",
	};

	snprintf(h.token, sizeof(h.token), "%s", token);
	return h;
}

static inline void fake_agent_open(struct fake_agent *a, const char *token)
{
	char name[64];

	memset(a, 0, sizeof(*a));
	a->header = fake_header(token);
	snprintf(name, sizeof(name), "%s%s", WIRE_MEMFD_PREFIX, token);
	a->fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (a->fd < 0 || ftruncate(a->fd, (off_t)a->header.map_bytes) ||
		fcntl(a->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		perror("memfd");
	a->base = mmap(NULL, a->header.map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, a->fd, 0);
	memcpy(a->base, &a->header, sizeof(a->header));
	a->control = (struct wire_control *)(a->base + a->header.control_off);
	a->status = (struct wire_status *)(a->base + a->header.status_off);
	ring_writer_init(&a->ring, (struct wire_cursors *)(a->base + a->header.cursors_off),
		a->base + a->header.ring_off, a->header.ring_bytes);
	atomic_store(&a->status->agent_state, WIRE_AGENT_READY);
}

static inline void fake_agent_close(struct fake_agent *a)
{
	munmap(a->base, a->header.map_bytes);
	close(a->fd);
}

/* --- records ----------------------------------------------------------------------------------------- */

static inline void fake_method(struct fake_agent *a, uint32_t id, const char *class_name,
	const char *name, const char *signature)
{
	size_t c = strlen(class_name), n = strlen(name), s = strlen(signature);
	struct wire_method *rec =
		ring_reserve(&a->ring, WIRE_REC_METHOD, (uint32_t)(sizeof(*rec) + c + n + s));

	rec->id = id;
	rec->class_bytes = (uint16_t)c;
	rec->name_bytes = (uint16_t)n;
	rec->signature_bytes = (uint16_t)s;
	rec->flags = 0;
	rec->line_bytes = 0;
	memcpy(rec->text, class_name, c);
	memcpy(rec->text + c, name, n);
	memcpy(rec->text + c + n, signature, s);
}

static inline void fake_thread(
	struct fake_agent *a, uint32_t id, int tid, uint32_t kind, const char *name)
{
	struct wire_thread *rec =
		ring_reserve(&a->ring, WIRE_REC_THREAD, (uint32_t)(sizeof(*rec) + strlen(name)));

	rec->id = id;
	rec->os_tid = tid;
	rec->kind = kind;
	rec->name_bytes = (uint32_t)strlen(name);
	memcpy(rec->name, name, strlen(name));
}

static inline void fake_module(struct fake_agent *a, uint32_t id, const char *path)
{
	struct wire_module *rec =
		ring_reserve(&a->ring, WIRE_REC_MODULE, (uint32_t)(sizeof(*rec) + strlen(path)));

	rec->id = id;
	rec->path_bytes = (uint32_t)strlen(path);
	memcpy(rec->path, path, strlen(path));
}

static inline void fake_trace(struct fake_agent *a, uint32_t id, uint32_t thread, unsigned flags,
	const uint64_t *frames, uint32_t count)
{
	struct wire_trace *rec = ring_reserve(
		&a->ring, WIRE_REC_TRACE, (uint32_t)(sizeof(*rec) + count * sizeof(*frames)));

	rec->id = id;
	rec->thread = thread;
	rec->flags = (uint16_t)flags;
	rec->frame_count = count;
	if (count)
		memcpy(rec->frames, frames, count * sizeof(*frames));
}

static inline void fake_delta(struct fake_agent *a, unsigned event, uint64_t time_ns,
	uint32_t trace, uint32_t count, uint64_t weight)
{
	struct wire_deltas *rec =
		ring_reserve(&a->ring, WIRE_REC_DELTAS, sizeof(*rec) + sizeof(struct wire_delta));

	rec->time_ns = time_ns;
	rec->event = (uint16_t)event;
	rec->delta_count = 1;
	rec->deltas[0] = (struct wire_delta){trace, count, weight};
}

static inline void fake_tick(struct fake_agent *a, uint64_t time_ns)
{
	struct wire_tick *rec = ring_reserve(&a->ring, WIRE_REC_TICK, sizeof(*rec));

	rec->time_ns = time_ns;
	rec->since_ns = time_ns - 100 * NS_PER_MS;
	ring_commit(&a->ring);
	atomic_fetch_add(&a->status->publish_seq, 1);
}

static inline void fake_note(
	struct fake_agent *a, uint32_t kind, uint64_t time_ns, uint64_t arg_ns, const char *text)
{
	struct wire_note *rec =
		ring_reserve(&a->ring, WIRE_REC_NOTE, (uint32_t)(sizeof(*rec) + strlen(text)));

	rec->kind = kind;
	rec->time_ns = time_ns;
	rec->arg_ns = arg_ns;
	rec->text_bytes = (uint32_t)strlen(text);
	memcpy(rec->text, text, strlen(text));
}

#endif
