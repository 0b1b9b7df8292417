/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One session inside the JVM: all its memory, and the steps of its life.
 *
 *   OnAttach: sampler_new -> publisher thread: setup, loop, teardown -> sampler_free
 *
 * Everything a handler touches is private memory of the target (not the shared map), mapped at the
 * start and unmapped when no handler is inside. At most one session is current; it is found
 * through sig_current.
 */
#ifndef JHOT_SAMPLER_SAMPLER_H
#define JHOT_SAMPLER_SAMPLER_H

#include "sampler/cost.h"
#include "sampler/counters.h"
#include "sampler/engine.h"
#include "sampler/threads.h"
#include "sampler/walker_agct.h"
#include "walk/memo.h"
#include "walk/names.h"
#include "walk/trace_table.h"
#include "walk/trail.h"
#include "walk/walk.h"
#include "wire/layout.h"
#include "wire/ring.h"

#define SAMPLER_TABLE_BYTES (3u << 20)
#define SAMPLER_NAMES_BYTES (1u << 20)
#define SAMPLER_DEPTH       WIRE_DEPTH_MAX /* user frames; of deeper stacks the root is missing */
#define SAMPLER_KERNEL      160u /* kernel frames: sysctl kernel.perf_event_max_stack is 127 */
#define SAMPLER_SCRATCH     16u  /* walks at one time, preempted ones included */

#define SAMPLER_HURRY       50u /* per cent of the table: the publisher is woken */

/* Where a handler walks to: never the interrupted thread's own stack. */
struct scratch {
	_Alignas(4096) _Atomic uint32_t taken;
	uint32_t reserved;
	struct memo_walk memo;
	struct walk_frame frames[SAMPLER_DEPTH + WALK_CUT_ROOM];
	/* kernel frames end where the user frames begin, so that one walk serves several samples */
	uint64_t packed[SAMPLER_KERNEL + SAMPLER_DEPTH];
};

/* The map that is shared with the front end. */
struct shared {
	unsigned char *base;
	uint64_t bytes;
	int32_t fd;
	struct wire_header *header;
	struct wire_control *control;
	struct wire_status *status;
	const unsigned char *staging; /* WIRE_STAGING_BYTES */
};

enum sampler_stop {
	SAMPLER_RUNS = 0,
	SAMPLER_DETACH, /* asked to, by a command or by a front end that takes over */
	SAMPLER_LEASE,  /* the front end is silent */
	SAMPLER_EXIT,   /* the JVM ends */
};

struct jvm_job;     /* jvm.c */
struct lock;        /* engine_lock.c */
struct publish;     /* publish.c */
struct modules;     /* modules.c */
struct unwind_recv; /* unwind_recv.c */

struct sampler {
	struct shared shared;
	struct ring_writer ring;

	/* what handlers use */
	struct walk_mem mem;
	const struct walk_layout *thread_layout;     /* of JavaThreads only; NULL: not known */
	struct agct *agct;                           /* the fallback; in use where layout is NULL */
	const struct walk_layout *layout;            /* NULL: the walker is not available */
	_Atomic(const struct unwind_table *) unwind; /* NULL: frame pointers only */
	struct trace_table *table;
	struct names *names;
	struct memo *memo;      /* of code that was walked */
	struct trail *trails;   /* of threads, by number of the slot */
	_Atomic uint32_t epoch; /* what it knows of Methods is read anew when this moves */
	struct event events[WIRE_EVENTS];
	struct counters counters;
	struct cost cost;
	_Atomic uint32_t handlers;
	_Atomic uint64_t depth; /* WIRE_DEPTH() */
	_Atomic uint32_t hurry; /* the table fills up faster than the publisher's pace */
	uint64_t unknown_frames[WALK_BREAK_COUNT]; /* each reason as a packed frame */
	struct threads *threads;
	struct scratch *scratch;

	/* the session */
	_Atomic uint32_t stop;    /* enum sampler_stop */
	_Atomic uint64_t beat_ns; /* when the front end was last heard */
	_Atomic uint32_t heard;   /* it has been heard at all */
	_Atomic uint32_t parked;
	_Atomic int32_t publisher_tid, names_tid;
	uint64_t start_ns;

	/* the thread that asks the JVM for names: see jvm.h */
	_Atomic uint32_t names_request; /* futex: moves with every request */
	_Atomic uint32_t names_leave;
	_Atomic(struct jvm_job *) names_job; /* of jvm_do */
	_Atomic uint64_t names_cpu_ns;
	unsigned long names_thread; /* pthread_t */
	bool names_thread_runs;

	struct lock *lock; /* NULL: the event lock was never on */

	/* the thread of the wall clock: see wall.h */
	struct wall {
		_Atomic int32_t tid;
		_Atomic uint32_t leave; /* futex */
		_Atomic uint64_t signals;
		unsigned long thread; /* pthread_t */
		uint64_t cycle_ns;    /* how long the last round over all threads took */
		uint32_t cursor;
		uint64_t rows, rows_ns; /* the unwind rows that there are, since when */
	} wall;

	/* which threads are sampled: see select.h */
	struct select {
		char pattern[256];
		uint32_t round; /* moves with every pattern */
		bool wants_names;
	} select;

	/* what sampling may cost: see budget.h */
	struct budget {
		uint32_t per_mille; /* of a core; 0: any */
		uint32_t over;      /* looks in a row that found it exceeded */
		uint64_t looked_ns, cost_ns, event_ns[WIRE_EVENTS];
	} budget;

	/* the publisher's own */
	struct publish *publish;
	struct modules *modules;
	struct unwind_recv *unwind_recv;
	struct walk_layout *layout_memory;
	int32_t signo;   /* what the engines send; < 0: there is no free signal */
	int32_t task_fd; /* /proc/self/task */
	uint32_t scans, beat, command_seq;
	uint64_t java_stamp; /* of the JVM's list of threads */
	uint64_t links;      /* of /proc/self/task at the last scan: its threads + 2 */
	uint64_t whole_scan_ns, names_ns, parked_since_ns;
	bool leave_asked;
	bool force_agct;
	uint64_t private_bytes, memory_bytes;
};

/*
 * sampler_new: all memory and the memfd. 0 or an AGENT_* result. vm: "name version" for the header.
 */
int sampler_new(const char *token, const char *vm, struct sampler **out);
/* Bytes that the session holds, without those of events. Publisher only. */
uint64_t sampler_memory(const struct sampler *s);
/* Unmaps everything and closes the memfd. No handler may be inside, no thread may use it. */
void sampler_free(struct sampler *s);

#endif
