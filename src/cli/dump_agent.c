/* SPDX-License-Identifier: Apache-2.0 */
/* A session of the wall clock, as short as can be, and its profile as a dump. */
#include "cli/dump_agent.h"

#include "base/buf.h"
#include "base/clock.h"
#include "session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL_NS (20 * NS_PER_MS)
#define LOOK_NS     (1 * NS_PER_S)

/* Of one of the profile's threads: what was seen most. */
struct seen {
	uint32_t stack;
	enum thread_state state;
	uint64_t count;
};

struct seen_all {
	struct seen *threads;
	uint32_t count;
};

/* --- sampling ---------------------------------------------------------------------------------------- */

static int sample(const struct hotspot *jvm, struct profile *profile, struct err *err)
{
	const struct session_options options = {.agent = NULL};
	struct session *s = session_open(jvm, &options, profile, err);
	uint64_t begin_ns = clock_mono_ns();
	int rc;

	if (!s)
		return -1;
	rc = session_event_start(s, EVENT_WALL, INTERVAL_NS, err);
	while (!rc && clock_mono_ns() - begin_ns < LOOK_NS) {
		session_wait(s, 100);
		rc = session_drain(s, err) < 0 ? -1 : 0;
	}
	if (session_finish(s, rc ? NULL : err))
		rc = -1;
	session_close(s);
	return rc;
}

static void see(void *ctx, const struct profile_part *part)
{
	struct seen_all *all = ctx;

	if (part->thread < all->count && part->count > all->threads[part->thread].count)
		all->threads[part->thread] = (struct seen){part->stack, part->state, part->count};
}

/* --- as a dump --------------------------------------------------------------------------------------- */

static enum dump_type type_of(enum frame_type type)
{
	static const enum dump_type types[FRAME_TYPES] = {[FRAME_COMPILED] = DUMP_COMPILED,
		[FRAME_C1] = DUMP_COMPILED,
		[FRAME_INLINED] = DUMP_INLINED,
		[FRAME_COARSE] = DUMP_COMPILED,
		[FRAME_INTERPRETED] = DUMP_INTERPRETED,
		[FRAME_JAVA] = DUMP_COMPILED,
		[FRAME_NATIVE] = DUMP_NATIVE,
		[FRAME_VM] = DUMP_VM,
		[FRAME_KERNEL] = DUMP_KERNEL,
		[FRAME_CLASS] = DUMP_VM,
		[FRAME_CLASS_OUTSIDE] = DUMP_VM,
		[FRAME_BREAK] = DUMP_BREAK};

	return types[type];
}

static char *frame_name(const struct profile_method *m)
{
	struct buf text = {0};

	if (m->class_name[0])
		buf_printf(&text, "%s%s", m->class_name, m->name[0] ? "." : "");
	buf_adds(&text, m->name[0] || m->class_name[0] ? m->name : m->full);
	return buf_steal(&text);
}

static void add_frames(const struct profile *p, uint32_t stack, struct dump_thread *to)
{
	struct profile_stack s = profile_get_stack(p, stack);

	to->frames = xcalloc(s.depth + 1, sizeof(*to->frames));
	for (; stack != PROFILE_ROOT_STACK && to->count <= s.depth; stack = s.parent) {
		const struct profile_frame *f;
		const struct profile_method *m;

		s = profile_get_stack(p, stack);
		f = profile_get_frame(p, s.frame);
		m = profile_get_method(p, f->method);
		if (f->type == FRAME_WAITS)
			continue; /* no frame of the thread's */
		to->frames[to->count++] = (struct dump_frame){.name = frame_name(m),
			.module = xstrdup(m->module),
			.line = f->line,
			.bci = f->bci == 0xffff ? -1 : f->bci,
			.type = type_of((enum frame_type)f->type)};
	}
}

static void add_thread(
	const struct profile *p, uint32_t thread, const struct seen *seen, struct dump *out)
{
	const struct profile_thread *t = profile_get_thread(p, thread);
	struct dump_thread *to = &out->threads[out->count++];

	/* A virtual thread stands where its carrier does. */
	*to = (struct dump_thread){.tid = t->kind == THREAD_VIRTUAL ? t->carrier : t->tid,
		.nstid = t->kind == THREAD_VIRTUAL ? t->carrier : t->tid,
		.state = thread_states[seen->state].letter,
		.java_id = t->java_tid,
		.java_status = thread_states[seen->state].name};
	snprintf(to->name, sizeof(to->name), "%s", t->name);
	add_frames(p, seen->stack, to);
}

static void convert(const struct profile *p, struct dump *out)
{
	const struct profile_query all = {
		.event = EVENT_WALL, .to = UINT32_MAX, .thread = PROFILE_ANY_THREAD};
	struct seen_all seen = {.count = profile_thread_count(p)};

	seen.threads = xcalloc(seen.count + 1, sizeof(*seen.threads));
	profile_each_part(p, &all, see, &seen);
	out->threads = xcalloc(seen.count + 1, sizeof(*out->threads));
	for (uint32_t i = 0; i < seen.count; i++)
		if (seen.threads[i].count && profile_get_thread(p, i)->kind != THREAD_AGENT)
			add_thread(p, i, &seen.threads[i], out);
	free(seen.threads);
}

int dump_agent_take(const struct hotspot *jvm, struct dump *out, struct err *err)
{
	struct profile *profile = profile_new();
	int rc = sample(jvm, profile, err);

	memset(out, 0, sizeof(*out));
	if (!rc) {
		out->by_agent = true;
		convert(profile, out);
	}
	profile_free(profile);
	return rc;
}
