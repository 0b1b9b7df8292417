/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model: what was sampled, second by second, with every stack stored once.
 *
 *   method  (class, name, module...)             interned      "which function"
 *   frame   (method, type, line/bci)             interned      "that function, run so"
 *   stack   a node of a trie, root to leaf       interned      parent stack + frame
 *   slice   one second of one event: (stack, thread, count, weight)...
 *
 * The front end feeds it (profile_add_sample...) and views and exporters derive tables from a query over a range
 * of seconds. Slices older than the history are merged into coarser ones and then into the event's total;
 * profile_info tells what is left. Knows no curses, no files, no wire. One thread. Memory is the
 * profile's; derived tables are the caller's to free and stay valid while the profile grows.
 */
#ifndef JHOT_PROFILE_PROFILE_H
#define JHOT_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROFILE_EVENTS     8
#define PROFILE_HISTORY_S  600    /* unless profile_set_history says otherwise */
#define PROFILE_WAITS      16384u /* the youngest, that are kept */
#define PROFILE_NONE       UINT32_MAX
#define PROFILE_ROOT_STACK 0u /* the empty stack */
/*
 * Limits of what enters the model, whoever feeds it; profile_info counts what they cut. The agent keeps up to 2,048 frames,
 * and what a leaf waits for and the like comes on top.
 */
#define PROFILE_DEPTH_MAX 2304u /* frames of a stack, */
#define PROFILE_NAMES_MAX \
	(256u << 10) /* and bytes of their names; what is deeper ends in PROFILE_DEEPER */
#define PROFILE_DEEPER "[deeper frames]"
#define PROFILE_TEXT_MAX \
	4096u /* bytes of a text: of each part of a method's name, of a thread's name */

/* Events: the numbers are also the wire's and the keys' (1 = cpu). */
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

/* What a thread was doing when it was sampled; known for wall samples. */
enum thread_state {
	THREAD_STATE_NONE, /* not known */
	THREAD_ON_CPU,
	THREAD_RUNNABLE, /* it waits for a core */
	THREAD_SLEEPING, /* Thread.sleep, or asleep for a reason that is not known */
	THREAD_MONITOR,  /* it waits to enter a synchronized block */
	THREAD_WAITING,  /* Object.wait */
	THREAD_PARKED,
	THREAD_IO,      /* in a system call that reads, writes, accepts, polls */
	THREAD_CARRIER, /* a virtual thread that is ready to run and waits for a carrier thread */
	THREAD_STATES
};
struct thread_state_info {
	char letter;      /* of the S column */
	const char *name; /* "waits for a monitor" */
};
extern const struct thread_state_info thread_states[THREAD_STATES];

/* How a frame ran; the letter is shown in lists (screens: T column). */
enum frame_type {
	FRAME_COMPILED,      /* J: by C2, or the JVM's compiler in its place (Graal) */
	FRAME_C1,            /* J in lists, told apart in exports */
	FRAME_INLINED,       /* i */
	FRAME_COARSE,        /* ~: compiled, what ran may be another method that is inlined here */
	FRAME_INTERPRETED,   /* I */
	FRAME_JAVA,          /* J: how is not known */
	FRAME_NATIVE,        /* n */
	FRAME_VM,            /* v: libjvm, stubs */
	FRAME_KERNEL,        /* k */
	FRAME_CLASS,         /* c: class allocated or locked, as a leaf */
	FRAME_BREAK,         /* ?: why the stack ends here */
	FRAME_CLASS_OUTSIDE, /* o: class allocated outside of the thread's buffer */
	FRAME_WAITS,         /* w: where and why a thread waits, as a leaf */
	FRAME_C1_COARSE,     /* ~: as FRAME_COARSE, by C1 */
	FRAME_TYPES
};
static inline bool frame_is_java(unsigned type)
{
	return type <= FRAME_JAVA || type == FRAME_C1_COARSE;
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
	const char *signature; /* JVM form "(I)V", or ""; of FRAME_WAITS see profile_stack_io */
	const char *module;    /* "libz.so.1", "" for Java */
	/* What lists show: "java.util.HashMap.getNode", "[libz.so.1] inflate"; kernel and libjvm.so plain;
	 * a class alone (no name) dotted; a module alone "[libz.so.1]". */
	const char *full;
};
/* What the name of a lock's class begins with if a java.lang.Class is locked: then comes which one. */
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
	int tid; /* as the front end's /proc shows it if known, else the target's */
	enum thread_kind kind;
	int64_t java_tid;
	const char *name;
	int carrier; /* of a virtual thread: the tid of the thread that it was seen on last; 0: not known */
	uint32_t pool;   /* threads with names alike: the model's own, whatever is set */
	uint32_t serial; /* likewise: larger for who came later; 0: there is no such number */
};

struct profile;
struct profile *profile_new(void);
void profile_free(struct profile *p);

/* --- feeding ----------------------------------------------------------------------------------------- */

/*
 * Texts may be any bytes: the model keeps them clean (base/clean.h) and not longer than PROFILE_TEXT_MAX.
 * Interns a method or a frame. That changes no answer of the profile, which is therefore const here.
 */
uint32_t profile_method(const struct profile *p, const char *class_name, const char *name,
	const char *signature, const char *module);
uint32_t profile_frame(
	const struct profile *p, uint32_t method, enum frame_type type, unsigned bci, int line);
uint32_t profile_stack_child(struct profile *p, uint32_t parent, uint32_t frame);
/*
 * What a thread waits for in a system call: what it does, "socket read", "pipe write", "accept", and with whom,
 * "10.0.0.5:5432", "/var/log/x"; "" if that is not known, or the first says all.
 */
#define PROFILE_IO_WHAT 32
struct profile_io {
	char what[PROFILE_IO_WHAT];
	const char *where;
};
/*
 * Of a thread that waits: the stack with a leaf that says where in the program and why, "Customer.run sleeps", or with io
 * (NULL: not known) for what, "Customer.run: socket read 10.0.0.5:5432". With whom is left out where one place has too many
 * of them.
 */
uint32_t profile_stack_resting(
	struct profile *p, uint32_t stack, enum thread_state state, const struct profile_io *io);
/* Threads are numbered by the caller (small, dense); setting again renames. profile_thread_new: a number that none has. */
uint32_t profile_thread_new(struct profile *p);
void profile_thread_set(struct profile *p, uint32_t thread, const struct profile_thread *t);
/* CPU time that the process used in this second, while all of it was sampled for EVENT_CPU. */
void profile_add_process(struct profile *p, uint32_t second, uint64_t cpu_ns);
/* Seconds count from the profile's start (any origin the feeder likes) and must not go back by > 2. */
struct profile_sample {
	uint32_t stack, thread;
	enum thread_state state;
	uint32_t count;
	uint64_t weight;
};
void profile_add_sample(
	struct profile *p, int event, uint32_t second, const struct profile_sample *sample);
/*
 * What a thread did while others waited for locks that it held: of EVENT_LOCK, but beside its samples, which are the
 * waits. The weight is theirs, the state has no meaning. Waits whose holder is not known are on a stack that says so.
 */
void profile_add_held(struct profile *p, uint32_t second, const struct profile_sample *sample);
/*
 * How an event's weight lies in a second, which its samples do not tell: so much of it is of [from_ns, to_ns) since second 0,
 * and evenly so. Told behind those samples; what is held in steps has no such parts.
 */
#define PROFILE_PULSE 20 /* parts of a second: of 50 ms */
void profile_add_pulse(
	struct profile *p, int event, uint64_t from_ns, uint64_t to_ns, uint64_t weight);
/* Time has come to this second (also without samples): moves "now", merges what is too old. */
void profile_advance(struct profile *p, uint32_t second);
/*
 * A thread waits for a lock. Times are ns since second 0. Setting it again with the same thread, lock and
 * since_ns tells more of the same wait: its owner, its end.
 */
#define PROFILE_STILL UINT64_MAX
struct profile_wait {
	uint32_t thread, owner;      /* owner: who holds it, PROFILE_NONE = not known */
	uint32_t method;             /* the name of the lock's class, PROFILE_NONE = not known */
	uint64_t lock;               /* tells one lock from another, says nothing else */
	uint64_t since_ns, until_ns; /* until_ns: PROFILE_STILL while it waits */
	uint64_t before_ns;          /* what it had lasted by second 0 */
	bool at_least;               /* it may have begun before that */
};
void profile_wait_set(struct profile *p, const struct profile_wait *w);
/* Nobody is known to wait any more: locks are not sampled from here on. */
void profile_wait_end_all(struct profile *p, uint64_t ns);
/* Nothing was sampled in [from, to): drawn as a gap. */
void profile_gap(struct profile *p, uint32_t from, uint32_t to);
/* What a user event (EVENT_USER_FIRST ..) is: its name, the unit of its weights ("ns": they are time). Samples of another
 * that had the number are forgotten. */
void profile_event_set(
	struct profile *p, int event, const char *name, const char *unit, uint64_t interval);
/* The event is sampled from this second on, or no longer after it; told as often as one likes. Of one that nobody told of: always. */
void profile_event_runs(struct profile *p, int event, uint32_t second, bool on);
/* Samples that are added of this event were taken at this interval. */
void profile_interval_add(struct profile *p, int event, uint64_t interval);
/* Wall clock of second 0, for labels. */
void profile_set_start(struct profile *p, uint64_t wall_ns);

/* Bytes that the model may hold before it merges and drops; the default is 144 MiB. */
void profile_set_budget(struct profile *p, size_t bytes);
/* How many seconds are held, as far as the budget allows. */
void profile_set_history(struct profile *p, uint32_t seconds);

/*
 * Whatever no held second has and is little of all that was sampled leaves when there is much of it: its samples go to
 * "[earlier]" below the callers that stay, those of threads that live no more to "[threads that ended]". Numbers of what
 * left are given again, but not within a minute after they were in any answer, and not while a reader holds the seconds
 * that they are in (profile_hold). Whoever has numbers for longer is a keeper: it is asked, kind by kind, to keep what it
 * has (of threads those that live, too), and then, leaving, to let go of the rest before that is gone.
 */
enum profile_kind {
	PROFILE_STACKS,
	PROFILE_FRAMES,
	PROFILE_METHODS,
	PROFILE_THREADS,
	PROFILE_POOLS,
	PROFILE_KINDS
};
typedef void profile_keeper_fn(void *ctx, enum profile_kind kind, bool leaving);
#define PROFILE_KEEPERS 5
void profile_keeper_add(const struct profile *p, profile_keeper_fn *fn, void *ctx);
void profile_keeper_remove(const struct profile *p, const void *ctx);
/* For keepers, of the kind that they are asked about; any number may be given. */
void profile_keep(const struct profile *p, uint32_t number);
bool profile_keeps(const struct profile *p, uint32_t number);

/* --- reading ----------------------------------------------------------------------------------------- */

/* What the get functions return is never NULL ("unknown" for a number that was not given out) and valid
 * until the next feeding call; its strings live as long as the profile. */

const struct profile_method *profile_get_method(const struct profile *p, uint32_t method);
/* How it ran, as far as it tells itself: for a row that has no sample. */
enum frame_type profile_method_type(const struct profile_method *method);
const struct profile_frame *profile_get_frame(const struct profile *p, uint32_t frame);
struct profile_stack profile_get_stack(const struct profile *p, uint32_t stack);
const struct profile_thread *profile_get_thread(const struct profile *p, uint32_t thread);
/* What a stack of wall waits for; false: that is not known, or it is in no such call. */
bool profile_stack_io(const struct profile *p, uint32_t stack, struct profile_io *out);
/* Is it of the program's own: Java, and of none of the libraries that every program uses? */
bool profile_method_own(const struct profile_method *method);
bool profile_frame_own(const struct profile *p, uint32_t frame);
/* Is it a function that no table names? It is called by where it begins in its file, "0x1234". */
bool profile_method_nameless(const struct profile_method *method);
uint32_t profile_method_count(const struct profile *p);
uint32_t profile_thread_count(const struct profile *p);
/* "http-exec-*" for http-exec-12, "GC threads" for those of the collector; a thread of its own: its name. */
const char *profile_pool_name(const struct profile *p, uint32_t pool);
/* The same of any name. */
#define PROFILE_PATTERN 256
void profile_name_pattern(const char *name, char out[PROFILE_PATTERN]);
/*
 * What tells a thread from others of its name: its tid behind this word, or a virtual thread's number, "#31"; "" if
 * that stands in its name.
 */
#define PROFILE_MARK 40
const char *profile_thread_mark(
	const struct profile_thread *t, const char *word, char out[PROFILE_MARK]);
#define PROFILE_VIRTUAL "virtual-#" /* and its number: a virtual thread without a name */
/* profile_events, but a user event as it was set. p may be NULL. */
const struct profile_event *profile_get_event(const struct profile *p, int event);

/* At which intervals an event was sampled; all 0: it was not. */
struct profile_intervals {
	uint64_t least, most;
};
struct profile_intervals profile_get_intervals(const struct profile *p, int event);
/*
 * What one sample stands for where their number is shown, if not all stand for the same: the least interval, by which
 * weights are divided. 0: samples are counted as they came.
 */
uint64_t profile_sample_weight(const struct profile *p, int event);

struct profile_info {
	uint32_t now;    /* the last second begun */
	uint32_t oldest; /* the first second still held as a slice */
	uint64_t start_wall_ns;
	uint64_t bytes; /* held by the model */
	uint32_t stacks, slice_entries;
	uint32_t merged_before; /* seconds before this one are held in 10 s steps */
	uint32_t evicted_from;  /* [from, to) left the history for want of memory, while a reader */
	uint32_t evicted_to;    /* holds what is before it; from = to: nothing did */
	uint32_t swept;         /* rises whenever numbers may mean something else from now on */
	uint64_t cut_samples;   /* whose stack ends in PROFILE_DEEPER */
	uint64_t cut_texts;     /* that were longer than PROFILE_TEXT_MAX */
};
struct profile_info profile_info(const struct profile *p);

/* What a thread waited for longest in [from, to) seconds: locks of one class that one thread held; false: for nothing. */
struct profile_waited {
	uint32_t method, owner; /* as in struct profile_wait */
	uint64_t ns, all_ns;    /* for that, and for all locks */
};
bool profile_waited(const struct profile *p, uint32_t thread, uint32_t from, uint32_t to,
	struct profile_waited *most);
/* What the thread waited for last in the second that ends with `to`; false: for nothing. */
bool profile_wait_at(
	const struct profile *p, uint32_t thread, uint32_t to, struct profile_wait *out);

/*
 * Rounds the window [*from, *to) outwards to whole 10 s steps where it lies in merged history: the model does not know
 * when within a step a sample was taken. Leaves from = 0 ("everything before to") and unmerged seconds as they are.
 */
void profile_align(const struct profile *p, uint32_t *from, uint32_t *to);

#define PROFILE_ANY_THREAD UINT32_MAX

/*
 * A question: which event, seconds [from, to), which thread. from = 0 means everything before `to`,
 * history that was merged away included (exact while `to` lies within what is held). A 10 s step belongs
 * to the window in which it begins, so adjacent windows count each sample once. A window that is shown to a
 * user goes through profile_align() first.
 */
struct profile_query {
	int event;
	uint32_t from, to;
	uint32_t thread;
	bool holders;          /* of EVENT_LOCK: not who waited, but what holders did meanwhile */
	bool by_weight;        /* values are weights (ns, bytes); else sample counts */
	uint32_t pool;         /* only threads of this pool; 0 = all */
	unsigned states;       /* only these, a bit per enum thread_state; 0 = all */
	struct filter *filter; /* filter.h; NULL: all, as it was sampled */
	const struct profile_snapshot *snapshot; /* in place of the seconds; or NULL */
};

/* All of an event: every second and thread, in samples. */
static inline struct profile_query profile_whole(int event)
{
	return (struct profile_query){
		.event = event, .to = UINT32_MAX, .thread = PROFILE_ANY_THREAD};
}

/*
 * The samples of a query's seconds, kept however old they get: what later ones are compared with. Set in a query it
 * stands for its seconds; thread and filter apply as ever. The caller's; 24 bytes per distinct stack and thread.
 */
struct profile_snapshot *profile_snapshot_new(
	const struct profile *p, const struct profile_query *q);
void profile_snapshot_free(struct profile_snapshot *s);

/* Another number whenever a query's answer may be another one. */
uint64_t profile_stamp(const struct profile *p, const struct profile_query *q);
/* How many (stack, thread, state) the last question was answered from: what the next costs. */
uint32_t profile_asked(const struct profile *p);

/* Sum over a query: samples and weight. */
struct profile_sum {
	uint64_t count, weight;
};
struct profile_sum profile_sum(const struct profile *p, const struct profile_query *q);
/*
 * The parts of a second beside the one in which an event has most, which is PROFILE_PULSE_MOST: of all its samples, whatever
 * a query chooses among them. false: that is not known.
 */
#define PROFILE_PULSE_MOST 127
bool profile_pulse(const struct profile *p, int event, uint32_t second, uint8_t out[PROFILE_PULSE]);
/*
 * The seconds that a query's samples are of, which is what rates divide by: those that are held, in which the event was
 * sampled and nothing stood still. A window of a time that is held in steps of 10 s has the steps that begin in it.
 */
uint32_t profile_covered(const struct profile *p, const struct profile_query *q);
/*
 * A reader wants to be able to ask for all since these seconds (0: none) of an event, however long: what leaves the
 * history before and after them is told apart. Others that were asked for are forgotten.
 */
void profile_mark(const struct profile *p, int event, uint32_t second, uint32_t other);
/* Of these what stands in code that does not tell its inlined methods apart (FRAME_COARSE, FRAME_C1_COARSE). */
struct profile_sum profile_coarse(const struct profile *p, const struct profile_query *q);
/*
 * Of EVENT_CPU: the CPU time of its samples beside that of the process over the same seconds, of all threads, whatever the
 * query chooses among them. It differs if that is more than chance (three standard errors), the rest that no sampling
 * sees, and an interval of each living thread would explain: a sample that is due is taken when its thread runs again,
 * which, where hundreds want to run, is not before a recording ends.
 */
struct profile_explained {
	uint64_t sampled_ns, process_ns; /* the latter 0: not known */
	uint64_t error_ns;               /* what chance and those explain */
	bool differs;
};
/* alive: threads that live at the end; fewer than 1: not known. */
struct profile_explained profile_explained(
	const struct profile *p, const struct profile_query *q, int64_t alive);
/* Samples of each of the last n seconds before `to` (oldest first): for sparklines. -1 marks a gap, and
 * what lies outside the history. */
void profile_history(const struct profile *p, int event, uint32_t to, int64_t *counts, uint32_t n);

/*
 * A reader looks at what was before this second, and may for long (a frozen screen). Until it releases that with
 * PROFILE_NONE, all answers about seconds before it stay as they are, however many samples follow: where memory is short, those
 * that follow leave the history first (profile_info: evicted_from), then what is older than a minute before it. It may be
 * called again with another second, but not with one after evicted_from if anything was evicted.
 */
void profile_hold(const struct profile *p, uint32_t second);

/*
 * profile_each: visit the distinct (stack, thread, state) of a query, merged over its seconds; order
 * unspecified but the same for the same profile.
 */
struct profile_part {
	uint32_t stack, thread;
	enum thread_state state;
	uint64_t count, weight;
	double events; /* independent ones among the samples: of a thread that rests, its rests */
};
typedef void profile_each_fn(void *ctx, const struct profile_part *part);
void profile_each(
	const struct profile *p, const struct profile_query *q, profile_each_fn *fn, void *ctx);

#endif
