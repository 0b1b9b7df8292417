/* SPDX-License-Identifier: Apache-2.0 */
/* User and system CPU time of the target's living threads between two readings of /proc. */
#include "attach/proc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "session/state.h"

#include <stdlib.h>
#include <string.h>

struct thread_past {
	uint32_t serial; /* identifies the thread that had this id then */
	/* Plus 1; 0: no reading yet. Distinguishes the thread from a later one with the same tid. */
	uint64_t start_ticks;
	uint64_t utime, stime;
};

/* CPU time as a percentage of one core; 0 without a previous reading. */
static float threads_pct(uint64_t now, uint64_t then, uint64_t elapsed_ns)
{
	return elapsed_ns && now > then ? (float)gauges_pct(now - then, elapsed_ns) : 0;
}

/* --- living threads ------------------------------------------------------------------------------------- */

struct living {
	const struct profile *profile;
	pid_t pid;
	struct hash_index by_tid;
	uint32_t *threads; /* ids of the model, indexed by the values in by_tid */
	void (*fn)(struct living *l, uint32_t thread);
	struct session_readings *readings;
	uint64_t elapsed_ns;
	int found;
};

static void living_found(void *ctx, pid_t tid)
{
	struct living *l = ctx;
	uint32_t at = hash_index_find(&l->by_tid, hash_u64((uint64_t)tid), NULL, NULL);

	if (at != HASH_NONE)
		l->fn(l, l->threads[at]);
}

/* Calls fn for each living thread that the model knows, the latest if several had its tid. -1: /proc is not readable. */
static int living_each(struct living *l)
{
	const struct profile *p = l->profile;
	uint32_t count = profile_thread_count(p);

	l->threads = xcalloc(count, sizeof(*l->threads));
	for (uint32_t i = 0; i < count; i++) {
		const struct profile_thread *t = profile_get_thread(p, i);
		uint64_t hash = hash_u64((uint64_t)t->tid);
		uint32_t at = hash_index_find(&l->by_tid, hash, NULL, NULL);

		if (t->tid <= 0 ||
			(at != HASH_NONE &&
				profile_get_thread(p, l->threads[at])->serial > t->serial))
			continue;
		if (at == HASH_NONE) {
			at = i;
			hash_index_add(&l->by_tid, hash, at);
		}
		l->threads[at] = i;
	}
	int rc = proc_threads(l->pid, living_found, l);
	hash_index_done(&l->by_tid);
	free(l->threads);
	return rc;
}

static void living_pin(struct living *l, uint32_t thread)
{
	profile_pin(l->profile, thread);
}

void session_pin(void *ctx, enum profile_kind kind, bool leaving)
{
	const struct session *s = ctx;
	struct living l = {.profile = s->profile, .pid = s->jvm.pid, .fn = living_pin};

	if (kind != PROFILE_THREADS || leaving)
		return;
	if (!living_each(&l))
		return;
	for (uint32_t i = 0; i < profile_thread_count(s->profile); i++)
		profile_pin(s->profile, i);
}

/* Reads a thread. One that has ended, or whose tid is that of a later thread, is left out. */
static void living_read(struct living *l, uint32_t thread)
{
	const struct profile_thread *t = profile_get_thread(l->profile, thread);
	struct session_thread_cpu *out = &l->readings->cpu[l->found];
	struct thread_past *past = &l->readings->past[thread];
	struct proc_cpu cpu;
	char comm[32];

	if (past->serial != t->serial)
		*past = (struct thread_past){.serial = t->serial};
	if (t->tid <= 0 || proc_thread_cpu(l->pid, t->tid, &cpu, comm))
		return;
	*out = (struct session_thread_cpu){.thread = thread, .state = cpu.state};
	if (past->start_ticks && past->start_ticks != cpu.start_ticks + 1)
		return;
	if (past->start_ticks) {
		out->user_pct = threads_pct(cpu.utime, past->utime, l->elapsed_ns);
		out->system_pct = threads_pct(cpu.stime, past->stime, l->elapsed_ns);
	}
	*past = (struct thread_past){t->serial, cpu.start_ticks + 1, cpu.utime, cpu.stime};
	l->found++;
}

int session_readings_update(struct session_readings *r, const struct profile *p, pid_t pid,
	struct session_thread_cpu **out)
{
	uint64_t now_ns = clock_mono_ns();
	uint32_t count = profile_thread_count(p);
	struct living l = {.profile = p, .pid = pid, .fn = living_read, .readings = r};

	if (count > r->cap) {
		r->cpu = xreallocarray(r->cpu, count, sizeof(*r->cpu));
		r->past = xreallocarray(r->past, count, sizeof(*r->past));
		memset(r->past + r->cap, 0, (count - r->cap) * sizeof(*r->past));
		r->cap = count;
	}
	if (r->read_ns)
		l.elapsed_ns = now_ns - r->read_ns;
	living_each(&l);
	r->read_ns = now_ns;
	*out = r->cpu;
	return l.found;
}

void session_readings_done(struct session_readings *r)
{
	free(r->cpu);
	free(r->past);
}

int session_threads(struct session *s, struct session_thread_cpu **out)
{
	return session_readings_update(&s->threads, s->profile, s->jvm.pid, out);
}
