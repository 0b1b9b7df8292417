/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries into measured methods, recorded with their times by hardware breakpoints on the entries of their compiled code.
 *
 * The breakpoints are perf_events of the threads that the wall clock polls for the latency of calls; the program's code is not
 * changed. They follow the method: as soon as it is compiled, or compiled again, they are set on the entry of its new code. Calls from compiled code and from the interpreter all pass the verified entry of an nmethod, unless the method is
 * inlined or not compiled. A hit costs the thread a microsecond, or some tens of them in a nested virtual machine. The cost is
 * measured. When entries are more frequent than the budget permits, they are only counted, in bursts: the breakpoints of all threads
 * are enabled for a few ms at random times. Single entries are not known then.
 *
 * For the wall clock's thread, whose descriptor table they are in. Handlers read thread_call.ring.
 */
#ifndef JHOT_SAMPLER_ENGINE_ENTRIES_H
#define JHOT_SAMPLER_ENGINE_ENTRIES_H

#include "sampler/sampler.h"

#define ENTRIES_CODES      2u    /* of four debug registers; alloc on JDK 8 uses the others */
#define ENTRIES_PER_SECOND 4000u /* at most, however cheap */

/* An nmethod whose entry has a breakpoint. Handlers read it. */
struct entries_code {
	_Atomic uint64_t start, end; /* of its instructions; 0, 0: none */
	uint64_t entry;
	uint64_t method, nmethod; /* Method*, nmethod* */
};

/* The breakpoints of one thread. */
struct entries_thread {
	int32_t fds[ENTRIES_CODES]; /* -1: none */
	void *ring;                 /* of all of them; NULL: none */
	bool counted;               /* all entries since the last report are in the ring */
	bool closing;
	bool bursts;      /* takes part in the burst in progress */
	uint32_t dropped; /* entries in a ring that was closed before they were reported */
	uint64_t before[ENTRIES_CODES]; /* counts at its begin */
};

struct entries {
	struct entries_code codes[ENTRIES_CODES];
	uint32_t threads;              /* with breakpoints */
	bool full;                     /* no more threads can have them */
	uint64_t second_ns, in_second; /* entries in the current second */
	uint64_t allowed;              /* the most per second; 0: not measured yet */
	uint64_t hit_ns;               /* CPU time of one */
	struct {
		bool on, counting; /* counting: a burst is in progress */
		bool spoiled;      /* breakpoints were moved during the burst */
		uint64_t next_ns;  /* when that changes */
		uint64_t begins_ns, began_ns,
			length_ns; /* before the first thread's begin, after the last one's */
		uint64_t since_ns; /* the end of the previous burst */
		uint64_t ended;    /* entries of threads that have ended during the burst */
	} bursts;
	_Atomic uint32_t off; /* true: too frequent, or breakpoints are not available */
};

/* Entries since the thread's previous report. */
struct entries_report {
	uint32_t count, here; /* here: from callers whose frames end where the present call's do */
	uint64_t first_ns, last_ns; /* of all, and of those; 0: none */
	bool counted;               /* false: the count is not known */
};

/* Selects the entry of the method's present code. True if that has changed: the threads' breakpoints must be set again. */
bool entries_follow(struct sampler *s, struct entries *e, uint64_t method);
/* No code is selected any more. All threads are disarmed. */
void entries_forget(struct entries *e);
/* Sets the breakpoints on the thread if they are missing. */
void entries_arm(
	struct sampler *s, struct entries *e, struct entries_thread *t, struct thread_slot *slot);
/* Removes them. False: one of the thread's handlers may be using the ring; try again later. */
bool entries_disarm(struct entries *e, struct entries_thread *t, struct thread_slot *slot);
/*
 * Reports the entries before `head`, as the thread's handler has seen it; 0: the handler saw no ring. end: address of the end of
 * the callers' frames of the call that it found, 0: none.
 */
void entries_report(struct entries *e, struct entries_thread *t, uint64_t head, uint64_t end,
	uint64_t now, struct entries_report *out);

/*
 * Counting in bursts, when entries are too frequent. Begins and ends bursts that are due, and returns the time until the next change,
 * UINT64_MAX: none. At the end of a burst, *out has the estimated number of entries since the end of the previous one, and how far it
 * may be off because hits slow the threads down; else 0.
 */
struct entries_estimate {
	uint64_t entries, doubt, since_ns;
};
uint64_t entries_bursts(struct entries *e, struct entries_thread *threads, uint32_t count,
	struct entries_estimate *out);

/* True when pc is in code whose entries are recorded. Any thread, handlers included. */
static inline bool entries_recorded(const struct entries *e, uint64_t pc)
{
	for (uint32_t i = 0; i < ENTRIES_CODES; i++)
		if (pc >= atomic_load(&e->codes[i].start) && pc < atomic_load(&e->codes[i].end))
			return true;
	return false;
}

#endif
