/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One session inside the JVM: all that it knows.
 *
 *   OnAttach: sampler_new -> publisher thread: setup, loop, teardown -> sampler_free
 *
 * Everything a handler touches is private memory of the target (not the shared map), mapped at the start and unmapped
 * when nobody holds it any more: session/memory.h, rooms.h. At most one session is found by handlers.
 */
#ifndef JHOT_SAMPLER_SAMPLER_H
#define JHOT_SAMPLER_SAMPLER_H

#include "sampler/cost.h"
#include "sampler/counters.h"
#include "sampler/descriptor.h"
#include "sampler/engine/engine.h"
#include "sampler/engine/pace.h"
#include "sampler/jvm/walker_agct.h"
#include "sampler/session/threads.h"
#include "sampler/virtuals.h"
#include "walk/frames/frame_cache.h"
#include "walk/frames/tail.h"
#include "walk/hotspot/names.h"
#include "walk/hotspot/threads.h"
#include "walk/load/here.h"
#include "walk/trace_table.h"
#include "walk/walk.h"
#include "wire/layout.h"
#include "wire/ring.h"
#include "wire/status.h"

#define SAMPLER_TABLE_BYTES (9u << 19) /* three halves, of which two are in use */
#define SAMPLER_NAMES_BYTES (1u << 20)
#define SAMPLER_DEPTH       WIRE_DEPTH_MAX /* user frames; of deeper stacks the root is missing */
#define SAMPLER_KERNEL      160u /* kernel frames: sysctl kernel.perf_event_max_stack is 127 */
#define SAMPLER_SCRATCH     80u  /* walks at one time, preempted ones included: see entry.h */
#define SAMPLER_HURRY       50u  /* per cent of the table: the publisher is woken */

/* Where a handler walks to: never the interrupted thread's own stack. */
struct scratch {
	_Alignas(4096) _Atomic uint32_t owner; /* 0: free; see sig_scratch_acquire */
	atomic_bool used;                      /* in this session: its pages are mapped */
	struct frame_cache_walk cache;
	struct here_lines lines;
	struct walk_frame frames[SAMPLER_DEPTH + WALK_CUT_SPARE];
	/* kernel frames end where the user frames begin, so that one walk serves several samples */
	uint64_t packed[SAMPLER_KERNEL + SAMPLER_DEPTH];
};

/* Before a part of the session's memory that sampler_part_new has mapped. */
struct sampler_part {
	_Alignas(64) struct sampler_part *next;
	uint64_t bytes;
};

/* A descriptor and the file that it stands for: session/files.h. fd < 0: none. */
struct sampler_file {
	int32_t fd;
	uint64_t device, inode;
};

/* The map that is shared with the front end. */
struct shared {
	unsigned char *base;
	uint64_t bytes;
	struct sampler_file file;
	struct wire_header *header;
	struct wire_control *control;
	struct wire_status *status;
	const unsigned char *staging; /* WIRE_STAGING_BYTES */
};

enum sampler_stop {
	SAMPLER_RUNS = WIRE_LEFT_NOT,
	SAMPLER_DETACH = WIRE_LEFT_ASKED, /* by a command or by a front end that takes over */
	SAMPLER_LEASE = WIRE_LEFT_SILENT,
	SAMPLER_EXIT = WIRE_LEFT_EXIT,
	SAMPLER_FORBIDDEN = WIRE_LEFT_FORBIDDEN,
};

struct circles;      /* engine/lock/circle.c */
struct live;         /* live.c */
struct lock;         /* engine/lock/lock.c */
struct publish;      /* publish.c */
struct modules;      /* modules.c */
struct unwind_recv;  /* unwind_recv.c */
struct wall_waiting; /* wall_waiting.c */

struct sampler {
	struct shared shared;
	struct ring_writer ring;

	/* what handlers use */
	struct walk_mem
		mem;      /* of any thread: every load of what may be unmapped is a system call */
	struct here here; /* its ctx */
	struct here_kept kept; /* what stays mapped: session/kept.c */
	struct here look;      /* the publisher's, which refreshes it before each look */
	struct here_lines look_lines;
	const struct walk_layout *thread_layout;     /* of JavaThreads only; NULL: not known */
	struct agct *agct;                           /* the fallback; in use where layout is NULL */
	const struct walk_layout *layout;            /* NULL: the walker is not available */
	_Atomic(const struct unwind_table *) unwind; /* NULL: frame pointers only */
	_Atomic uint32_t rows; /* moves with each of these: addresses come again; 0: none yet */
	struct trace_table *table;
	struct names *names;
	struct frame_cache *cache;        /* of code that was walked */
	struct here_constants *constants; /* debug information of compiled code */
	struct tail *tails;               /* of threads, by number of the slot */
	_Atomic uint32_t epoch;           /* incremented to make cached names of Methods stale */
	struct event events[WIRE_EVENTS];
	struct counters counters;
	struct cost cost;
	_Atomic uint32_t handlers;
	_Atomic uint64_t depth; /* WIRE_DEPTH() */
	_Atomic uint32_t hurry; /* the table fills up faster than the publisher's pace */
	_Atomic uint32_t
		arms_asked; /* list of threads that ask for the publisher: the first one's number + 1; 0: empty */
	uint64_t unknown_frames[WALK_BREAK_COUNT]; /* each reason as a packed frame */
	struct threads *threads;
	struct scratch *scratch;
	struct virtuals *virtuals; /* names of virtual threads */
	struct java_threads java;  /* how java.lang.Thread is read */
	int64_t current_place; /* of the running JavaThread's address, from the thread pointer; 0: not known */
	_Atomic uint32_t java_known; /* it is */

	/* the session */
	_Atomic uint32_t stop;    /* enum sampler_stop */
	_Atomic uint64_t beat_ns; /* when the front end was last heard */
	_Atomic uint32_t heard;   /* it has been heard at all */
	_Atomic int32_t publisher_tid;
	_Atomic uint64_t publisher_cpu_ns;
	uint64_t start_ns;

	/* whose memory it is: see rooms.h */
	_Atomic uint32_t references;
	uint32_t room;
	bool drained; /* nobody is in the room */

	/* what the publisher is started with, and how it answers: see publisher_start */
	struct {
		char token[WIRE_TOKEN_MAX], vm[128];
		_Atomic uint32_t opened; /* futex: 1 + enum agent_result */
		_Atomic uint32_t go;     /* futex: the session is admitted, or `stop` is set */
	} open;

	struct files {               /* descriptor tables: see session/files.h */
		_Atomic int32_t tid; /* "jhot files"; 0: there is no such thread */
		_Atomic uint32_t leave;
		_Atomic uint32_t asked,
			done; /* futexes: number of the last request, of the last one served */
		_Atomic uint32_t busy; /* somebody has made a request */
		void (*function)(void *ctx);
		void *ctx;
		bool lost; /* a request was not served in time */
		bool own;  /* the publisher has a table of its own */
	} files;

	/* the thread that visits the JVM: see jvm.h */
	struct visits {
		_Atomic int32_t tid;    /* 0: there is no such thread */
		_Atomic uint32_t asked; /* futex: moves with every request */
		_Atomic uint32_t
			told; /* futex: the last request whose events the JVM has been told */
		_Atomic uint32_t done;   /* futex: the last request that has been served */
		_Atomic uint32_t leave;  /* JVM_LEAVE* */
		_Atomic uint32_t left;   /* futex: it only lets go of the session now */
		_Atomic uint32_t touch;  /* sets of virtual threads were not found: jvm/sets.c */
		_Atomic uint32_t counts; /* of waits are asked for: jvm/wait_counts.c */
		_Atomic uint32_t times;  /* and their time: jvm/wait_times.c */
		_Atomic uint64_t cpu_ns;
		_Atomic uint64_t made; /* how often it has become a Java thread */
		_Atomic int32_t error; /* of what the JVM was to tell of, with a sentence */
		char refused[160];
		bool stubs_named;
	} visits;

	/* alloc --live: see alloc.h */
	struct live *live;
	_Atomic(struct live *) live_on; /* NULL: all sampled objects count */
	struct {
		_Atomic uint64_t all,
			outside; /* bytes that samples stand for; of these outside of buffers */
		bool said;       /* the publisher's */
	} alloc_told;

	struct lock *lock;       /* NULL: the event lock was never on */
	struct circles *circles; /* engine/lock/circle.c; NULL: the JVM does not tell */

	/* the thread of the wall clock: see engine/wall.c */
	struct wall {
		_Atomic int32_t tid;
		_Atomic uint32_t leave, left; /* futexes, see spawn_end */
		_Atomic uint64_t signals;
		uint64_t cycle_ns; /* how long the last round over all threads took */
		uint32_t cursor;
		uint32_t rows;                /* the unwind rows that there are */
		uint64_t rows_ns;             /* since when */
		uint64_t back_ns;             /* CPU time that the way back from a handler takes */
		struct wall_waiting *waiting; /* NULL: there are no virtual threads */
		struct descriptor_ports ports;
	} wall;

	/* which threads are sampled: see scan.h */
	struct select {
		char pattern[256];
		uint32_t round; /* moves with every pattern */
		bool wants_names;
	} select;

	/* names that change: see publisher.h */
	struct renames {
		uint32_t slot;        /* the slot that was looked at last */
		bool late;            /* a name has changed that could not be published yet */
		uint32_t visits_done; /* of which names have been published */
		uint64_t asked_ns, opened_ns;
	} renames;

	/* the timer on the process's CPU time: see engine/process_clock.c */
	struct process_clock {
		_Atomic uint32_t on;
		_Atomic uint32_t found; /* one without an engine, since the last look */
		uint64_t interval;      /* publisher: in force */
		/* CPU time that engines account for although it was the clock's: its next samples weigh less by that */
		_Atomic uint64_t overlap_ns;
		uint64_t busy_until_ns;
		int timer;
	} process_clock;

	struct { /* see session/headroom.h */
		uint64_t looked_ns;
		uint64_t maps_limit; /* vm.max_map_count; 0: not read yet */
	} headroom;

	struct { /* of how often threads switch: see engine/switches.c */
		uint64_t looked_ns, all;
		uint32_t cursor;
	} switches;

	/* threads that start: see scan.h */
	struct { /* of threads that start, see arms_new */
		_Atomic uint32_t started, share;
		uint64_t counted_ns;
	} shares;
	struct starts {
		uint64_t started;       /* by the JVM, when it was looked at last, */
		uint64_t visits;        /* our own visits among them */
		int64_t found;          /* new ones since then */
		uint64_t soon_until_ns; /* looks are more often until then */
		uint64_t cost_ns;       /* CPU time of a look */
		/* the JVM, which could tell of them, is not asked to: until then, and was so when looked at last */
		uint64_t silent_until_ns;
		bool silent;
	} starts;

	/* what sampling may cost: see publisher.h */
	struct budget {
		uint32_t per_mille; /* of a core; 0: any */
		uint32_t over;      /* looks in a row that found it exceeded */
		bool chosen;        /* it is for intervals that were left to the agent */
		uint64_t looked_ns, cost_ns, event_ns[WIRE_EVENTS];
	} budget;

	/* the publisher's own */
	struct publish *publish;
	struct modules *modules;
	struct unwind_recv *unwind_recv;
	struct walk_layout *layout_memory;
	int32_t signo; /* what the engines send; < 0: there is no free signal */
	uint64_t
		signal_lost_ns; /* since when there is none for events that need one; 0: there is */
	int32_t signo_reserved; /* what native threads and the process are sent: see sampler_signal; <= 0: signo */
	struct sampler_file task;   /* /proc/self/task */
	struct sampler_file memory; /* /proc/self/mem in the program's table: session/kept.c */
	bool task_other; /* which is of an outer PID namespace: threads have other numbers there */
	/* Sockets by which perf_events are lent, see engine/lent.h. */
	struct sampler_lent {
		int32_t ours; /* 0: they are not lent */
		struct sampler_file
			theirs; /* in the program's table, until the front end has taken it */
		char name[32];  /* of the listening socket, abstract */
		uint32_t name_bytes;
		bool short_said; /* that there are too few descriptors for them */
	} lent;
	uint32_t scans, beat, command_seq;
	uint32_t unlisted,
		unlisted_most; /* threads without space in the list: by this scan, by any */
	struct pace pace;      /* of looks at the list of Java threads */
	uint64_t links;        /* of /proc/self/task at the last scan: its threads + 2 */
	bool scan_again; /* it has found new ones, which the JVM lists a moment after they have begun */
	uint64_t whole_scan_ns, names_ns, paused_since_ns, code_due_ns;
	_Atomic uint32_t
		collect_seen; /* true: a thread of this session was found to collect signals */
	bool collect_charges,
		collect_said; /* see engine/collect.c: cpu was on at its last look; the note is out */
	bool paused;          /* the front end is parked, or not heard just now */
	bool leave_asked;
	bool debug_info_set; /* by this session: see jvm.h */
	bool force_agct;
	_Atomic uint64_t stuck_ns; /* how long it has waited for handlers that did not come back */
	bool unreadable_said;      /* that memory cannot be read */
	uint64_t private_bytes, memory_bytes;
	_Atomic(struct sampler_part *) parts; /* see sampler_part_new */
};

/* Does the front end open perf_events for cpu? */
static inline bool sampler_is_lent(const struct sampler *s)
{
	return s->lent.ours > 0;
}

/* True for a thread that is neither Java's nor proved to be one that HotSpot has started for itself. */
static inline bool sampler_native(const struct thread_slot *slot)
{
	return !atomic_load(&slot->java_thread) && slot->kind == WIRE_THREAD_NATIVE;
}

/*
 * The signal for this thread. One that HotSpot does not know may begin to collect signals at any moment, but libc
 * keeps the reserved one out of its sets. Threads of HotSpot get signo, which is ignored by default: one that is pending
 * while a thread calls execve does no harm to the new program.
 */
static inline int32_t sampler_signal(const struct sampler *s, const struct thread_slot *slot)
{
	bool reserved = sampler_native(slot) || atomic_load(&slot->collect.unread);

	return s->signo_reserved > 0 && reserved ? s->signo_reserved : s->signo;
}

/* What the thread's directory is called in task_fd; 0: not found there yet. */
static inline int32_t sampler_task(const struct sampler *s, const struct thread_slot *slot)
{
	return atomic_load(s->task_other ? &slot->task : &slot->tid);
}

/* CPU time of the agent's own threads, which nobody samples. */
static inline uint64_t sampler_threads_ns(const struct sampler *s)
{
	uint64_t ns = atomic_load(&s->visits.cpu_ns) + atomic_load(&s->publisher_cpu_ns);

	for (uint32_t i = 0; i < WIRE_EVENTS; i++)
		ns += atomic_load(&s->events[i].thread_ns);
	return ns;
}

/* CPU time of all that the agent does in the target: of these, and in the program's threads. */
static inline uint64_t sampler_cost_ns(const struct sampler *s)
{
	uint64_t ns = sampler_threads_ns(s);

	for (uint32_t i = 0; i < WIRE_EVENTS; i++)
		ns += atomic_load(&s->events[i].handlers_ns);
	return ns;
}

#endif
