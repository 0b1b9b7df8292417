/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The target's threads: their engines, their JavaThreads, their names.
 *
 *   index: tid -> slot, open addressing with a window that is always searched completely, so that handlers may read
 *          while entries are inserted and removed
 *   slots: dense, one per thread
 *
 * Ownership: part of the session's memory. threads_find, threads_add and threads_name are signal-safe
 * (signal/threads.c). Threads are added and flagged by the publisher, by JVMTI callbacks on the starting or ending
 * thread itself, and by a handler on a thread that is not listed yet. Only the publisher frees a slot, once nothing in
 * the trace table can refer to it.
 */
#ifndef JHOT_SAMPLER_SESSION_THREADS_H
#define JHOT_SAMPLER_SESSION_THREADS_H

#include "walk/hotspot/java_thread.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THREADS_MAX    8192u
#define THREADS_INDEX  16384u
#define THREADS_WINDOW 32u
/* Events armed per thread: cpu, named perf events, and THREADS_ARM_TRAP. */
#define THREADS_ARMS     6u
#define THREADS_ARM_CPU  0u
#define THREADS_ARM_TRAP 5u /* alloc on JDK 8 */
#define THREADS_NAME     72u
#define THREADS_NEWCOMER UINT32_MAX

struct engine;

/*
 * The owner of a thread, as far as it is proved. Its name is no proof: a program may use HotSpot's names, and a new
 * thread inherits the name of its creator.
 */
enum threads_owner {
	THREADS_UNPROVED, /* not a JavaThread; whether it is HotSpot's is unknown */
	THREADS_NATIVE,   /* neither a JavaThread nor proved to be HotSpot's */
	THREADS_HOTSPOT,  /* HotSpot's own, not a JavaThread */
	THREADS_JAVA_UNPROVED,
	/* Exactly of the C++ class JavaThread: runs Java code. Some of HotSpot's own threads are, too. */
	THREADS_JAVA,
	THREADS_JAVA_OWN, /* of a subclass: HotSpot's own */
};

/*
 * One event's engine on one thread. Written by the publisher before the engine is enabled; afterwards handlers on that
 * thread update lost, begun, late and unseen.
 */
struct thread_arm {
	_Atomic(const struct engine *) engine; /* NULL: not armed */
	void *ring;                            /* perf: the mapped buffer */
	int32_t fd, fd_other;                  /* perf; fd_other: the second of two breakpoints */
	union {
		int32_t timer; /* ctimer */
		uint32_t lost; /* perf: records reported as lost */
	};
	uint32_t event;
	_Atomic uint64_t weight; /* of one sample */
	uint32_t share;          /* the period is weight / share */
	/*
	 * perf: `first` is the period in force until the publisher has set the interval, 0 afterwards. Handlers accept
	 * one sample of this period, with weight first_weight, set `begun` and ask the publisher (sig_arms_request).
	 * They drop further samples; the event's count until the interval is set is added to `late`, and to the
	 * weight of the next sample.
	 */
	_Atomic uint64_t first, late;
	_Atomic uint32_t begun;
	uint64_t first_weight;
	/* publisher: a second such period, when the first one covers time before arming; 0: none. */
	uint64_t second;
	uint64_t counted; /* publisher: the event's count at the start of the period */
	/* CPU time of the thread not yet in any sample; handlers own it once the engine is set. */
	struct thread_unseen {
		/* perf: true when all of the thread's CPU time must be accounted for. */
		bool tracked;
		/* ctimer: the timer's clock, as the thread itself names it; otherwise 0. */
		int32_t clock;
		/* ctimer: true until the first sample of a thread that is not owed one. */
		bool first;
		uint64_t cpu_ns; /* the clock at the last sample; perf: 0 if unknown */
		int64_t ns;      /* not accounted for yet; ctimer: times share */
		uint64_t weight; /* ctimer: the interval used for ns last */
	} unseen;
};

/* Requester of samples from a thread: see engine/ask.h. */
enum thread_ask {
	THREADS_ASK_WALL, /* the wall clock */
	/* The lock event: others wait for a lock that this thread owns. */
	THREADS_ASK_HOLDER,
	THREADS_ASKS,
};

/* Shared state of the wall-clock thread and the handlers on this thread: see engine/wall.c. */
struct thread_wall {
	_Atomic uint32_t state; /* when it was asked: enum wire_thread_state or WALL_IN_FUTEX */
	/* Hash of the last sample's trace if the thread was blocked; 0: a new sample is needed. */
	_Atomic uint64_t hash;
	/* Hashes of the last samples that found it on a core, and waiting for one; 0: none yet. Not of virtual threads. */
	_Atomic uint64_t awake[2];
	_Atomic uint64_t cpu_ns; /* the thread's CPU time at that sample */
	_Atomic uint64_t sleeps; /* its voluntary context switches at that sample */
	_Atomic uint32_t rows;   /* generation of the unwind rows of that walk */
	_Atomic uint32_t flaw;   /* counter of the walk's defect; 0: none */
	/* Weight, in ns, of samples that referred to an evicted trace. */
	_Atomic uint64_t owed;
	atomic_bool enters_again; /* true in Object.wait after the notification */
	bool in_wait; /* true in Object.wait at the last poll; wall clock's thread only */

	/* The descriptor it waits for, and the means to verify that it still does: see engine/wall_io.c. */
	struct thread_wall_io {
		_Atomic uint32_t name; /* id of its text; 0: none, or being written */
		int32_t fd;
		/* Address of the struct pollfd that has fd; 0: fd is an argument of the call. */
		uint64_t poll;
		uint64_t sp, pc;
		uint64_t device, inode;
	} io;

	/* private to the wall-clock thread */
	uint64_t last_ns;  /* time up to which samples exist; 0: new thread */
	uint64_t asked_ns; /* time of the pending request to a handler */
	uint64_t seen_cpu_ns;
	uint64_t rest_ns; /* for how long polls have found it where it was */
	struct thread_wall_share {
		/* CPU time and run-queue delay up to which samples account for both; 0: not yet */
		uint64_t cpu_ns, delay_ns;
		/* CPU time and sleep not yet in samples; negative: samples have over-reported them */
		int64_t ran_ns, slept_ns;
	} share;
	bool answered; /* true: its CPU time at the next poll includes that of the handler */
};

/* Discards the hashes of the thread's traces, so that none is counted again. Any thread; signal-safe. */
static inline void thread_wall_forget(struct thread_wall *wall)
{
	atomic_store(&wall->hash, 0);
	atomic_store(&wall->awake[0], 0);
	atomic_store(&wall->awake[1], 0);
}

/*
 * Latency of calls: the thread's last sample inside, or just outside, a measured method. Written by its handler, which then sets
 * fresh; read and cleared by the wall clock's thread. See engine/latency.h.
 */
struct thread_call {
	_Atomic uint32_t fresh;
	uint32_t id, flags; /* the sample's thread id; WIRE_POLL_* */
	uint64_t time_ns, cpu_ns, frame, outside, values, hash;
	uint64_t head;        /* 1 + position in ring; 0: no ring */
	uint64_t end;         /* address of the end of its callers' frames; 0: not inside */
	_Atomic(void *) ring; /* engine/entries.h; NULL: none */

	/* private to the wall clock's thread */
	struct {
		uint64_t time_ns, before_ns, cpu_ns, delay_ns;
		uint32_t collections;
	} asked;            /* as of the request for that sample */
	uint64_t polled_ns; /* its last poll */
	uint64_t next_ns;   /* when it is to be polled next as one of the threads inside */
	uint64_t inside_ns; /* when it was last found inside, or listed */
	/* The thread id of the last queued poll, if that was inside; 0: it was not. */
	uint32_t inside;
	uint64_t last_frame, last_outside; /* `frame` and `outside` of that poll */
	bool listed;
	bool visited;   /* true once it was decided whether to list it as a new thread */
	bool ended;     /* its CPU time could not be read any more */
	bool answered;  /* the last request, by a sample that has been collected */
	uint32_t place; /* while listed: its index in latency.listed */
};

/* The last sample of a thread that owns a lock others wait for: see engine/lock/holder.c. */
struct thread_held {
	_Atomic uint64_t hash; /* hash of its trace; 0: none yet */
	/* The id in that trace: of a virtual thread if one was mounted. */
	_Atomic uint32_t id;
	_Atomic uint64_t cpu_ns; /* the thread's CPU time when a handler had recorded it */
};

struct thread_slot {
	_Atomic int32_t tid; /* 0: the slot is free */
	/* Its directory in /proc/self/task, as of the last scan that saw it: see sampler_task. */
	_Atomic int32_t task;
	/* The agent's id of the thread, as on the wire; a renamed thread gets a new one. */
	_Atomic uint32_t id;
	_Atomic uint64_t java_thread;
	/* True while it is in the list of threads that request service from the publisher. */
	_Atomic uint32_t arms_asked;
	uint32_t arms_next; /* the next one in that list: slot index + 1; 0: none */
	/* True once the thread has ended: disarm it, then free the slot. */
	_Atomic uint32_t gone;
	/* Number of handlers on this thread; arms they may read are kept. */
	_Atomic uint32_t inside;
	/* Number of users that will refer to it later; the slot is kept. */
	_Atomic uint32_t pins;
	/* True: proved to be HotSpot's own while it was not a JavaThread with an object. */
	_Atomic uint32_t hotspot_own;
	_Atomic uint32_t failed; /* true when no engine could be set on it; counted once */
	/* True when it is excluded from sampling: see scan.h. */
	_Atomic uint32_t unselected;
	uint64_t found_ns; /* when it was listed */
	/* Signal collection (sigwait and the like): see engine/collect.h. */
	struct {
		/* True: at the last reading it must get no signal. */
		_Atomic uint32_t refused;
		/* True: at that reading a signal to the process could have reached it. */
		_Atomic uint32_t exposed;
		/* True: all readings have refused it for long enough, or it was in sigwait. */
		_Atomic uint32_t certain;
		/* Time of the first refusal after the last permission; 0: signals are permitted. */
		_Atomic uint64_t since_ns;
		/* True once it was seen in sigwait; it is refused from then on. */
		_Atomic uint32_t waited;
		/* True: armed before the first reading, see collect_young. */
		_Atomic uint32_t unread;
		/* True: it has handled one of our signals since the last reading. */
		_Atomic uint32_t answered;
		/* Its CPU time at the last reading; 0: none yet. */
		_Atomic uint64_t valid_ns;
		/* Its CPU time accounted for as "[blocks_signals]" so far. */
		_Atomic uint64_t charged_ns;
	} collect;
	/*
	 * The number of newly started threads whose CPU time this one's represents, see arms_new; 0: another thread
	 * represents it; THREADS_NEWCOMER: found by the process's own clock, which accounts for it until it has
	 * survived a scan.
	 */
	_Atomic uint32_t share;
	struct thread_arm arms[THREADS_ARMS];
	/* publisher: descriptor of a borrowed event for cpu (engine/borrowed.h); 0: none. */
	int32_t borrowed;
	/* Weight, in ns, of the sample requested from its next handler; 0: no request. */
	_Atomic uint64_t asked[THREADS_ASKS];
	struct thread_wall wall;
	struct thread_call call;
	struct thread_held held;
	/*
	 * Proof that the JavaThread is alive and belongs to this thread: until it is freed, HotSpot keeps its address
	 * at `current`, in the thread's own descriptor. Valid as long as the thread pointer is unchanged. Private to
	 * its handlers.
	 */
	struct thread_proof {
		_Atomic uint64_t java_thread; /* 0: unknown */
		uint64_t pointer, current;
		/* The JavaThread proved to be a compiler thread; 0: none. */
		uint64_t compiler;
		/* Samples taken while it was not known to be a Java thread. */
		uint32_t unknown;
	} proof;
	/* Bytes allocated towards the next sample; private to its handler. */
	uint64_t trap_bytes;
	/*
	 * State of engine/alloc/weight.c at the thread's last sampled object; only for the JVM's callback on this
	 * thread.
	 */
	struct alloc_past {
		uint64_t interval;   /* the JVM's interval; 0: no sample yet */
		uint64_t start, top; /* bounds of its buffer */
		bool outside;        /* it was outside of the buffer */
		/* HotSpot's counters, see struct alloc_object */
		uint64_t epoch, all, inside, waste, next;
		uint32_t refills, slow;
		/* Length in bytes of the range after it in which sample points are too dense (JDK 11). */
		uint64_t overflow;
		/*
		 * Decaying sums: bytes allocated in and outside of buffers, number of objects outside; weights of samples
		 * of objects in buffers (JDK 11: small ones and large ones), and of those outside
		 */
		double inside_bytes, outside_bytes, outside_count;
		double small_weight, large_weight, outside_weight;
	} alloc;
	int64_t java_tid;

	/* name: a sequence lock; name_seq is odd during a write, readers check it afterwards */
	_Atomic uint32_t name_seq;
	uint8_t kind; /* enum wire_thread_kind */
	uint8_t name_bytes;
	bool named_by_jvm;
	char name[THREADS_NAME];

	/* private to the publisher */
	/* Its voluntary context switches, and when they were read: switches_poll. */
	uint64_t sleeps, sleeps_ns;
	/* True: it gets no perf_event for cpu. */
	bool switches_often;
	uint32_t published_seq;            /* name_seq + 1 of the last THREAD record; 0: none yet */
	bool published_by_jvm;             /* true: under the JVM's name */
	struct java_name_seen name_seen;   /* publisher.h */
	uint32_t scan;                     /* the last scan that saw it; 0: none yet */
	uint32_t select_seq, select_round; /* inputs of the last selection */
	uint64_t gone_flips;               /* flips of the table when it was found to have ended */
};

struct threads {
	_Atomic uint64_t index[THREADS_INDEX];   /* tid << 32 | slot */
	_Atomic uint64_t used[THREADS_MAX / 64]; /* bit set of slots */
	_Atomic uint32_t next_id;
	_Atomic uint32_t high; /* slots at or above it were never used */
	/* A hint: the slot of the id with these low bits. */
	_Atomic uint16_t by_id[THREADS_INDEX];
	struct thread_slot slots[THREADS_MAX];
};

/* The slot of a tid; NULL if it is not listed. Signal-safe, O(1). */
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

/*
 * Iterates over slots, starting with NULL; NULL at the end. threads_after visits every slot ever used, threads_next
 * only those of live threads.
 */
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

/* Lists a thread and returns its slot; NULL when the list is full or another caller has listed it. Signal-safe. */
struct thread_slot *threads_add(struct threads *threads, int32_t tid);
/* Removes a thread from the index: handlers no longer find it. The slot is kept. */
void threads_unlist(struct threads *threads, struct thread_slot *slot);
/* Frees a slot. Publisher only. */
void threads_free(struct threads *threads, struct thread_slot *slot);

/*
 * Assigns a new id for future samples; earlier samples keep the old one, which no slot has any more. Publisher only.
 */
void threads_renumber(struct threads *threads, struct thread_slot *slot);

/* The slot with this id; NULL if there is none. O(1) if the hint is right, otherwise O(slots). Publisher only. */
struct thread_slot *threads_by_id(struct threads *threads, uint32_t id);

/*
 * Names a thread; longer names are truncated at a character boundary. Does nothing while another caller writes the
 * name. Signal-safe.
 */
void threads_name(struct thread_slot *slot, const char *name, size_t bytes, int kind, bool by_jvm);
/* Names a thread after the kernel's comm, for threads the JVM has not named. task_fd, task: see task.h. */
void threads_name_comm(
	struct thread_slot *slot, int task_fd, int32_t task, enum threads_owner owner);

/* The enum wire_thread_kind of a thread: from its owner, and from its name among the kinds the owner permits. */
int threads_kind(const char *name, size_t bytes, enum threads_owner owner);

static inline uint32_t threads_index(const struct threads *threads, const struct thread_slot *slot)
{
	return (uint32_t)(slot - threads->slots);
}

#endif
