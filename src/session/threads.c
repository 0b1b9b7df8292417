/* SPDX-License-Identifier: Apache-2.0 */
/* What each thread of the target costs, from /proc: between two looks, user and system apart. */
#include "attach/proc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "session/state.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct thread_past {
	uint64_t
		start_ticks; /* tells a thread from a later one of the same tid; 0 = not seen yet */
	uint64_t utime, stime;
};

static void threads_reserve(struct session *s, uint32_t count)
{
	if (count <= s->thread_past_cap)
		return;
	s->thread_cpu = xreallocarray(s->thread_cpu, count, sizeof(*s->thread_cpu));
	s->thread_past = xreallocarray(s->thread_past, count, sizeof(*s->thread_past));
	memset(s->thread_past + s->thread_past_cap, 0,
		(count - s->thread_past_cap) * sizeof(*s->thread_past));
	s->thread_past_cap = count;
}

static float threads_pct(uint64_t now, uint64_t then, double elapsed_s)
{
	if (elapsed_s <= 0 || now < then)
		return 0;
	return (float)((double)(now - then) * 100 / (double)sysconf(_SC_CLK_TCK) / elapsed_s);
}

/* false: the thread has ended. */
static bool threads_read(
	struct session *s, uint32_t thread, double elapsed_s, struct session_thread_cpu *out)
{
	const struct profile_thread *t = profile_get_thread(s->profile, thread);
	struct thread_past *past = &s->thread_past[thread];
	struct proc_cpu cpu;
	char comm[32];

	if (t->tid <= 0 || proc_thread_cpu(s->jvm.pid, t->tid, &cpu, comm))
		return false;
	*out = (struct session_thread_cpu){.thread = thread, .state = cpu.state};
	if (past->start_ticks && past->start_ticks != cpu.start_ticks + 1)
		return false;
	if (past->start_ticks) {
		out->user_pct = threads_pct(cpu.utime, past->utime, elapsed_s);
		out->system_pct = threads_pct(cpu.stime, past->stime, elapsed_s);
	}
	*past = (struct thread_past){cpu.start_ticks + 1, cpu.utime, cpu.stime};
	return true;
}

int session_threads(struct session *s, struct session_thread_cpu **out)
{
	uint32_t count = profile_thread_count(s->profile);
	uint64_t now_ns = clock_mono_ns();
	double elapsed_s = (double)(now_ns - s->thread_past_ns) / (double)NS_PER_S;
	int found = 0;

	if (s->replay)
		return 0;
	threads_reserve(s, count);
	for (uint32_t i = 0; i < count; i++)
		found += threads_read(
			s, i, s->thread_past_ns ? elapsed_s : 0, &s->thread_cpu[found]);
	s->thread_past_ns = now_ns;
	*out = s->thread_cpu;
	return found;
}
