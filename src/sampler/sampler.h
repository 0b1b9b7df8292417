/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profiling session: its complete state inside the JVM.
 *
 *   OnAttach: sampler_new -> publisher thread: setup, loop, teardown -> sampler_free
 *
 * Memory: everything a handler touches is private memory of the target, never the shared map. It is mapped when the
 * session starts and unmapped when the last reference is released (session/memory.h, epochs.h). Handlers find at most
 * one session at a time.
 *
 * Threads: fields belong to the publisher unless they are atomic or their group names another thread. Times are in ns.
 */
#ifndef JHOT_SAMPLER_SAMPLER_H
#define JHOT_SAMPLER_SAMPLER_H

#include "sampler/cost.h"
#include "sampler/counters.h"
#include "sampler/descriptor.h"
#include "sampler/engine/engine.h"
#include "sampler/jvm/walker_agct.h"
#include "sampler/session/threads.h"
#include "sampler/signal/raw.h"
#include "sampler/spawn.h"
#include "sampler/virtuals.h"
#include "walk/frames/frame_cache.h"
#include "walk/frames/tail.h"
#include "walk/hotspot/names.h"
#include "walk/hotspot/threads.h"
#include "walk/load/self.h"
#include "walk/trace_table.h"
#include "walk/walk.h"
#include "wire/layout.h"
#include "wire/ring.h"
#include "wire/status.h"

#define SAMPLER_TABLE_BYTES (9u << 19) /* three parts, two of them in use at any time */
#define SAMPLER_NAMES_BYTES (1u << 20)
/* User frames per stack; deeper stacks lose their root frames. */
#define SAMPLER_DEPTH WIRE_DEPTH_MAX
/* Kernel frames; the default of sysctl kernel.perf_event_max_stack is 127. */
#define SAMPLER_KERNEL 160u
/* Words after the frames for the thread's request: contexts.h. */
#define SAMPLER_CONTEXT 4u
/* Concurrent walks, including preempted ones: see entry.h. */
#define SAMPLER_SCRATCH 80u
/* Fill level of the trace table, in per cent, that wakes the publisher. */
#define SAMPLER_HURRY 50u

/* Output buffer of one walk. Handlers never walk into the interrupted thread's own stack. */
struct scratch {
	_Alignas(4096) _Atomic uint32_t owner; /* 0: free; see sig_scratch_acquire */
	/* True once used in this session, i.e. once its pages are mapped. */
	atomic_bool used;
	struct frame_cache_walk cache;
	SELF_LINES_OF(SELF_LINES) lines;
	struct walk_frame frames[SAMPLER_DEPTH + WALK_CUT_SPARE];
	/* Kernel frames end where the user frames begin, so that one walk serves several samples. */
	uint64_t packed[SAMPLER_KERNEL + SAMPLER_DEPTH + SAMPLER_CONTEXT];
};

/* Header of a memory block that sampler_part_new has mapped. */
struct sampler_part {
	_Alignas(64) struct sampler_part *next;
	uint64_t bytes;
};

/* The map shared with the front end. base is NULL while it is not mapped. */
struct shared {
	unsigned char *base;
	uint64_t bytes;
	struct raw_file file;
	struct wire_header *header;
	struct wire_control *control;
	struct wire_status *status;
	const unsigned char *staging; /* WIRE_STAGING_BYTES */
};

enum sampler_stop {
	SAMPLER_RUNS = WIRE_LEFT_NOT,
	/* Requested by a command, or by a front end that takes over. */
	SAMPLER_DETACH = WIRE_LEFT_ASKED,
	SAMPLER_LEASE = WIRE_LEFT_SILENT,
	SAMPLER_EXIT = WIRE_LEFT_EXIT,
	SAMPLER_FORBIDDEN = WIRE_LEFT_FORBIDDEN,
};

struct contexts;     /* contexts.h */
struct cycles;       /* engine/lock/cycle.c */
struct latency;      /* engine/latency.h */
struct live;         /* engine/alloc/live.c */
struct lock;         /* engine/lock/own.h */
struct publish;      /* publish/state.h */
struct modules;      /* publish/modules.h */
struct unwind_recv;  /* session/unwind_recv.h */
struct wall_waiting; /* engine/wall_waiting.c */

struct sampler {
	struct shared shared;
	struct ring_writer ring;

	/* used by handlers */
	/* For any thread, without a cache: a load from memory that may be unmapped is a system call. */
	struct walk_mem mem;
	struct self_mem self;  /* the context of mem */
	struct self_kept kept; /* memory that stays mapped: session/kept.c */
	/* The publisher's reader. It must be refreshed before each scan. */
	struct self_mem poll_mem;
	SELF_LINES_OF(SELF_LINES) poll_lines;
	/* Readable fields of JavaThreads only; NULL: not available. */
	const struct walk_layout *thread_layout;
	struct agct *agct;                /* fallback walker, used while layout is NULL */
	const struct walk_layout *layout; /* NULL: the walker is not available */
	/* NULL: walks follow frame pointers only. */
	_Atomic(const struct unwind_table *) unwind;
	/* Generation of `unwind`, incremented with every change because addresses are reused; 0: no table yet. */
	_Atomic uint32_t rows;
	struct trace_table *table;
	struct names *names;
	struct frame_cache *cache;        /* frames of code already walked */
	struct self_constants *constants; /* debug information of compiled code */
	struct tail *tails;               /* per thread, indexed by slot */
	_Atomic uint32_t epoch;           /* incremented to invalidate cached names of Methods */
	struct event events[WIRE_EVENTS];
	struct counters counters;
	struct cost cost;
	_Atomic uint32_t handlers;
	_Atomic uint32_t walks; /* see cost.h */
	_Atomic uint64_t depth; /* WIRE_DEPTH() */
	/* True when the table fills faster than the publisher drains it. */
	_Atomic uint32_t hurry;
	/* Head of the list of threads that request service from the publisher: slot index + 1; 0: empty. */
	_Atomic uint32_t arms_asked;
	uint64_t unknown_frames[WALK_BREAK_COUNT]; /* each reason as a packed frame */
	struct threads *threads;
	struct scratch *scratch;
	struct virtuals *virtuals; /* names of virtual threads */
	struct java_threads java;  /* how to read java.lang.Thread */
	/* Offset from the thread pointer to the address of the running JavaThread; 0: unknown. */
	int64_t current_place;
	_Atomic uint32_t java_known; /* true once `java` is filled in */

	/* life cycle */
	_Atomic uint32_t stop;    /* enum sampler_stop */
	_Atomic uint64_t beat_ns; /* time of the front end's last heartbeat */
	_Atomic uint32_t heard;   /* true once the front end has sent a heartbeat */
	_Atomic int32_t publisher_tid;
	_Atomic uint64_t publisher_cpu_ns;
	uint64_t start_ns;
	int32_t pid; /* of this process; the agent's threads do not survive a fork */

	/* ownership of the session's memory: see epochs.h */
	_Atomic uint32_t references;
	uint32_t session_epoch;
	bool drained; /* true when no thread is inside the session */

	/* start-up parameters of the publisher and its reply: see publisher_start */
	struct {
		char token[WIRE_TOKEN_MAX], vm[128];
		_Atomic uint32_t opened; /* futex: 1 + enum agent_result */
		/* futex: true when the session is admitted or `stop` is set. */
		_Atomic uint32_t go;
	} open;

	struct files {               /* descriptor tables: see session/files.h */
		_Atomic int32_t tid; /* of "jhot files"; 0: not running */
		_Atomic uint32_t leave;
		/* Futexes: id of the last request, id of the last one served. */
		_Atomic uint32_t asked, done;
		_Atomic uint32_t busy; /* true while a thread is making a request */
		void (*function)(void *ctx);
		void *ctx;
		bool lost; /* true after a request has timed out */
		bool own;  /* true when the publisher has its own descriptor table */
	} files;

	/* the thread that makes VM calls: see jvm.h */
	struct vm_calls {
		_Atomic int32_t tid;        /* 0: not running */
		_Atomic uint32_t requested; /* futex: id of the last request */
		/* Futex: the last request whose event settings have reached the JVM. */
		_Atomic uint32_t configured;
		_Atomic uint32_t done;  /* futex: the last request completed */
		_Atomic uint32_t leave; /* JVM_LEAVE* */
		/* Futex: true once the thread only has its reference to the session left to release. */
		_Atomic uint32_t left;
		/* True when sets of virtual threads were not found by direct loads: jvm/sets.c. */
		_Atomic uint32_t touch;
		/* True when the wait counters are requested: jvm/waits.c. */
		_Atomic uint32_t counts;
		/* True when HotSpot is to time waits: jvm/waits.c. */
		_Atomic uint32_t times;
		_Atomic uint64_t cpu_ns;
		/* Number of VM calls, i.e. of attachments as a Java thread. */
		_Atomic uint64_t made;
		/* -errno of the last event that was refused; `refused` has the sentence. */
		_Atomic int32_t error;
		char refused[160];
		bool stubs_named;
	} vm_calls;

	/* alloc --live: see alloc.h */
	struct live *live;
	/* NULL: report all sampled objects, not only live ones. */
	_Atomic(struct live *) live_on;

	struct lock *lock; /* NULL: the lock event was never on */
	/* engine/lock/cycle.c; NULL: the JVM does not support it. */
	struct cycles *cycles;

	/* the wall-clock thread: see engine/wall.c */
	struct wall {
		_Atomic int32_t tid;
		_Atomic uint32_t leave, left; /* futexes, see spawn_end */
		_Atomic uint64_t signals;
		_Atomic uint32_t active; /* threads of the last round that did not rest */
		uint64_t cycle_ns;       /* duration of the last round over all threads */
		uint32_t cursor;
		uint32_t rows;                /* generation of the unwind rows in use */
		uint64_t rows_ns;             /* time that generation was first seen */
		uint64_t back_ns;             /* CPU time of returning from a handler */
		struct wall_waiting *waiting; /* NULL: there are no virtual threads */
		struct descriptor_ports ports;
	} wall;

	_Atomic(struct latency *) latency; /* NULL: was never requested */
	/* NULL: no thread has published a request; nothing is read. */
	_Atomic(struct contexts *) contexts;

	/* thread selection: see scan.h */
	struct select {
		char pattern[256];
		uint32_t round; /* incremented with every new pattern */
		bool wants_names;
	} select;

	/* renamed threads: see publisher.h */
	struct renames {
		uint32_t slot;         /* the slot checked last */
		bool late;             /* true when a changed name could not be published yet */
		uint32_t vm_call_done; /* the last VM call whose names have been published */
		uint64_t asked_ns, opened_ns;
	} renames;

	/* the timer on the process's CPU time: see engine/process_clock.c */
	struct process_clock {
		_Atomic uint32_t on;
		/* True when its signal has hit a thread without an engine since the last check. */
		_Atomic uint32_t found;
		uint64_t interval; /* publisher: in force */
		/*
		 * CPU time counted twice, by an engine and by this clock. It is deducted from the weight of the next
		 * samples of this clock.
		 */
		_Atomic uint64_t overlap_ns;
		uint64_t busy_until_ns;
		int timer;
		bool wanted; /* publisher: it is on, or paused */
	} process_clock;

	struct { /* see session/headroom.h */
		uint64_t polled_ns;
		uint64_t maps_limit; /* vm.max_map_count; 0: not read yet */
	} headroom;

	struct { /* context-switch rates: see switches_poll */
		uint64_t polled_ns, all;
		uint32_t cursor;
	} switches;

	/* starting threads: see scan.h */
	struct { /* see arms_new */
		_Atomic uint32_t started, share;
		uint64_t counted_ns;
	} shares;
	struct starts {
		uint64_t started;       /* the JVM's count of started threads at the last poll */
		uint64_t vm_calls;      /* VM calls included in that count */
		int64_t found;          /* new threads found since then */
		uint64_t soon_until_ns; /* polling is more frequent until then */
		uint64_t cost_ns;       /* smoothed CPU time of one poll */
		/* JVM events for starting threads are off until then; `silent` is true while they are off. */
		uint64_t silent_until_ns;
		bool silent;
	} starts;

	/* the CPU budget: see publisher.h */
	struct budget {
		uint32_t per_mille; /* of a core; 0: unlimited */
		uint32_t over;      /* consecutive checks that found it exceeded */
		bool defaults_only; /* true: applies only to events with a default interval */
		bool exceeded;      /* true once the note on that has been sent */
		uint64_t polled_ns, cost_ns, event_ns[WIRE_EVENTS];
	} budget;

	/* private to the publisher */
	struct publish *publish;
	struct modules *modules;
	struct unwind_recv *unwind_recv;
	struct walk_layout *layout_memory;
	int32_t signo; /* the engines' signal; < 0: none is free */
	/* Time since which no signal has been available for the events that need one; 0: one is. */
	uint64_t signal_lost_ns;
	/* The signal for native threads and for the process clock: see sampler_signal; <= 0: use signo. */
	int32_t signo_reserved;
	struct raw_file task; /* /proc/self/task */
	/* /proc/self/mem in the program's table: session/kept.c. */
	struct raw_file memory;
	/* True when `task` belongs to an outer PID namespace, where threads have other ids. */
	bool task_other;
	/* Sockets for borrowed perf_events, see engine/borrowed.h. */
	struct sampler_borrowed {
		int32_t agent_side; /* 0: none are borrowed */
		/* In the program's table, until the front end has copied it. */
		struct raw_file program_side;
		char name[32]; /* name of the abstract listening socket */
		uint32_t name_bytes;
		bool shortage_reported; /* true once the lack of descriptors has been reported */
	} borrowed;
	uint32_t scans, beat, command_seq;
	/* Threads without a free slot: in this scan, and the maximum of all scans. */
	uint32_t unlisted, unlisted_most;
	struct pace pace; /* of polling the list of Java threads */
	uint64_t links;   /* link count of /proc/self/task at the last scan: threads + 2 */
	/* True when the scan has found new threads, which the JVM lists a moment after they start. */
	bool scan_again;
	uint64_t whole_scan_ns, names_ns, paused_since_ns, code_due_ns;
	/* True once a thread that collects signals was found in this session. */
	_Atomic uint32_t collect_seen;
	/*
	 * collect_charges: the cpu event was on at the last check (engine/collect.c). collect_exposed: that check found a
	 * refused thread that a signal to the process could reach. collect_reported: the note has been sent.
	 */
	bool collect_charges, collect_exposed, collect_reported;
	bool paused; /* true while the front end is parked or has missed its heartbeat */
	bool leave_asked;
	bool debug_info_set; /* true when this session has set the flag: see jvm.h */
	bool force_agct;
	/* Total time that the publisher has waited for handlers that did not return. */
	_Atomic uint64_t stuck_ns;
	bool unreadable_reported; /* true once the note on unreadable memory has been sent */
	uint64_t private_bytes, memory_bytes;
	_Atomic(struct sampler_part *) parts; /* see sampler_part_new */
};

/* True when the front end opens the perf_events for cpu. */
static inline bool sampler_borrows(const struct sampler *s)
{
	return s->borrowed.agent_side > 0;
}

/* True for a thread that is neither a JavaThread nor proved to be one of HotSpot's own. */
static inline bool sampler_native(const struct thread_slot *slot)
{
	return !atomic_load(&slot->java_thread) && slot->kind == WIRE_THREAD_NATIVE;
}

/*
 * The signal for this thread. A thread unknown to HotSpot may begin to collect signals at any time, but libc excludes
 * the reserved signal from its sets. HotSpot's threads get signo, which is ignored by default: if it is pending when a
 * thread calls execve, it does not harm the new program.
 */
static inline int32_t sampler_signal(const struct sampler *s, const struct thread_slot *slot)
{
	bool reserved = sampler_native(slot) || atomic_load(&slot->collect.unread);

	return s->signo_reserved > 0 && reserved ? s->signo_reserved : s->signo;
}

/* The thread's id in the directory `task`; 0: not found there yet. */
static inline int32_t sampler_task(const struct sampler *s, const struct thread_slot *slot)
{
	return atomic_load(s->task_other ? &slot->task : &slot->tid);
}

/* CPU time of the agent's own threads, which are not sampled. */
static inline uint64_t sampler_threads_ns(const struct sampler *s)
{
	uint64_t ns = atomic_load(&s->vm_calls.cpu_ns) + atomic_load(&s->publisher_cpu_ns);

	for (uint32_t i = 0; i < WIRE_EVENTS; i++)
		ns += atomic_load(&s->events[i].thread_ns);
	return ns;
}

/* CPU time of everything the agent does in the target: its own threads and handlers on the program's threads. */
static inline uint64_t sampler_cost_ns(const struct sampler *s)
{
	uint64_t ns = sampler_threads_ns(s);

	for (uint32_t i = 0; i < WIRE_EVENTS; i++)
		ns += atomic_load(&s->events[i].handlers_ns);
	return ns;
}

#endif
