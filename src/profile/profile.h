/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model: samples of up to 8 events, second by second, with every stack stored once.
 *
 *   method  (class, name, module...)             interned      a function
 *   frame   (method, type, line/bci)             interned      a position in a function, and how it ran
 *   stack   a node of a trie, root to leaf       interned      parent stack + frame
 *   slice   one second of one event: (stack, thread, count, weight)...
 *
 * A feeder (session, import, recording) adds samples; views and exporters query a range of seconds
 * and derive tables from it. Slices that are older than the history, or exceed the memory budget,
 * are merged into 10 s steps and then into the event's total; profile_info() has the range that is
 * left.
 *
 * Not thread-safe: one thread feeds and reads. Nothing blocks or does I/O. Functions cannot fail:
 * memory exhaustion ends the process, invalid ids are ignored or read as "unknown". A const profile
 * may still intern names and update caches.
 *
 * How long an id (method, frame, stack, thread, pool) stays valid:
 *
 *   where the id is                                            valid until
 *   ---------------------------------------------------------  ------------------------------------------------------
 *   in the feeder, not added to the model yet                  the next profile_advance()
 *   a result (table, tree, profile_each)                       at least 30 s after it was computed: steps of a sweep are 30 s
 *                                                              apart, and a step frees only ids to which nothing refers
 *   a result about frozen seconds (profile_freeze)             30 s after they are released
 *   a profile_snapshot (stacks and threads only)               profile_snapshot_free()
 *   a cache with a registered pin callback (at most 5)         the callback is called with leaving = true
 *   anything else                                              profile_info().swept changes: compare it, then look up again by name
 *
 *   sweep, one step every 30 s:   callback(kind, leaving = false)   pins the ids it still uses: profile_pin()
 *                                 callback(kind, leaving = true)    drops ids for which profile_is_pinned() is false
 *                                 ids without a pin are freed; profile_info().swept is incremented
 *
 * Ids of a collapsed view (filter.h) end when another view is requested; they then read as the
 * empty stack.
 */
#ifndef JHOT_PROFILE_PROFILE_H
#define JHOT_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROFILE_EVENTS     8
#define PROFILE_HISTORY_S  600    /* default, see profile_set_history() */
#define PROFILE_WAITS      16384u /* lock waits that are retained; the oldest are overwritten */
#define PROFILE_NONE       UINT32_MAX
#define PROFILE_ROOT_STACK 0u /* the empty stack */
/*
 * Limits on input from any source; profile_info() counts what was truncated. The agent records up
 * to 2,048 frames, to which leaves such as "sleeps" are added.
 */
#define PROFILE_DEPTH_MAX 2304u        /* frames of a stack; deeper ones end in PROFILE_DEEPER */
#define PROFILE_NAMES_MAX (256u << 10) /* bytes of its names; likewise */
#define PROFILE_DEEPER    "[deeper frames]"
#define PROFILE_TEXT_MAX  4096u /* bytes of a thread's name, and of each part of a method's name */

/* Ids of events. Also used on the wire; id + 1 is the event's key on the screen. */
enum profile_event_id { EVENT_CPU, EVENT_ALLOC, EVENT_LOCK, EVENT_WALL, EVENT_USER_FIRST };

struct profile_event {
	const char *name;          /* "cpu" */
	const char *unit;          /* "ns", "bytes" */
	const char *what;          /* "samples of CPU time", for headers */
	uint64_t default_interval; /* 10 ms, 512 KiB, 10 us, 50 ms */
	bool weight_is_time;
};
extern const struct profile_event profile_events[PROFILE_EVENTS];
int profile_event_find(const char *name); /* -1 if unknown */

/* State of a thread when it was sampled. Known for wall samples only. */
enum thread_state {
	THREAD_STATE_NONE, /* not known */
	THREAD_ON_CPU,
	THREAD_RUNNABLE, /* waits for a core */
	THREAD_SLEEPING, /* Thread.sleep, or blocked for an unknown reason */
	THREAD_MONITOR,  /* waits to enter a synchronized block */
	THREAD_WAITING,  /* Object.wait */
	THREAD_PARKED,
	THREAD_IO,      /* in a system call that reads, writes, accepts or polls */
	THREAD_CARRIER, /* a runnable virtual thread without a carrier */
	THREAD_STATES
};
struct thread_state_info {
	char letter;      /* of the S column */
	const char *name; /* "waits for a monitor" */
};
extern const struct thread_state_info thread_states[THREAD_STATES];

/* How the code of a frame was executed. The letter is that of column T. */
enum frame_type {
	FRAME_COMPILED,       /* J: by C2 or its replacement (Graal) */
	FRAME_C1,             /* J; exports distinguish it from FRAME_COMPILED */
	FRAME_INLINED,        /* i */
	FRAME_NO_INLINING,    /* ~: compiled without inlining info: may be a method inlined here */
	FRAME_INTERPRETED,    /* I */
	FRAME_JAVA,           /* J: Java, execution mode not known */
	FRAME_NATIVE,         /* n */
	FRAME_VM,             /* v: libjvm, stubs */
	FRAME_KERNEL,         /* k */
	FRAME_CLASS,          /* c: a leaf: the class allocated or locked */
	FRAME_BREAK,          /* ?: the reason why the stack is incomplete */
	FRAME_CLASS_OUTSIDE,  /* o: a leaf: the class allocated outside of a TLAB */
	FRAME_WAITS,          /* w: a leaf: where and why the thread waits */
	FRAME_C1_NO_INLINING, /* ~: FRAME_NO_INLINING, by C1 */
	FRAME_CONTEXT, /* r: outermost: an attribute of the request, such as "[http.route] /cart" */
	FRAME_TYPES
};
static inline bool frame_is_java(unsigned type)
{
	return type <= FRAME_JAVA || type == FRAME_C1_NO_INLINING;
}
static inline bool frame_is_class(unsigned type)
{
	return type == FRAME_CLASS || type == FRAME_CLASS_OUTSIDE;
}
struct frame_type_info {
	char letter;
	const char *name; /* "inlined" */
};
extern const struct frame_type_info frame_types[FRAME_TYPES];

/* A function. Java: class_name dotted ("java.util.HashMap"), name, signature. Native: module, name. */
struct profile_method {
	const char *class_name; /* "" if none */
	const char *name;
	const char *signature; /* JVM form "(I)V", or ""; for FRAME_WAITS see profile_stack_io() */
	const char *module;    /* "libz.so.1", "" for Java */
	/* Display name: "java.util.HashMap.getNode", "[libz.so.1] inflate"; kernel and libjvm functions without their module;
	 * without a name the dotted class or "[libz.so.1]". */
	const char *full;
};
/* Prefix of a lock's class name when the lock is a java.lang.Class; the class follows. */
#define PROFILE_MIRROR "Class "
struct profile_frame {
	uint32_t method;
	uint16_t bci; /* 0xffff = not known */
	uint8_t type; /* enum frame_type */
	uint8_t reserved;
	int32_t line; /* 0 = not known */
};
struct profile_stack {
	uint32_t parent; /* PROFILE_ROOT_STACK at the root */
	uint32_t frame;
	uint32_t depth;
};

enum thread_kind {
	THREAD_NATIVE,
	THREAD_JAVA,
	THREAD_COMPILER,
	THREAD_GC,
	THREAD_VM,
	THREAD_AGENT,
	THREAD_VIRTUAL
};
struct profile_thread {
	int tid; /* in the front end's pid namespace if known, else in the target's */
	enum thread_kind kind;
	int64_t java_tid;
	const char *name;
	int carrier;     /* of a virtual thread: tid of its last known carrier; 0: not known */
	uint32_t pool;   /* id of threads with similar names; set by the model */
	uint32_t serial; /* ascending in order of creation, 0: no such thread; set by the model */
};

struct profile;
struct profile *profile_new(void);
void profile_free(struct profile *p);

/* --- feeding ----------------------------------------------------------------------------------------- */

/*
 * Interns a method or a frame; idempotent. PROFILE_NONE: a table is full, or the method is invalid.
 * Texts may be any bytes: they are sanitized (base/clean.h) and truncated to PROFILE_TEXT_MAX.
 * Changes no answer, hence const.
 */
uint32_t profile_method(const struct profile *p, const char *class_name, const char *name,
	const char *signature, const char *module);
uint32_t profile_frame(
	const struct profile *p, uint32_t method, enum frame_type type, unsigned bci, int line);
/*
 * Interns the stack parent + frame. PROFILE_NONE: an id is invalid. Beyond the limits: a stack that
 * ends in PROFILE_DEEPER.
 */
uint32_t profile_stack_child(struct profile *p, uint32_t parent, uint32_t frame);
/*
 * Target of a blocking system call: operation "socket read", "pipe write", "accept", and peer
 * "10.0.0.5:5432", "/var/log/x" or "".
 */
#define PROFILE_IO_WHAT 32
struct profile_io {
	char what[PROFILE_IO_WHAT];
	const char *where;
};
/*
 * Appends to the stack of a waiting thread a leaf that says where in the program and why it waits:
 * "Customer.run sleeps", or with io (NULL: not known) "Customer.run: socket read 10.0.0.5:5432".
 * The peer is omitted where one place has too many of them.
 */
uint32_t profile_stack_waiting(
	struct profile *p, uint32_t stack, enum thread_state state, const struct profile_io *io);
/* Allocates a thread id. Ids are dense; a feeder may also choose its own. */
uint32_t profile_thread_new(struct profile *p);
/* Sets or replaces the attributes of a thread. Copies the name. */
void profile_thread_set(struct profile *p, uint32_t thread, const struct profile_thread *t);
/* Adds CPU time of the whole process in a second that EVENT_CPU sampled completely. */
void profile_add_process(struct profile *p, uint32_t second, uint64_t cpu_ns);
/*
 * Adds samples. Seconds count from the profile's start, which the feeder chooses, and may be up to
 * 2 less than the latest one.
 */
struct profile_sample {
	uint32_t stack, thread;
	enum thread_state state;
	uint32_t count;
	uint64_t weight;
};
void profile_add_sample(
	struct profile *p, int event, uint32_t second, const struct profile_sample *sample);
/*
 * The span, in the terms of distributed tracing, that samples belong to. Spans differ with each
 * request, so only the last PROFILE_LINKS links are retained. count and weight are part of those of
 * the same samples in profile_add_sample().
 */
#define PROFILE_LINKS 32768u
struct profile_link {
	uint32_t second, event;
	uint32_t stack, thread;
	enum thread_state state;
	uint32_t count;
	uint64_t weight;
	uint8_t trace_id[16], span_id[8];
};
void profile_add_link(struct profile *p, const struct profile_link *link);
/*
 * Adds a sample of a lock's holder: its stack while others waited. Stored beside the samples of
 * EVENT_LOCK, which are the waits. The weight is the time of the waiters; the state is ignored. An
 * unknown holder is a stack of one frame.
 */
void profile_add_holder(struct profile *p, uint32_t second, const struct profile_sample *sample);
/*
 * Distributes weight of an event evenly over [from_ns, to_ns) since second 0, for the resolution
 * below one second that samples do not have. To be called after the second's samples; lost when the
 * second is merged into a 10 s step.
 */
#define PROFILE_PULSE 20 /* parts of a second, 50 ms each */
void profile_add_pulse(
	struct profile *p, int event, uint64_t from_ns, uint64_t to_ns, uint64_t weight);
/*
 * Advances the current second; an earlier one is ignored. Merges seconds into longer steps, drops
 * those beyond the retention limit, and runs one step of the sweep when it is due.
 */
void profile_advance(struct profile *p, uint32_t second);
/*
 * Records a lock wait. Times are ns since second 0. A call with the same thread, lock and since_ns
 * updates that wait: its owner, its end. A thread waits for one lock at a time, so a new wait ends
 * the previous one.
 */
#define PROFILE_STILL UINT64_MAX
struct profile_wait {
	uint32_t thread, owner;      /* owner: PROFILE_NONE = not known */
	uint32_t method;             /* named as the lock's class; PROFILE_NONE = not known */
	uint64_t lock;               /* opaque identity */
	uint64_t since_ns, until_ns; /* until_ns: PROFILE_STILL while it lasts */
	uint64_t before_ns;          /* duration before second 0 */
	bool at_least;               /* since_ns is an upper bound: it may have begun earlier */
};
void profile_wait_set(struct profile *p, const struct profile_wait *w);
/* Ends all open waits: locks are no longer sampled. */
void profile_wait_end_all(struct profile *p, uint64_t ns);
/* Declares [from, to) as a gap, in which nothing was sampled. */
void profile_gap(struct profile *p, uint32_t from, uint32_t to);
/*
 * Defines a user event (EVENT_USER_FIRST ..): name, unit of weights ("ns": time). A new name
 * discards the event's samples.
 */
void profile_event_set(
	struct profile *p, int event, const char *name, const char *unit, uint64_t interval);
/*
 * Declares that sampling of an event begins (on) or ends in this second; idempotent. Never
 * declared: always sampled.
 */
void profile_event_runs(struct profile *p, int event, uint32_t second, bool on);
/* Declares an interval at which samples of this event were taken. */
void profile_interval_add(struct profile *p, int event, uint64_t interval);
/* Sets the wall-clock time of second 0, for labels. */
void profile_set_start(struct profile *p, uint64_t wall_ns);

/*
 * Bytes beyond which the model merges and drops history. Default 144 MiB. A soft limit: the last 60
 * s are always kept.
 */
void profile_set_budget(struct profile *p, size_t bytes);
/* Seconds of history, as far as the budget allows. */
void profile_set_history(struct profile *p, uint32_t seconds);

/*
 * Sweep: when the model has grown, stacks that occur in no retained second and account for little
 * of the total are merged into "[earlier]" under their surviving callers, and samples of ended
 * threads into "[threads that ended]". Freed ids are reused. A pin callback pins ids that it
 * caches: see the table at the top of this file. Of threads it also pins those that are alive.
 */
enum profile_kind {
	PROFILE_STACKS,
	PROFILE_FRAMES,
	PROFILE_METHODS,
	PROFILE_THREADS,
	PROFILE_POOLS,
	PROFILE_KINDS
};
typedef void profile_pin_fn(void *ctx, enum profile_kind kind, bool leaving);
#define PROFILE_PIN_CALLBACKS 5
void profile_pin_register(const struct profile *p, profile_pin_fn *fn, void *ctx);
void profile_pin_unregister(const struct profile *p, const void *ctx);
/* For pin callbacks only: pins an id of the kind in question (invalid ids are ignored); true when it is pinned. */
void profile_pin(const struct profile *p, uint32_t id);
bool profile_is_pinned(const struct profile *p, uint32_t id);

/* --- reading ----------------------------------------------------------------------------------------- */

/*
 * The get functions never return NULL (an invalid id gives "unknown"). The result is valid until
 * the next feeding call, its strings as long as the id.
 */

const struct profile_method *profile_get_method(const struct profile *p, uint32_t method);
/* The most plausible type, for a row without samples. */
enum frame_type profile_method_type(const struct profile_method *method);
const struct profile_frame *profile_get_frame(const struct profile *p, uint32_t frame);
struct profile_stack profile_get_stack(const struct profile *p, uint32_t stack);
const struct profile_thread *profile_get_thread(const struct profile *p, uint32_t thread);
/* Target of the blocking system call in which a wall stack ends. False: none, or not known. */
bool profile_stack_io(const struct profile *p, uint32_t stack, struct profile_io *out);
/* True for the program's own methods: Java, and not of the JDK or a language runtime. */
bool profile_method_own(const struct profile_method *method);
bool profile_frame_own(const struct profile *p, uint32_t frame);
/*
 * Classifies methods in which threads wait for work. EXECUTOR: an executor's threads between tasks.
 * OTHER: threads that accept connections or wait in a selector, and JDK threads that wait for the
 * garbage collector.
 */
enum profile_idles { PROFILE_IDLES_NOT, PROFILE_IDLES_EXECUTOR, PROFILE_IDLES_OTHER };
enum profile_idles profile_method_idles(const struct profile_method *method);
/* True for a native function without a symbol, named after its file offset: "0x1234". */
bool profile_method_nameless(const struct profile_method *method);
uint32_t profile_method_count(const struct profile *p);
uint32_t profile_thread_count(const struct profile *p);
/* "http-exec-*" for http-exec-12, "GC threads" for the collector's; otherwise the thread's name. */
const char *profile_pool_name(const struct profile *p, uint32_t pool);
/* Replaces trailing digits of a name by "*". */
#define PROFILE_PATTERN 256
void profile_name_pattern(const char *name, char out[PROFILE_PATTERN]);
/*
 * Distinguishes threads of equal names: `word` and the tid, or "#31" for a virtual thread; "" if
 * the name has it already. Returns out.
 */
#define PROFILE_LABEL 40
const char *profile_thread_label(
	const struct profile_thread *t, const char *word, char out[PROFILE_LABEL]);
#define PROFILE_VIRTUAL "virtual-#" /* prefix of the name of an unnamed virtual thread */
/* The event's row of profile_events, or the user event as defined. p may be NULL. */
const struct profile_event *profile_get_event(const struct profile *p, int event);

/* Range of the intervals at which an event was sampled. 0: not sampled. */
struct profile_intervals {
	uint64_t least, most;
};
struct profile_intervals profile_get_intervals(const struct profile *p, int event);
/*
 * Weight by which weights are divided to display a number of samples, if samples differ in weight:
 * the shortest interval. 0: show the count.
 */
uint64_t profile_sample_weight(const struct profile *p, int event);

struct profile_info {
	uint32_t now;    /* the last second begun */
	uint32_t oldest; /* the first retained second */
	uint64_t start_wall_ns;
	uint64_t bytes; /* memory of the model */
	uint32_t stacks, slice_entries;
	uint32_t merged_before; /* seconds before this one are retained as 10 s steps */
	uint32_t evicted_from;  /* [from, to) was evicted to save memory while earlier */
	uint32_t evicted_to;    /* seconds are frozen; from = to: nothing was */
	uint32_t swept;         /* incremented when ids may have been reused */
	uint64_t cut_samples;   /* samples whose stack ends in PROFILE_DEEPER */
	uint64_t cut_texts;     /* texts longer than PROFILE_TEXT_MAX */
};
struct profile_info profile_info(const struct profile *p);

/* The longest of a thread's lock waits in the seconds [from, to), summed by lock class and owner. False: none. */
struct profile_waited {
	uint32_t method, owner; /* as in struct profile_wait */
	uint64_t ns, all_ns;    /* of these, and of all lock waits */
};
bool profile_waited(const struct profile *p, uint32_t thread, uint32_t from, uint32_t to,
	struct profile_waited *most);
/* The same for a range in ns since second 0: [begin_ns, end_ns). */
bool profile_waited_ns(const struct profile *p, uint32_t thread, uint64_t begin_ns, uint64_t end_ns,
	struct profile_waited *most);
/* The last lock wait of a thread in the second [to - 1, to). False: none. */
bool profile_wait_at(
	const struct profile *p, uint32_t thread, uint32_t to, struct profile_wait *out);

/* --- queries ------------------------------------------------------------------------------------------- */

/*
 * Seconds, steps, windows. An event's history at second 137, with merged_before = 60 and oldest =
 * 20:
 *
 *   0        20        30        40        50        60 61 62                    137
 *   | total  |  10 s   |  10 s   |  10 s   |  10 s   |1 |1 |1 | ...            |1 |  now
 *   dropped^  oldest                                  merged_before
 *
 * A query has the slices that BEGIN in [from, to); the model does not know when in a step a sample
 * was taken. So adjacent windows count each sample exactly once. from = 0 means "everything before
 * to", dropped seconds included: the total minus all slices from `to` on.
 *
 *   query          slices it has                          profile_covered()    after profile_align()
 *   [62, 65)       62 63 64                               3 s                  [62, 65)
 *   [45, 65)       50-59, 60 .. 64                        15 s                 [40, 65): 25 s
 *   [25, 45)       30-39, 40-49                           20 s                 [20, 50): 30 s
 *   [10, 30)       20-29; 10 .. 19 are gone               10 s                 [10, 30)
 *   [0, 45)        the total before 50                    50 s                 [0, 50)
 *
 * Windows that are shown to a user are aligned first, so that their label is true. A second that is
 * anchored (profile_anchor) can be `from` however old it is: its total was saved. Gaps and seconds
 * in which the event was off are not covered.
 */

/*
 * Rounds [*from, *to) outwards to whole steps where it lies in merged history. Leaves from = 0 and
 * unmerged seconds as they are.
 */
void profile_align(const struct profile *p, uint32_t *from, uint32_t *to);

/*
 * Links are numbered in the order in which they were added. The number of the next; *first: of the
 * oldest that is retained.
 */
uint64_t profile_links(const struct profile *p, uint64_t *first);
const struct profile_link *profile_get_link(const struct profile *p, uint64_t number);

#define PROFILE_ANY_THREAD UINT32_MAX

/* A query: the samples to consider. A plain value; filter and snapshot are borrowed. */
struct profile_query {
	int event;
	uint32_t from, to;
	uint32_t thread;
	bool holders;      /* of EVENT_LOCK: the samples of lock holders, instead of the waits */
	bool by_weight;    /* values are weights (ns, bytes), else sample counts */
	uint32_t pool;     /* only threads of this pool; 0 = all */
	unsigned states;   /* only these states, a bit per enum thread_state; 0 = all */
	bool without_idle; /* of EVENT_WALL: excludes waits for work, see profile_method_idles() */
	struct filter *filter;                   /* filter.h; NULL: all stacks, as sampled */
	const struct profile_snapshot *snapshot; /* replaces event's seconds; or NULL */
};

/* All of an event: every second and thread, in sample counts. */
static inline struct profile_query profile_whole(int event)
{
	return (struct profile_query){
		.event = event, .to = UINT32_MAX, .thread = PROFILE_ANY_THREAD};
}

/*
 * A copy of the samples in a query's seconds, as a baseline to compare later ones with. Set in a
 * query it replaces the seconds; thread and filter apply as usual. The caller frees it, before or
 * after the profile. 32 bytes per distinct (stack, thread, state).
 */
struct profile_snapshot *profile_snapshot_new(
	const struct profile *p, const struct profile_query *q);
void profile_snapshot_free(struct profile_snapshot *s);

/* A key of a query's answer: equal keys, equal answers. For caching. */
uint64_t profile_stamp(const struct profile *p, const struct profile_query *q);
/* Number of (stack, thread, state) of the last query before filtering: an estimate of the cost of the next one. */
uint32_t profile_query_size(const struct profile *p);

/* Sum of a query's samples. O(seconds) without thread, state or filter, else O(rows). */
struct profile_sum {
	uint64_t count, weight;
};
struct profile_sum profile_sum(const struct profile *p, const struct profile_query *q);
/*
 * Distribution of an event's weight within a second, relative to its largest part, which is
 * PROFILE_PULSE_MOST. Of all samples: threads and filters do not apply. False: not known.
 */
#define PROFILE_PULSE_MOST 127
bool profile_pulse(const struct profile *p, int event, uint32_t second, uint8_t out[PROFILE_PULSE]);
/* Seconds that a query covers (see the table above), for rates: retained, the event sampled, no gap. */
uint32_t profile_covered(const struct profile *p, const struct profile_query *q);
/*
 * Anchors up to two seconds (0: none) of an event, replacing earlier anchors: from an anchored
 * second on everything can be queried after that second has been merged or dropped. A second must
 * be retained when it is first anchored.
 */
void profile_anchor(const struct profile *p, int event, uint32_t second, uint32_t other);
/*
 * The part of a query in code without inlining info: its innermost Java frame is FRAME_NO_INLINING
 * or FRAME_C1_NO_INLINING.
 */
struct profile_sum profile_no_inlining(const struct profile *p, const struct profile_query *q);
/*
 * Compares the sampled CPU time (EVENT_CPU, all threads) with that of the process over a query's
 * seconds. They differ if the difference exceeds three standard errors, 2 % that no sampling sees,
 * and one interval per living thread: a sample that is due is taken when its thread runs again,
 * which with hundreds of runnable threads may be after the recording ends.
 */
struct profile_explained {
	uint64_t sampled_ns, process_ns; /* process_ns 0: not known */
	uint64_t error_ns;               /* the tolerance described above */
	bool differs;
};
/* alive: living threads at the end; < 1: not known. */
struct profile_explained profile_explained(
	const struct profile *p, const struct profile_query *q, int64_t alive);
/*
 * Samples in each of the n seconds before `to`, oldest first; steps are spread evenly. -1: a gap,
 * or outside of the history.
 */
void profile_history(const struct profile *p, int event, uint32_t to, int64_t *counts, uint32_t n);

/*
 * Freezes the history before a second (a paused screen); PROFILE_NONE releases it. Answers about
 * frozen seconds do not change, however many samples follow: when memory is short, later seconds
 * are evicted first (profile_info: evicted_from), then those older than a minute before the frozen
 * one. May be moved to another second, but not beyond evicted_from.
 */
void profile_freeze(const struct profile *p, uint32_t second);

/*
 * Calls fn for each distinct (stack, thread, state) of a query. The order is unspecified but
 * deterministic. fn must not query.
 */
struct profile_part {
	uint32_t stack, thread;
	enum thread_state state;
	uint64_t count, weight;
	double events; /* statistically independent samples: repeated polls of one rest count once */
};
typedef void profile_each_fn(void *ctx, const struct profile_part *part);
void profile_each(
	const struct profile *p, const struct profile_query *q, profile_each_fn *fn, void *ctx);

#endif
