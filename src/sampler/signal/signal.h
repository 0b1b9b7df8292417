/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals: the sampling handler, and who owns a signal.
 *
 * Whatever a handler can reach is in walk/ and in this folder; it takes no lock, calls no library
 * but memcpy's family, makes system calls only through raw.h (so errno is never touched) and uses
 * no thread-local storage. Handlers stay installed after detach and do nothing then: to restore a
 * default disposition while a signal is pending would end the JVM.
 */
#ifndef JHOT_SAMPLER_SIGNAL_SIGNAL_H
#define JHOT_SAMPLER_SIGNAL_SIGNAL_H

#include "sampler/sampler.h"

#include <signal.h>

/* --- room.c: the session that handlers and JVM callbacks serve, and who is inside --------- */

/*
 * A session has a room from its beginning to its end (rooms.h); handlers, callbacks and the agent's own walks
 * enter it and leave it. Two counts take turns, so that it can be told when all have left who were inside at some
 * moment, though others keep coming.
 *
 * A thread that is ended inside, or jumps out, never leaves: then its room, and what was in it, are not used again.
 */
#define SIG_ROOMS 16u

struct sig_room {
	_Atomic(struct sampler *) session; /* NULL: there is nothing to do here */
	_Atomic uint32_t side;             /* of the two counts the one for those who come now */
	_Atomic uint32_t inside[2];
};

extern struct sig_room sig_rooms[SIG_ROOMS];
extern _Atomic uint32_t sig_room_now;

/* sig_enter: the session, or NULL; *inside is for sig_leave, in both cases. */
static inline struct sampler *sig_enter(_Atomic uint32_t **inside)
{
	struct sig_room *room = &sig_rooms[atomic_load(&sig_room_now)];

	*inside = &room->inside[atomic_load(&room->side)];
	atomic_fetch_add(*inside, 1);
	return atomic_load(&room->session);
}

static inline void sig_leave(_Atomic uint32_t *inside)
{
	atomic_fetch_sub_explicit(inside, 1, memory_order_release);
}

/* The session that is found now; NULL: none. Only for who holds its memory otherwise: nobody is counted. */
struct sampler *sig_session(void);
/*
 * Have all left who were inside when it was asked first? To be asked again until they have; step is 0 at first and
 * becomes 0 again with the answer yes. Publisher only.
 */
bool sig_passed(struct sampler *s, uint32_t *step);

/* --- entry.c ------------------------------------------------------------------------------ */

/* The handler that is installed. Needs nothing of the interrupted thread's stack beyond the kernel's frame. */
void sig_sample(int sig, siginfo_t *info, void *ucontext);

/* --- stack.c: one walk, for all samples that it serves ------------------------------------ */

struct stack {
	struct sampler *s;
	const struct walk_mem
		*mem; /* how the walk reads memory: `here`, or the session's without a buffer */
	struct here here;
	struct thread_slot *thread;
	uint32_t id;             /* whose it is, on the wire; 0: the thread's */
	struct scratch *scratch; /* NULL: only a reason is in it */
	uint64_t *user;          /* packed, leaf first */
	uint32_t count;
	uint32_t max;   /* frames that may be put before the leaf: the kernel's, a class */
	uint16_t flags; /* WIRE_TRACE_* */
	uint16_t flaw;  /* the counter of what is wrong with it, for every sample; 0: nothing is */
	uint32_t rows;  /* the unwind rows that it was walked by, or older ones: see sampler.h */
	uint64_t reason[2];
};

/* The signal handler's walk of the thread that it interrupted. */
void sig_stack_interrupted(
	struct stack *stack, struct sampler *s, struct thread_slot *thread, const void *ucontext);

/* The Java frames of another thread, which has left Java and waits. Needs the session's layout. */
void sig_stack_java(
	struct stack *stack, struct sampler *s, struct thread_slot *thread, uint64_t java_thread);

/* The same of the caller's own thread, in a callback of the JVM. */
void sig_stack_java_own(
	struct stack *stack, struct sampler *s, struct thread_slot *thread, uint64_t java_thread);

/* The same in a signal handler. */
void sig_stack_java_interrupted(struct stack *stack, struct sampler *s, struct thread_slot *thread,
	uint64_t java_thread, const void *ucontext);

/* The frames of a virtual thread that waits without a carrier; thread is none's. stack->id is the caller's to set. */
struct frozen;
void sig_stack_frozen(struct stack *stack, struct sampler *s, struct thread_slot *thread,
	const struct frozen *where);

struct stack_sample {
	uint32_t event;
	uint32_t state;  /* enum wire_thread_state */
	uint32_t before; /* frames that the caller has written to user[-before]..., at most max */
	uint32_t count;
	uint64_t weight; /* of all count */
};

/*
 * Into the trace table, with the event's counts; what finds no space there is counted as lost. Returns
 * the hash of the trace if a state was given, 0 if it was lost.
 */
uint64_t sig_stack_put(const struct stack *stack, const struct stack_sample *sample);
/* The same of a stack that nobody has to walk: it is this one frame. id: whose it is, 0: the thread's. */
void sig_frame_put(struct sampler *s, struct thread_slot *slot, uint32_t id, uint64_t frame,
	const struct stack_sample *sample);
/* When nothing more is to be put. */
void sig_stack_give(struct stack *stack);

/* sig_class_id: the id of a class's name, as the leaf of what was allocated or waited for; a long name is cut. */
uint32_t sig_class_id(struct sampler *s, const struct walk_mem *mem, uint64_t klass);
/* The same of the java.lang.Class that stands for a class: "Class java/lang/String". */
uint32_t sig_mirror_id(struct sampler *s, const struct walk_mem *mem, uint64_t klass);

/* A clock; and the calling thread's CPU time. */
uint64_t sig_clock_of(int32_t clock);
uint64_t sig_clock(void);

/* n samples of this event are in no trace, for a reason that has a counter. */
void sig_lose(struct sampler *s, uint32_t event, unsigned counter, uint64_t n);
/* Wakes the publisher when the table fills up; sig_stack_put does. */
void sig_hurry(struct sampler *s);
/*
 * Asks the publisher to arm the thread and to set the interval of engines whose first sample is taken (engine/arms.h).
 * Any thread, handlers included.
 */
void sig_arms_ask(struct sampler *s, struct thread_slot *slot);

/* --- virtual.c: virtual threads ------------------------------------------------------------ */

/* Its id on the wire if this thread has mounted one, and its name remembered; else 0. */
uint32_t sig_virtual(struct sampler *s, const struct walk_mem *mem,
	const struct thread_slot *thread, uint64_t java_thread);
/* The same of this object with this number, by whoever looks at it; carrier: its tid, 0: it has none. */
uint32_t sig_virtual_known(struct sampler *s, const struct walk_mem *mem, uint64_t object,
	uint64_t number, int32_t carrier);

/* --- wall.c: the sample that the wall clock has asked this thread for --------------------- */

void sig_wall_put(const struct stack *stack, uint64_t weight, const void *ucontext);

/* --- perf.c: samples in a thread's perf buffer -------------------------------------------- */

struct perf_samples {
	void *page; /* struct perf_event_mmap_page; the data area follows it */
	const unsigned char *data;
	uint64_t data_bytes;
	uint64_t at, head; /* cursors that never wrap */
	uint64_t lost;     /* what the kernel says it had to drop */
};

void sig_perf_open(struct perf_samples *samples, void *ring);
/*
 * sig_perf_next: the next sample. Its kernel frames, packed, leaf first, end right before `end`,
 * at most max of them; returns how many, or -1 when there is no sample left.
 */
int sig_perf_next(struct perf_samples *samples, uint64_t *end, uint32_t max);
/* sig_perf_regs: the next sample that has registers: as many as were asked for, in the order of their bits. */
bool sig_perf_regs(struct perf_samples *samples, uint64_t *regs, uint32_t count);
/* Gives what was read back to the kernel. */
void sig_perf_close(struct perf_samples *samples);

/* --- trap.c: breakpoints where JDK 8 tells of allocations ----------------------------------- */

/* What is in the arm's buffer; the last of it may be where the thread is now. */
void sig_trap_take(struct sampler *s, struct thread_slot *thread, struct thread_arm *arm,
	const void *ucontext);

/* --- newcomer.c, glob.c: threads that nobody has listed yet, which of all are sampled ------- */

/*
 * The JavaThread of the running thread, by where HotSpot itself keeps it. 0: it is none, or that cannot be proved now;
 * hotspot_own: but it is proved to be HotSpot's own.
 */
uint64_t sig_java_current(
	const struct sampler *s, const struct walk_mem *mem, int32_t tid, bool *hotspot_own);
/* Whose a thread is, as far as it is proved by now. Any thread. */
enum threads_owner sig_owner(const struct sampler *s, const struct thread_slot *slot);
/* The running thread gets its slot and its name. NULL: the list is full. */
struct thread_slot *sig_newcomer(struct sampler *s);
/* A Java thread's name, by loads. false: it cannot be read just now. */
bool sig_java_name(struct sampler *s, const struct walk_mem *mem, struct thread_slot *slot,
	uint64_t java_thread);
/*
 * glob_any: do these bytes match a pattern as "http-*|pool-?-*": alternatives, * and ? as in file names, each for the
 * whole name? "": any name does.
 */
bool glob_any(const char *pattern, const char *name, size_t bytes);

/* By the session's pattern and its name: it is not to be sampled. */
bool sig_leaves_out(const struct sampler *s, const struct thread_slot *slot);

/* --- mem.c: how the JVM's memory is read ------------------------------------------------- */

/*
 * Does the way in which the kernel is asked still work? Otherwise chooses process_vm_readv, if that is allowed. False: every
 * copy fails, unless a file is given. Not for handlers; one thread at a time.
 */
bool sig_mem_choose(void);
/* Chooses pread on this descriptor of /proc/self/mem, which stays the caller's. False when it does not work. */
bool sig_mem_by_file(int32_t fd);
#define SIG_MEM_NONE                                                                             \
	"stacks cannot be walked: a sandbox forbids process_vm_readv and /proc/self/mem in the " \
	"JVM"
/* Copies fail from now on. */
void sig_mem_leave(void);
/* Copies memory of this process through the kernel; false when not all of it can be read. Never faults. */
bool sig_copy(uint64_t addr, void *out, size_t bytes);
/* The same several times in a row: a here_copy. */
bool sig_copy_more(uint64_t addr, void *out, size_t bytes, bool *checked);
/* A gather of struct walk_mem, for agent threads: its arrays take 2 kB of stack. */
void sig_gather(const struct walk_mem *mem, const uint64_t *addrs, uint32_t count, uint32_t bytes,
	uint64_t *out);
/* The same as a walk_mem. */
extern const struct walk_mem sig_mem_anywhere;

/* --- install.c: the signal that engines send ---------------------------------------------- */

/*
 * The signal to use, with our handler installed: the first candidate that is not among `collected` (collect_signals), else
 * the first. -EBUSY when all have handlers of others. left: is this handler one that an agent has left, which does nothing
 * any more? Its code stays where it is, for those who are in it.
 */
int sig_choose(
	struct sampler *s, uint64_t collected, bool (*left)(struct sampler *s, uint64_t handler));
/*
 * Chooses a replacement signal for a running session: only one that a process without a handler ignores, that nobody handles, and that
 * is not among `collected`; else -EBUSY. Whoever handles signals now may put back what was there before the session.
 */
int sig_choose_again(uint64_t collected);
/* The signal that libc reserves, likewise; -EBUSY where libc or somebody else uses it. */
int sig_choose_reserved(
	struct sampler *s, uint64_t collected, bool (*left)(struct sampler *s, uint64_t handler));
/* Our handler is there, put back where nobody else's is; false: somebody has taken the signal. */
bool sig_keep(int sig);
/* The same of the reserved signal and of SIGIO, which the kernel may send in its place. */
bool sig_keep_reserved(int sig);

#endif
