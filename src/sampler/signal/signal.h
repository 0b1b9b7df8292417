/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals: the sampling handler, and signal ownership.
 *
 * All code reachable from a handler is in walk/ and in this folder. It takes no lock, calls no library function except
 * memcpy and its family, makes system calls only through raw.h (so it never touches errno) and uses no thread-local
 * storage. Handlers stay installed after detach and then do nothing: restoring a default disposition while a signal is
 * pending would terminate the JVM.
 */
#ifndef JHOT_SAMPLER_SIGNAL_SIGNAL_H
#define JHOT_SAMPLER_SIGNAL_SIGNAL_H

#include "sampler/sampler.h"

#include <signal.h>

/* --- epoch.c: the current session of handlers and JVM callbacks, and the threads inside ----- */

/*
 * A session has one sig_epoch from start to end, its session epoch (epochs.h). Handlers, JVM callbacks and the agent's
 * own walks enter and leave it. Two counters are used alternately, which makes it possible to detect that all threads
 * that were inside at some moment have left although others keep entering.
 *
 * A thread that is terminated inside, or jumps out, never leaves: its sig_epoch and the memory of that session are then
 * never reused.
 */
#define SIG_EPOCHS 16u

struct sig_epoch {
	/* NULL: no session, nothing to do. */
	_Atomic(struct sampler *) session;
	_Atomic uint32_t side; /* index of the counter used by threads that enter now */
	_Atomic uint32_t inside[2];
};

extern struct sig_epoch sig_epochs[SIG_EPOCHS];
extern _Atomic uint32_t sig_epoch_current;

/*
 * Enters the current session. Returns the session or NULL; in both cases the caller must pass *inside to sig_leave.
 */
static inline struct sampler *sig_enter(_Atomic uint32_t **inside)
{
	struct sig_epoch *epoch = &sig_epochs[atomic_load(&sig_epoch_current)];

	*inside = &epoch->inside[atomic_load(&epoch->side)];
	atomic_fetch_add(*inside, 1);
	return atomic_load(&epoch->session);
}

static inline void sig_leave(_Atomic uint32_t *inside)
{
	atomic_fetch_sub_explicit(inside, 1, memory_order_release);
}

/* The current session, or NULL, without entering it. Only for callers that own another reference to its memory. */
struct sampler *sig_session(void);
/*
 * Returns true once every thread that was inside at the first call has left. Call it again until then, with *step 0 at
 * first; it resets *step to 0 when it returns true. Publisher only.
 */
bool sig_passed(struct sampler *s, uint32_t *step);

/* --- entry.c ------------------------------------------------------------------------------ */

/* The installed handler. Uses no stack of the interrupted thread beyond the kernel's signal frame. */
void sig_sample(int sig, siginfo_t *info, void *ucontext);

/* --- stack.c: one walk that serves several samples ---------------------------------------- */

struct stack {
	struct sampler *s;
	/* The walk's memory accessor: `self`, or that of the session if there is no buffer. */
	const struct walk_mem *mem;
	struct self_mem self;
	struct thread_slot *thread;
	uint32_t id;             /* owner's id on the wire; 0: that of `thread` */
	struct scratch *scratch; /* NULL: only a reason, no frames */
	uint64_t *user;          /* packed frames, leaf first */
	uint32_t count;
	/* Frames that may be prepended to the leaf: kernel frames, or a class. */
	uint32_t max;
	uint16_t flags;    /* WIRE_TRACE_* */
	uint16_t flaw;     /* counter of the defect, applied to every sample; 0: none */
	uint64_t stack_hi; /* walk_result.stack_hi; 0: unknown */
	uint64_t pc;       /* where the thread was interrupted; 0: it was not */
	bool measured;     /* true: the cost of the walk is recorded */
	/* Generation of the unwind rows used for the walk, or an earlier one: see sampler.h. */
	uint32_t rows;
	/* Words of a span after the frames: 0 or TRACE_SPAN_WORDS. */
	uint32_t span_words;
	uint64_t reason[2];
};

/* Walks the thread that the signal handler has interrupted. */
void sig_stack_interrupted(
	struct stack *stack, struct sampler *s, struct thread_slot *thread, const void *ucontext);

/* Walks the Java frames of another thread that waits outside of Java. Requires the session's layout. */
void sig_stack_java(
	struct stack *stack, struct sampler *s, struct thread_slot *thread, uint64_t java_thread);

/* The same for the calling thread, in a JVM callback. */
void sig_stack_java_own(
	struct stack *stack, struct sampler *s, struct thread_slot *thread, uint64_t java_thread);

/* The same in a signal handler. */
void sig_stack_java_interrupted(struct stack *stack, struct sampler *s, struct thread_slot *thread,
	uint64_t java_thread, const void *ucontext);

/* Walks the frames of an unmounted virtual thread; `thread` is a placeholder slot. The caller sets stack->id. */
struct frozen;
void sig_stack_frozen(struct stack *stack, struct sampler *s, struct thread_slot *thread,
	const struct frozen *where);

struct stack_sample {
	uint32_t event;
	uint32_t state; /* enum wire_thread_state */
	/* Frames the caller has written to user[-before]..., at most max. */
	uint32_t before;
	uint32_t count;
	uint64_t weight; /* total of all `count` samples */
};

/*
 * Records samples of a stack in the trace table and in the event's counters; samples that do not fit count as lost.
 * Returns the hash of the trace if a state was given, 0 if the samples were lost or the thread is not selected.
 */
uint64_t sig_stack_record(const struct stack *stack, const struct stack_sample *sample);
/* The same for a stack that needs no walk because it consists of this one frame. id: its owner's; 0: the thread's. */
void sig_frame_record(struct sampler *s, struct thread_slot *slot, uint32_t id, uint64_t frame,
	const struct stack_sample *sample);
/* Releases the stack's buffer after the last sig_stack_record. */
void sig_stack_release(struct stack *stack);

/* The id of a class's name, for the leaf frame of what was allocated or waited for. Long names are truncated. */
uint32_t sig_class_id(struct sampler *s, const struct walk_mem *mem, uint64_t klass);
/* The same for the class that a java.lang.Class denotes: "Class java/lang/String". */
uint32_t sig_mirror_id(struct sampler *s, const struct walk_mem *mem, uint64_t klass);

/* The calling thread's CPU time in ns. */
uint64_t sig_clock(void);

/* Counts n samples of an event as lost, for a reason that has a counter. */
void sig_lose(struct sampler *s, uint32_t event, unsigned counter, uint64_t n);
/* Wakes the publisher when the table is filling up; called by sig_stack_record. */
void sig_hurry(struct sampler *s);
/*
 * Asks the publisher to arm the thread, and to set the interval of engines that have delivered their first sample
 * (engine/arms.h). Any thread, including handlers.
 */
void sig_arms_request(struct sampler *s, struct thread_slot *slot);

/* --- contexts.c: the request that a thread works for ---------------------------------------- */

/* Appends the running thread's request, if it publishes one, to a stack that has a buffer. */
void sig_context_add(struct stack *stack);

/* --- identity.c: virtual threads ----------------------------------------------------------- */

/* The wire id of the virtual thread this thread has mounted, whose name is recorded as well; 0 if none. */
uint32_t sig_virtual(struct sampler *s, const struct walk_mem *mem,
	const struct thread_slot *thread, uint64_t java_thread);
/* The same for a known thread object and number, by any observer; carrier: tid, 0: unmounted. */
uint32_t sig_virtual_known(struct sampler *s, const struct walk_mem *mem, uint64_t object,
	uint64_t number, int32_t carrier);

/* --- wall.c: the sample requested by the wall clock --------------------------------------- */

/*
 * Records the sample the wall clock has requested, of this weight in ns, and its thread's state. Signal handler only.
 */
void sig_wall_record(const struct stack *stack, uint64_t weight, const void *ucontext);

/* --- latency.c: where a wall clock's sample is in a measured call ------------------------- */

/* Stores it in the thread's slot. hash: of the sample's trace. Signal handler only. */
void sig_latency_record(const struct stack *stack, struct latency *latency, uint64_t hash);
/*
 * The same of an unmounted virtual thread: stores the identity and the flags of its call in *call, which is zeroed; frame 0: it is not
 * inside. Returns false if its stack was not walked completely. Wall clock's thread only.
 */
bool sig_latency_frozen(
	const struct stack *stack, struct latency *latency, struct thread_call *call);

/* --- perf.c: samples in a thread's perf buffer -------------------------------------------- */

struct perf_samples {
	void *page; /* struct perf_event_mmap_page; the data area follows it */
	const unsigned char *data;
	uint64_t data_bytes;
	uint64_t at, head; /* monotonic cursors */
	uint64_t lost;     /* records the kernel reports as dropped */
};

/* Begins to read a mapped perf buffer: its thread's handlers, or the publisher once the arm is quiet. */
void sig_perf_open(struct perf_samples *samples, void *ring);
/*
 * Reads the next sample. Its kernel frames, packed and leaf first, end right before `end`; at most max of them. Returns
 * their number, or -1 when no sample is left.
 */
int sig_perf_next(struct perf_samples *samples, uint64_t *end, uint32_t max);
/* Reads the registers of the next sample that has them: `count` values, in the order of their bits. */
bool sig_perf_regs(struct perf_samples *samples, uint64_t *regs, uint32_t count);
/* Reads the next sample of PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER with one register, sp. False: none is left. */
struct perf_entry {
	uint64_t time_ns, sp;
};
bool sig_perf_entry(struct perf_samples *samples, struct perf_entry *out);
/* Returns the consumed space to the kernel. */
void sig_perf_close(struct perf_samples *samples);

/* --- trap.c: breakpoints on the allocation paths of JDK 8 ----------------------------------- */

/* Consumes the arm's buffer. Only the last record can match the thread's present stack. */
void sig_trap_consume(struct sampler *s, struct thread_slot *thread, struct thread_arm *arm,
	const void *ucontext);

/* --- identity.c, glob.c: threads not listed yet; selection of threads ---------------------- */

/*
 * The JavaThread of the running thread, read from the place where HotSpot itself stores it. 0: none, or not provable
 * now; *hotspot_own is then true if the thread is proved to be HotSpot's own.
 */
uint64_t sig_java_current(
	const struct sampler *s, const struct walk_mem *mem, int32_t tid, bool *hotspot_own);
/* The owner of a thread, as far as proved by now. Any thread. */
enum threads_owner sig_owner(const struct sampler *s, const struct thread_slot *slot);
/* Lists and names the running thread. NULL: the list is full. */
struct thread_slot *sig_newcomer(struct sampler *s);
/* Reads a Java thread's name by direct loads into its slot. False: not readable at the moment. */
bool sig_java_name(struct sampler *s, const struct walk_mem *mem, struct thread_slot *slot,
	uint64_t java_thread);
/*
 * True when the name matches a pattern such as "http-*|pool-?-*": alternatives, with * and ? as in file names, each
 * matched against the whole name. "" matches every name.
 */
bool glob_any(const char *pattern, const char *name, size_t bytes);

/* True when the session's pattern excludes the thread by its name. */
bool sig_is_excluded(const struct sampler *s, const struct thread_slot *slot);

/* --- mem.c: how the JVM's memory is read ------------------------------------------------- */

/*
 * Checks that the current way of reading memory through the kernel still works; otherwise selects process_vm_readv if
 * it is allowed. False: every copy fails until a file is given. Not for handlers; one thread at a time.
 */
bool sig_mem_choose(void);
/*
 * Selects pread on this descriptor of /proc/self/mem, which the caller continues to own. False when it does not work.
 */
bool sig_mem_by_file(int32_t fd);
#define SIG_MEM_NONE                                                                             \
	"stacks cannot be walked: a sandbox forbids process_vm_readv and /proc/self/mem in the " \
	"JVM"
/* Makes all further copies fail. */
void sig_mem_close(void);
/* Copies memory of this process through the kernel; false unless all of it is readable. Never faults. */
bool sig_copy(uint64_t addr, void *out, size_t bytes);
/* The same for a series of copies, with one identity check: a self_copy. */
bool sig_copy_more(uint64_t addr, void *out, size_t bytes, bool *checked);
/* A gather function of struct walk_mem, for agent threads: its arrays need 2 kB of stack. */
void sig_gather(const struct walk_mem *mem, const uint64_t *addrs, uint32_t count, uint32_t bytes,
	uint64_t *out);
/* Copies up to SIG_BLOCKS blocks, by one system call where possible. Returns how many precede the first unreadable one. */
#define SIG_BLOCKS 64u
uint32_t sig_copy_blocks(const struct self_block *blocks, uint32_t count);
/* The same for up to SELF_WAYS blocks, with little stack: a self_copy_blocks. */
uint32_t sig_copy_lines(const struct self_block *blocks, uint32_t count);
/* sig_copy as a walk_mem. */
extern const struct walk_mem sig_mem_anywhere;

/* --- install.c: choosing and installing the engines' signal -------------------------------- */

/*
 * Installs the handler and returns its signal: the first available candidate outside of `collected` (collect_signals),
 * else the first available one. -EBUSY when all have foreign handlers. leftover: true for the handler of an agent whose
 * session has ended, which does nothing and may be replaced; its code stays mapped for threads still in it.
 */
int sig_choose(struct sampler *s, uint64_t collected,
	bool (*leftover)(struct sampler *s, uint64_t handler));
/*
 * Chooses a replacement signal for a running session: only one that is unhandled, outside of `collected` and ignored
 * by default, because the new owner of the former signal may restore dispositions from before the session. Else -EBUSY.
 */
int sig_choose_again(uint64_t collected);
/* The same for the signal that libc reserves; -EBUSY where libc or another party uses it. */
int sig_choose_reserved(struct sampler *s, uint64_t collected,
	bool (*leftover)(struct sampler *s, uint64_t handler));
/*
 * True when our handler is installed; reinstalls it if the signal has no handler. False: another handler owns the
 * signal.
 */
bool sig_reinstall(int sig);
/* The same for the reserved signal and for SIGIO, which the kernel may send in its place. */
bool sig_reinstall_reserved(int sig);

#endif
