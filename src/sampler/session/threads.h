/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The target's threads: which have an engine set on them, which JavaThread they are, what they are
 * called.
 *
 *   index: tid -> slot, open addressing with a window that is always searched whole, so that a handler
 *          may read while entries come and go        slots: dense, one per thread
 *
 * threads_find, _add and _name may be called anywhere, handlers included (signal/threads.c). Threads are added and
 * marked by the publisher, by JVMTI callbacks on the starting or ending thread itself, and by a handler on a thread that
 * nobody has found yet; a slot is only given
 * away again by the publisher, when nothing in the trace table can name it any more.
 */
#ifndef JHOT_SAMPLER_SESSION_THREADS_H
#define JHOT_SAMPLER_SESSION_THREADS_H

#include "walk/hotspot/java_thread.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THREADS_MAX      8192u
#define THREADS_INDEX    16384u
#define THREADS_WINDOW   32u
#define THREADS_ARMS     6u /* events that are set on each thread: cpu, those of perf by name, and */
#define THREADS_ARM_CPU  0u
#define THREADS_ARM_TRAP 5u /* alloc on JDK 8 */
#define THREADS_NAME     72u
#define THREADS_NEWCOMER UINT32_MAX

struct engine;

/*
 * Whose a thread is, as far as that is proved. Its name proves nothing: a program may use HotSpot's names, and a new thread
 * inherits the name of its creator.
 */
enum threads_owner {
	THREADS_UNPROVED, /* not a JavaThread; whether it is HotSpot's is not known */
	THREADS_NATIVE,   /* neither a JavaThread nor proved to be HotSpot's */
	THREADS_HOTSPOT,  /* HotSpot's own, not a JavaThread */
	THREADS_JAVA_UNPROVED,
	THREADS_JAVA, /* of the C++ class JavaThread: runs Java code; some of HotSpot's own are, too */
	THREADS_JAVA_OWN, /* of a subclass: HotSpot's own */
};

/*
 * One event's engine on one thread. Written by the publisher before the engine is enabled; afterwards fields marked
 * "handler" belong to handlers on that thread.
 */
struct thread_arm {
	_Atomic(const struct engine *) engine; /* NULL: not armed */
	void *ring;                            /* perf: the mapped buffer */
	int32_t fd, fd_other;                  /* perf; the second breakpoint of two */
	union {
		int32_t timer; /* ctimer */
		uint32_t lost; /* perf: records that it told to have lost */
	};
	uint32_t event;
	_Atomic uint64_t weight; /* of one sample */
	uint32_t share;          /* of that, the period: 1 / share */
	/*
	 * perf: the period in force until the publisher has set the interval; 0 once it has. Handlers take one sample of
	 * this period, with weight first_weight, set `begun` and ask the publisher (sig_arms_ask). They drop further
	 * samples; what the event has counted meanwhile is in `late`, and the next sample has that much more weight.
	 */
	_Atomic uint64_t first, late;
	_Atomic uint32_t begun;
	uint64_t first_weight;
	uint64_t
		second; /* publisher: a second such period, the first being for time before; 0: none */
	uint64_t counted; /* publisher: the event's count at the start of the period */
	/* CPU time of the thread that no sample has counted yet; handlers own it once the engine is set. */
	struct thread_unseen {
		bool looked_for; /* perf: true when all of the thread's CPU time is to be counted */
		int32_t clock; /* ctimer: the timer's clock, as the thread itself names it; else 0 */
		uint64_t cpu_ns; /* the clock at the last sample; perf: 0 if not known */
		int64_t ns;      /* not counted yet; ctimer: times share */
		uint64_t weight; /* ctimer: the multiple in which ns was counted last */
	} unseen;
};

/* Who asks a thread for samples of itself: see engine/ask.h. */
enum thread_ask {
	THREADS_ASK_WALL,   /* the wall clock */
	THREADS_ASK_HOLDER, /* who looks at locks: others wait for one that this thread holds */
	THREADS_ASKS,
};

/* What the wall clock's thread and the handlers on this thread tell each other: see engine/wall.c. */
struct thread_wall {
	_Atomic uint32_t state; /* what the thread was doing when it was asked: enum wall_state */
	_Atomic uint64_t hash;  /* of the last sample's trace, if it was blocked; 0: take another */
	_Atomic uint64_t cpu_ns;  /* the thread's CPU time when that had been taken */
	_Atomic uint64_t sleeps;  /* how often it had gone to sleep by then */
	_Atomic uint32_t rows;    /* the unwind rows that it was walked by */
	_Atomic uint32_t flaw;    /* the counter of what was wrong with it; 0: nothing was */
	_Atomic uint64_t owed;    /* ns of samples that named a trace which was forgotten */
	atomic_bool enters_again; /* it is in Object.wait, but has been notified */

	/* The descriptor that it waits for, and how to know that it still does: see engine/wall_io.c. */
	struct thread_wall_io {
		_Atomic uint32_t name; /* the id of its text; 0: none, or just being written */
		int32_t fd;
		uint64_t poll; /* where the struct pollfd is that has fd; 0: the call has it */
		uint64_t sp, pc;
		uint64_t device, inode;
	} io;

	/* the wall clock's thread's own */
	uint64_t last_ns;  /* up to when the thread's time is in samples; 0: it is new */
	uint64_t asked_ns; /* since when a handler is asked */
	uint64_t seen_cpu_ns;
	struct thread_wall_share {
		/* what it had run, and waited for a core, when last found to do either; 0: it has not been yet */
		uint64_t cpu_ns, delay_ns;
		/* time on a core, and asleep, that no sample has told yet; below 0: they have told too much */
		int64_t ran_ns, slept_ns;
	} share;
	bool answered; /* the next look finds what the handler itself has cost */
};

/* What a thread is asked while it holds what others wait for: see engine/lock/holder.c. */
struct thread_held {
	_Atomic uint64_t hash;   /* of the trace of its last sample; 0: it has none yet */
	_Atomic uint32_t id;     /* and its thread there: a virtual one's, if that was mounted */
	_Atomic uint64_t cpu_ns; /* its CPU time when a handler had taken that */
};

struct thread_slot {
	_Atomic int32_t tid;  /* 0: the slot is free */
	_Atomic int32_t task; /* its directory, by the last scan that saw it: see sampler_task */
	/* the agent's own number of the thread, as on the wire: another one when it is renamed */
	_Atomic uint32_t id;
	_Atomic uint64_t java_thread;
	_Atomic uint32_t arms_asked; /* it is in the list of threads that ask for the publisher */
	uint32_t arms_next;          /* the next one there: its number + 1; 0: none */
	_Atomic uint32_t gone;       /* the thread has ended: disarm it, then give the slot away */
	_Atomic uint32_t inside;     /* handlers on this thread: arms that they may read stay */
	_Atomic uint32_t pins;       /* who will name the thread later: the slot stays */
	_Atomic uint32_t
		hotspot_own; /* true: proved to be HotSpot's own, while it was not a JavaThread with an object */
	_Atomic uint32_t failed;     /* no engine could be set on it: counted once */
	_Atomic uint32_t unselected; /* it is not to be sampled: see scan.h */
	uint64_t found_ns;           /* when it was listed */
	/* Whether it collects signals: see engine/collect.h. */
	struct {
		_Atomic uint32_t refused; /* true: by the last reading it must get no signal */
		_Atomic uint32_t
			now; /* true: so it was by all readings for long enough, or it was in sigwait */
		_Atomic uint64_t
			since_ns; /* when it was refused first, since it was permitted last; 0: it is permitted */
		_Atomic uint32_t
			waited; /* true: it has been in sigwait, and is refused from then on */
		_Atomic uint32_t
			unread; /* true: it was armed before it was read, see collect_young */
		_Atomic uint32_t
			answered; /* true: a signal of ours was handled on it, since it was last read */
		_Atomic uint64_t valid_ns; /* its CPU time at the last reading; 0: there was none */
		_Atomic uint64_t
			charged_ns; /* its CPU time up to which "[blocks_signals]" has it */
	} collect;
	/*
	 * For how many threads that have just started its CPU time stands, see arms_new; 0: another stands for it;
	 * THREADS_NEWCOMER: the process's own clock has found it, and stands for it until it has lived through a scan.
	 */
	_Atomic uint32_t share;
	struct thread_arm arms[THREADS_ARMS];
	int32_t lent; /* publisher: descriptor of a lent event for cpu (engine/lent.h); 0: none */
	/* ns that the sample is to stand for which its next handler takes; 0: nobody asks */
	_Atomic uint64_t asked[THREADS_ASKS];
	struct thread_wall wall;
	struct thread_held held;
	/*
	 * Proof that the JavaThread is alive and this thread's own: at `current`, in the thread's own descriptor, HotSpot
	 * keeps its address until it is freed. Valid while the thread pointer is the same. Its handlers' own.
	 */
	struct thread_proof {
		_Atomic uint64_t java_thread; /* 0: not known */
		uint64_t pointer, current;
		uint64_t
			compiler; /* the JavaThread that was proved to be a compiler thread; 0: none */
		uint32_t unknown; /* samples of the thread while it was not known to be Java's */
	} proof;
	uint64_t trap_bytes; /* allocated towards the next sample of it; its handler's own */
	/* what engine/alloc/weight.c knows of the thread's last sampled object; the JVM's callback on this thread only */
	struct alloc_past {
		uint64_t interval;   /* that the JVM had been told; 0: no sample yet */
		uint64_t start, top; /* of the buffer then */
		bool outside,
			large; /* it was outside of the buffer; and large beside the interval */
		/* HotSpot's counts then, see struct alloc_object */
		uint64_t epoch, all, inside, waste, next;
		uint32_t refills, slow;
		uint64_t overflow; /* the bytes after it in which points are too dense (JDK 11) */
		/*
		 * JDK 11, old samples count less: bytes in buffers and outside of them, objects outside; what samples stand
		 * for, of small objects in buffers, of large ones, of those outside
		 */
		double inside_bytes, outside_bytes, outside_count;
		double small_weight, large_weight, outside_weight;
	} alloc;
	int64_t java_tid;

	/* name: written under an odd name_seq; the publisher copies it and looks again */
	_Atomic uint32_t name_seq;
	uint8_t kind; /* enum wire_thread_kind */
	uint8_t name_bytes;
	bool named_by_jvm;
	char name[THREADS_NAME];

	/* the publisher's own */
	uint64_t sleeps,
		sleeps_ns; /* how often it had gone to sleep, and when that was read: switches.c */
	bool switches_often;               /* it gets no event of perf_events for cpu */
	uint32_t published_seq;            /* name_seq + 1 of the last THREAD record, 0: none yet */
	bool published_by_jvm;             /* with the JVM's name for it */
	struct java_name_seen name_seen;   /* publisher.h */
	uint32_t scan;                     /* the last scan that saw it, 0: too new for any */
	uint32_t select_seq, select_round; /* what its selection was decided by */
	uint64_t gone_flips;               /* flips of the table when it was found gone */
};

struct threads {
	_Atomic uint64_t index[THREADS_INDEX]; /* tid << 32 | slot */
	_Atomic uint64_t taken[THREADS_MAX / 64];
	_Atomic uint32_t next_id;
	_Atomic uint32_t high;                 /* slots at or above were never used */
	_Atomic uint16_t by_id[THREADS_INDEX]; /* a hint: the slot of the id with these low bits */
	struct thread_slot slots[THREADS_MAX];
};

/* threads_find: the slot of a tid, NULL if it is not listed. Signal-safe. */
static inline struct thread_slot *threads_find(struct threads *threads, int32_t tid)
{
	for (uint32_t i = 0; i < THREADS_WINDOW; i++) {
		uint32_t at = ((uint32_t)tid + i) & (THREADS_INDEX - 1);
		uint64_t entry = atomic_load_explicit(&threads->index[at], memory_order_acquire);

		if ((int32_t)(entry >> 32) == tid)
			return &threads->slots[(uint32_t)entry & (THREADS_MAX - 1)];
	}
	return NULL;
}

/* For loops: the slot behind this one (NULL: the first) that was ever used, or whose thread lives; NULL: there is none. */
static inline struct thread_slot *threads_after(struct threads *threads, struct thread_slot *slot)
{
	slot = slot ? slot + 1 : threads->slots;
	return slot < threads->slots + atomic_load(&threads->high) ? slot : NULL;
}

static inline struct thread_slot *threads_next(struct threads *threads, struct thread_slot *slot)
{
	do {
		slot = threads_after(threads, slot);
	} while (slot && (!atomic_load(&slot->tid) || atomic_load(&slot->gone)));
	return slot;
}

/* The slot of a thread that is not listed yet; NULL when the list is full or someone was faster. */
struct thread_slot *threads_add(struct threads *threads, int32_t tid);
/* Takes a thread out of the index: handlers do not find it any more. The slot stays. */
void threads_unlist(struct threads *threads, struct thread_slot *slot);
/* Gives a slot away. Publisher only. */
void threads_free(struct threads *threads, struct thread_slot *slot);

/*
 * A number of its own for what comes: samples until now keep the old one, which no slot has any more. Publisher only.
 */
void threads_renumber(struct threads *threads, struct thread_slot *slot);

/* The slot with this id, NULL if it is gone. Publisher only. */
struct thread_slot *threads_by_id(struct threads *threads, uint32_t id);

/*
 * Name a thread; cut where it does not fit. A busy slot keeps its old name.
 */
void threads_name(struct thread_slot *slot, const char *name, size_t bytes, int kind, bool by_jvm);
/* As the kernel calls it, for those that the JVM has not named. task_fd, task: see task.h. */
void threads_name_comm(
	struct thread_slot *slot, int task_fd, int32_t task, enum threads_owner owner);

/* The enum wire_thread_kind of a thread: by its owner, and by its name among the kinds that the owner allows. */
int threads_kind(const char *name, size_t bytes, enum threads_owner owner);

static inline uint32_t threads_number(const struct threads *threads, const struct thread_slot *slot)
{
	return (uint32_t)(slot - threads->slots);
}

#endif
