/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THE format: what the agent and a front end share, byte for byte.
 *
 * One memfd, created and sealed (size) by the agent, mapped by both:
 *
 *   0        4096      8192      12288          12288+S        +R
 *   | header | control | status  | cursors page | ring data R  | staging area |
 *     agent    front end agent     one line each  agent          front end
 *     once
 *
 * Who writes what is fixed per area, above. Everything is little-endian as the host is; both sides run on
 * one host. Times are CLOCK_MONOTONIC ns unless named wall. Fields marked _Atomic are the only ones read
 * while the other side may write. Readers trust nothing: offsets, sizes and strings are checked, every
 * value is read once. Unknown record types are skipped by size; a different major is refused.
 * Included by both sides, so it includes nothing of either. doc/wire.md explains it in words.
 */
#ifndef JHOT_WIRE_LAYOUT_H
#define JHOT_WIRE_LAYOUT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_MAGIC         0x544f484aul /* "JHOT" */
#define WIRE_MAJOR         1
#define WIRE_MINOR         7
#define WIRE_MEMFD_PREFIX  "jhot-" /* memfd name = prefix + token */
#define WIRE_TOKEN_MAX     32      /* with NUL; [0-9a-z]+ */
#define WIRE_PAGE          4096u
#define WIRE_RING_BYTES    (2u << 20)
#define WIRE_STAGING_BYTES (256u << 10)

/* --- the agent's face to the JVM ---------------------------------------------------------------------- */

/*
 * What Agent_OnAttach returns, which the attach reply shows as its return code: numbers never change. Its options are
 * "token=TOKEN[,take=1][,walker=agct]". It checks them, starts the agent's own thread and returns at once; the session
 * begins when the memfd "jhot-TOKEN" can be found in /proc/PID/fd.
 */
enum agent_result {
	AGENT_OK = 0,
	AGENT_BAD_OPTIONS = 200,
	AGENT_BUSY = 201,     /* another session is alive, see its header */
	AGENT_NO_MEMFD = 202, /* Linux too old, no memory or descriptor left */
	AGENT_NO_MEMORY = 203,
	AGENT_NO_THREAD = 204,
	AGENT_NO_JVMTI = 205,
};

/* --- events ----------------------------------------------------------------------------------------- */

/* What is sampled. The weight of a sample: ns for cpu, wall and lock, bytes for alloc, counts for perf. */
enum wire_event {
	WIRE_CPU = 0,
	WIRE_ALLOC = 1,
	WIRE_LOCK = 2,
	WIRE_WALL = 3,
	WIRE_USER_FIRST = 4, /* 4..7: perf events by name */
	WIRE_EVENTS = 8,
};

enum wire_engine {
	WIRE_ENGINE_NONE = 0,
	WIRE_ENGINE_PERF = 1,   /* perf_events, one fd per thread; kernel stacks where allowed */
	WIRE_ENGINE_CTIMER = 2, /* per-thread CPU timers */
	WIRE_ENGINE_WALL = 3,
	WIRE_ENGINE_ALLOC = 4,
	WIRE_ENGINE_LOCK = 5,
	WIRE_ENGINE_TRAP = 6, /* breakpoints where JDK 8 tells of allocations */
};

enum wire_event_state {
	WIRE_EVENT_OFF = 0,
	WIRE_EVENT_ON = 1,
	WIRE_EVENT_FAILED = 2, /* note says why */
};

/* --- header: page 0, written once by the agent before the memfd can be found ------------------------ */

struct wire_header {
	uint32_t magic;
	uint16_t major;
	uint16_t minor;
	uint32_t header_bytes; /* sizeof(struct wire_header) of the writer */
	uint32_t reserved;
	uint64_t features; /* none defined yet */
	uint64_t map_bytes;
	uint32_t control_off, control_bytes;
	uint32_t status_off, status_bytes;
	uint32_t cursors_off, cursors_bytes;
	uint32_t ring_off, ring_bytes; /* ring_bytes: a power of two */
	uint32_t staging_off, staging_bytes;
	uint64_t start_mono_ns, start_wall_ns; /* one instant, read on both clocks */
	int32_t target_pid;                    /* as the target sees itself */
	uint32_t page_bytes;                   /* of the target's kernel */
	char writer[64];                       /* "libjhot VERSION HASH" */
	char vm[128];                          /* java.vm.name and version */
	char token[WIRE_TOKEN_MAX];
};

/* --- control: page 1, written by the front end ------------------------------------------------------ */

enum wire_op {
	WIRE_OP_NONE = 0,
	WIRE_OP_EVENT_START = 1, /* event, interval (0 = default), flags, arg = engine or 0 */
	WIRE_OP_EVENT_STOP = 2,  /* event */
	WIRE_OP_DETACH = 3,      /* stop everything, publish what is left, leave */
	WIRE_OP_UNWIND = 4,      /* arg = bytes in the staging area: struct wire_unwind_chunk... */
	WIRE_OP_FLUSH = 5,       /* publish now */
	WIRE_OP_THREADS = 6,     /* text: sample only threads whose names match, "" = all */
	WIRE_OP_BUDGET = 7, /* arg: thousandths of a core that sampling may cost, 0 = any; flags */
	WIRE_OP_DEPTH = 8,  /* arg = WIRE_DEPTH(): what is kept of deep stacks; since 1.1 */
};

/*
 * Of stacks with more than `limit` frames `top` are kept from the leaf on and `root` of the outermost, a CUT frame
 * between them; top + root < limit <= WIRE_DEPTH_MAX. root 0: top <= limit, and the trace is TRUNCATED.
 */
#define WIRE_DEPTH_MAX 2048u
#define WIRE_DEPTH(limit, top, root) \
	((uint64_t)(limit) | (uint64_t)(top) << 16 | (uint64_t)(root) << 32)
#define WIRE_DEPTH_LIMIT(arg) ((uint32_t)(arg)&0xffffu)
#define WIRE_DEPTH_TOP(arg)   ((uint32_t)((arg) >> 16) & 0xffffu)
#define WIRE_DEPTH_ROOT(arg)  ((uint32_t)((arg) >> 32) & 0xffffu)

/* Flags of WIRE_OP_EVENT_START. */
#define WIRE_START_LIVE        1u /* alloc: only objects that survived a collection */
#define WIRE_START_USER_ONLY   2u /* no kernel frames, no samples in the kernel */
#define WIRE_START_KERNEL_ONLY 4u
#define WIRE_START_CHOSEN      8u /* nobody asked for this interval, as for none (0) */

/* Flags of WIRE_OP_BUDGET. */
#define WIRE_BUDGET_CHOSEN 1u /* only of events whose interval nobody asked for */

/*
 * What perf is to count, for WIRE_OP_EVENT_START of WIRE_USER_FIRST and above; as in perf_event_open(2). For
 * WIRE_ALLOC of a JDK 8: type PERF_TYPE_BREAKPOINT, config and config1 the addresses of libjvm's functions that
 * tell of an object in a new thread-local buffer and outside of them, config2 which of their arguments (0 = the
 * class) is the size. All 0 where the JVM needs none of this.
 */
#define WIRE_PERF_BREAKPOINT 5u /* PERF_TYPE_BREAKPOINT */
struct wire_perf_event {
	uint32_t type;
	uint32_t bp_type;
	uint64_t config, config1, config2;
};

struct wire_command {
	uint32_t op;
	uint32_t event;
	uint64_t interval; /* in the event's unit: ns or bytes */
	uint64_t flags;    /* per op: WIRE_START_* */
	uint64_t arg;
	struct wire_perf_event perf;
	char text[256]; /* per op: event name, thread pattern */
};

#define WIRE_HOLDER_DIED 0x40000000u /* FUTEX_OWNER_DIED */

struct wire_control {
	/* The lease: beat moves every 250 ms while the front end lives. */
	_Atomic uint32_t beat;
	_Atomic uint32_t parked;  /* 1 = ^Z: engines off, session kept */
	uint64_t holder_start_ns; /* wall clock, for "held since" */
	int32_t holder_pid;       /* as the front end sees itself; for people only */
	char holder_name[60];     /* user@tty */

	/* One command at a time: fill it, store seq + 1 with release, futex-wake seq; done when
	 * status.done_seq equals it. */
	_Atomic uint32_t command_seq;
	/*
	 * A word of the kernel's list of robust locks (set_robust_list): the number of the thread that moves beat, as
	 * it sees itself; WIRE_HOLDER_DIED is added by the kernel when that thread ends, however it does. 0: unknown.
	 */
	_Atomic uint32_t holder;
	struct wire_command command;

	/* What the holder calls WIRE_USER_FIRST and those after it, "" = nothing; for people only. */
	char event_names[WIRE_EVENTS - WIRE_USER_FIRST][64];
};

/* --- status: page 2, written by the agent ----------------------------------------------------------- */

enum wire_agent_state {
	WIRE_AGENT_STARTING = 0,
	WIRE_AGENT_READY = 1,
	WIRE_AGENT_LEFT = 2, /* the session is over: detach, lease lost, or the JVM ends */
};

struct wire_event_status {
	_Atomic uint32_t state;  /* enum wire_event_state */
	_Atomic uint32_t engine; /* enum wire_engine */
	_Atomic uint64_t interval;
	_Atomic uint64_t samples; /* taken by handlers, lost ones included */
	_Atomic uint64_t lost;    /* sum of this event's drops; the counters name them */
	char note[96]; /* written before state; what is degraded and why, "" if nothing */
};

struct wire_counter {
	char name[24]; /* written before counters_used grows */
	_Atomic uint64_t value;
};

#define WIRE_COUNTERS 48

/*
 * What walking a stack costs, of those with at most so many frames (user frames, deeper than the row before): from
 * registers to frames with names. The copying of names that no stack had before is not in it, but told apart.
 */
struct wire_walk_cost {
	_Atomic uint32_t depth_max; /* UINT32_MAX: no limit */
	_Atomic uint32_t mean_ns, median_ns, p99_ns;
	_Atomic uint64_t walks;
};

#define WIRE_WALK_CLASSES 9 /* all walks; up to 8 frames, 16, 32, 64, 128, 256, 512; deeper ones */

/* Whether code that is compiled now tells its inlined methods apart between safepoints. */
enum wire_debug_info {
	WIRE_DEBUG_INFO_UNKNOWN = 0,
	WIRE_DEBUG_INFO_OWN = 1,  /* the JVM was started so */
	WIRE_DEBUG_INFO_SET = 2,  /* for this session */
	WIRE_DEBUG_INFO_NONE = 3, /* it was started without, or does not export the flag */
};

struct wire_status {
	_Atomic uint32_t agent_state;
	_Atomic uint32_t publish_seq; /* futex word: moves after each publication */
	_Atomic uint32_t done_seq;    /* the last finished command */
	_Atomic int32_t done_result;  /* 0 or -errno */
	char done_text[240];          /* its failure in a sentence */

	char walker[24];               /* "vmstructs" or "agct" */
	char walker_note[136];         /* why not vmstructs; "" if it is */
	_Atomic uint64_t cost_ns;      /* CPU time spent in handlers, callbacks and agent threads */
	_Atomic uint64_t memory_bytes; /* mapped for this session, the shared map included */
	struct wire_event_status events[WIRE_EVENTS];
	_Atomic uint32_t counters_used;
	_Atomic uint32_t debug_info;                 /* enum wire_debug_info */
	struct wire_counter counters[WIRE_COUNTERS]; /* every kind of loss or fault */
	struct wire_walk_cost walk_cost[WIRE_WALK_CLASSES];
	struct wire_walk_cost name_cost; /* of naming stacks, new names in them; of any depth */
	_Atomic uint64_t code_used,
		code_bytes; /* how full the code cache is; 0: not known, or an older recording */
};

/* --- staging: unwind rows on their way down, written by the front end -------------------------------- */

/*
 * WIRE_OP_UNWIND hands over pieces of modules' rows, one after the other; those of a module come in order, from
 * offset 0 on, without others' between. With a module's last piece the agent checks the whole, and after the
 * command puts it to use. It takes pieces until one is wrong or finds no room: the result is how many it took,
 * or -errno if not even the first. total_bytes 0: forget this module's rows.
 */
struct wire_unwind_chunk {
	uint32_t module;        /* the id of its MODULE record */
	uint32_t total_bytes;   /* of all pieces */
	uint32_t offset, bytes; /* of this piece, multiples of 4 */
	char data[];
};

/* The pieces together: this head, u32 pages[page_count + 1], u32 rows[row_count], rules[rule_count]. */
struct wire_unwind_rows {
	uint32_t bytes;      /* of the whole */
	uint32_t page_first; /* file offset >> 16 of the first 64 KB page */
	uint32_t page_count; /* pages[i]: the first row of that page; the last entry: row_count */
	uint32_t row_count;  /* a row: WIRE_UNWIND_ROW; ascending in its page */
	uint32_t rule_count; /* <= 65536 */
	uint32_t pages[];
};
#define WIRE_UNWIND_ROW(offset, rule) (((uint32_t)(offset)&0xffffu) | (uint32_t)(rule) << 16)

/* How to find the caller; walk/frames/unwind.h says what the numbers mean. */
struct wire_unwind_rule {
	uint8_t cfa, fp, ra;
	uint8_t reserved;
	int32_t cfa_offset;
	int16_t fp_offset, ra_offset;
};

#define WIRE_UNWIND_BUDGET (1u << 20) /* bytes of rows that an agent keeps, all modules together */

/* --- ring -------------------------------------------------------------------------------------------- */

/*
 *   tail (front end)            head (agent)          both count bytes since the start and never wrap;
 *     v                            v                  position = cursor & (ring_bytes - 1);
 *  ...[rec][rec][rec][rec][pad.....]|                 a record never crosses the end: a PAD fills up
 */
struct wire_cursors {
	_Alignas(64) _Atomic uint64_t head;
	_Alignas(64) _Atomic uint64_t tail;
	_Alignas(64) char end[64];
};

struct wire_record {
	uint32_t size; /* of the whole record, a multiple of 8, this header included */
	uint16_t type;
	uint16_t flags;
};

#define WIRE_RECORD_MAX 65536u

/* --- frames inside a trace: 64 bits, kind in the top byte ------------------------------------------- */

enum wire_frame_kind {
	WIRE_FRAME_NONE = 0,
	WIRE_FRAME_INTERPRETED = 1, /* method, bci */
	WIRE_FRAME_C1 = 2,          /* method, bci */
	WIRE_FRAME_C2 = 3,          /* method, bci; the highest level: C2, or Graal in its place */
	WIRE_FRAME_INLINED = 4,     /* method, bci */
	WIRE_FRAME_JAVA = 5,        /* method, bci; how it ran is not known (AsyncGetCallTrace) */
	WIRE_FRAME_NATIVE = 6,      /* module id << 40 | file offset */
	WIRE_FRAME_RAW = 7,         /* pc in no module: JIT memory of others, unmapped */
	WIRE_FRAME_KERNEL = 8,      /* pc, low 56 bits (sign-extend) */
	WIRE_FRAME_STUB = 9,   /* method id whose name is the stub's ("arraycopy", "I2C/C2I") */
	WIRE_FRAME_CLASS = 10, /* method id whose name is a class: what was allocated or locked */
	WIRE_FRAME_BREAK = 11, /* method id whose name is the reason: [unknown...] or [break_...] */
	WIRE_FRAME_CUT = 13,   /* so many frames (two digits) were left out; since 1.1 */
	/* a class that was allocated outside of the thread's buffer; FRAME_CLASS: inside, or not known */
	WIRE_FRAME_CLASS_OUTSIDE = 14,
	/* method, bci: compiled, but another method that is inlined here may be the one that ran; since 1.2 */
	WIRE_FRAME_COARSE = 15,
	/*
	 * method id whose name is what the system call waits for that the thread is in, as the leaf of wall; since 1.4.
	 * What it does, and behind a tab, if that is known, with whom: "socket read\t10.0.0.5:5432", "pipe write".
	 */
	WIRE_FRAME_IO = 16,
};

#define WIRE_FRAME(kind, payload) \
	(((uint64_t)(kind) << 56) | ((uint64_t)(payload) & ((1ull << 56) - 1)))
#define WIRE_FRAME_KIND(f)    ((unsigned)((f) >> 56))
#define WIRE_FRAME_PAYLOAD(f) ((f) & ((1ull << 56) - 1))
#define WIRE_FRAME_IS_JAVA(kind)                                            \
	(((kind) >= WIRE_FRAME_INTERPRETED && (kind) <= WIRE_FRAME_JAVA) || \
		(kind) == WIRE_FRAME_COARSE)
/* method frames: bci in bits 32..47, 0xffff = not known; method id in bits 0..31 */
#define WIRE_METHOD_FRAME(kind, method, bci) \
	WIRE_FRAME(kind, ((uint64_t)((bci)&0xffff) << 32) | (uint32_t)(method))
#define WIRE_FRAME_METHOD(f)         ((uint32_t)(f))
#define WIRE_FRAME_BCI(f)            ((unsigned)((f) >> 32) & 0xffff)
#define WIRE_BCI_UNKNOWN             0xffffu
#define WIRE_NATIVE_FRAME(module, o) WIRE_FRAME(WIRE_FRAME_NATIVE, ((uint64_t)(module) << 40) | (o))
#define WIRE_FRAME_MODULE(f)         ((unsigned)((f) >> 40) & 0xffff)
#define WIRE_FRAME_OFFSET(f)         ((f) & ((1ull << 40) - 1))

/* --- records ----------------------------------------------------------------------------------------- */

/* WIRE_RECORDS(X): X(NAME, number, struct) for every type; a new record is a row, a struct, an assert. */
#define WIRE_RECORDS(X)           \
	X(PAD, 0, wire_record)    \
	X(MODULE, 1, wire_module) \
	X(METHOD, 2, wire_method) \
	X(THREAD, 3, wire_thread) \
	X(TRACE, 4, wire_trace)   \
	X(DELTAS, 5, wire_deltas) \
	X(TICK, 6, wire_tick)     \
	X(NOTE, 7, wire_note)     \
	X(WAIT, 8, wire_wait)

#define WIRE_RECORD_ENUM(name, number, type) WIRE_REC_##name = number,
enum wire_record_type { WIRE_RECORDS(WIRE_RECORD_ENUM) };

/* An executable mapping of a file. Native frames name it by id; ids count up from 1, never reused. */
struct wire_module {
	struct wire_record rec;
	uint32_t id;
	uint32_t path_bytes;  /* without NUL */
	uint64_t start, end;  /* where it is mapped */
	uint64_t file_offset; /* of start */
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	char path[]; /* as in /proc/PID/maps; "[vdso]" */
};

/* A name that frames use: a Java method, or with only name set a stub, a class, a reason. */
struct wire_method {
	struct wire_record rec;
	uint32_t id; /* counts up from 1 */
	uint16_t class_bytes, name_bytes, signature_bytes;
	uint16_t flags;      /* WIRE_METHOD_... */
	uint32_t line_bytes; /* of the line table behind the texts, 0 = none is known */
	/* Class (java/util/HashMap), name, signature, one after the other, modified UTF-8; then HotSpot's
	 * compressed line table as the JVM has it, its ending 0 included. */
	char text[];
};
#define WIRE_METHOD_LINES_20 1u /* the table is written as since JDK 20: no byte of a number is 0 */

enum wire_thread_kind {
	WIRE_THREAD_NATIVE = 0, /* not the JVM's */
	WIRE_THREAD_JAVA = 1,
	WIRE_THREAD_COMPILER = 2,
	WIRE_THREAD_GC = 3,
	WIRE_THREAD_VM = 4,    /* VM Thread, watcher, signal dispatcher */
	WIRE_THREAD_AGENT = 5, /* jhot's own */
	WIRE_THREAD_VIRTUAL = 6,
};

/*
 * A thread, sent before its first trace and again when its name becomes known; one that is renamed has another id
 * from then on. A virtual thread's id is made of its number; it is sent before each of its traces, with the tid of the
 * carrier that it was seen on last, and without a name if it has none or that was not to be read.
 */
#define WIRE_VIRTUAL_ID(java_tid) (0x80000000u | (uint32_t)(java_tid))
#define WIRE_IS_VIRTUAL(id)       ((id) >> 31)
struct wire_thread {
	struct wire_record rec;
	uint32_t id;    /* counts up from 1; a reused tid gets a new one, so does a new name */
	int32_t os_tid; /* in the target's PID namespace */
	uint32_t kind;
	uint32_t name_bytes;
	int64_t java_tid; /* Thread.getId, 0 if not known */
	char name[];
};

/* A distinct stack. Ids count up from 1; the agent may forget one and send the same stack as a new id. */
struct wire_trace {
	struct wire_record rec;
	uint32_t id;
	uint32_t thread;
	uint16_t event;
	uint16_t flags; /* WIRE_TRACE_* */
	uint32_t frame_count;
	uint64_t frames[]; /* leaf first */
};
#define WIRE_TRACE_TRUNCATED 1u /* deeper than the limit: the root is missing */
/* what the thread was doing, in bits 4..7 */
#define WIRE_TRACE_STATE(flags)    ((unsigned)(flags) >> 4 & 15)
#define WIRE_TRACE_IN_STATE(state) ((unsigned)(state) << 4)

/* Equal stacks in different states are different traces. */
enum wire_thread_state {
	WIRE_STATE_NONE = 0,     /* not known, or of another event than wall */
	WIRE_STATE_ON_CPU = 1,   /* it runs */
	WIRE_STATE_RUNNABLE = 2, /* it waits for a core */
	WIRE_STATE_SLEEPING = 3, /* Thread.sleep, or asleep for a reason that is not known */
	WIRE_STATE_MONITOR = 4,  /* it waits to enter a synchronized block */
	WIRE_STATE_WAITING = 5,  /* Object.wait */
	WIRE_STATE_PARKED = 6,   /* LockSupport.park */
	WIRE_STATE_IO = 7,       /* in a system call that reads, writes, accepts, polls */
	WIRE_STATE_HOLDS =
		8, /* of lock: not a wait, but who holds what others wait for; since 1.6 */
	WIRE_STATES = 9,
};

struct wire_delta {
	uint32_t trace;
	uint32_t count;  /* samples; of lock: waits, 0 of one that was counted before and goes on */
	uint64_t weight; /* in the event's unit */
};

/* What happened since the last DELTAS of this event. Several may precede one TICK. */
struct wire_deltas {
	struct wire_record rec;
	uint64_t time_ns;
	uint64_t interval; /* in force */
	uint16_t event;
	uint16_t reserved;
	uint32_t delta_count;
	struct wire_delta deltas[];
};

/* Ends one publication: everything before it happened up to time_ns. */
struct wire_tick {
	struct wire_record rec;
	uint64_t time_ns;
	uint64_t since_ns; /* start of what this publication covers; a full ring makes it long */
	/* CPU time that the process used in it, less the agent's, while all of it was sampled. Recordings may lack it. */
	uint64_t cpu_ns;
	/*
	 * An instant about half way, 0 = none, and what each event's samples (without WIRE_STATE_HOLDS) had weighed by
	 * then. A sample that comes just then may be missing in it. Since 1.7.
	 */
	uint64_t half_ns;
	uint64_t half_weight[WIRE_EVENTS];
};

enum wire_note_kind {
	WIRE_NOTE_TEXT = 0, /* arg_ns: 0, or 1 + the event on whose line it stands as well */
	WIRE_NOTE_GAP = 1,  /* nothing was sampled between arg_ns and time_ns (paused) */
};

struct wire_note {
	struct wire_record rec;
	uint64_t time_ns;
	uint64_t arg_ns;
	uint32_t kind;
	uint32_t text_bytes;
	char text[];
};

/* Who waits for whom now, while the lock event is on: sent when a wait is long enough, and when it ends. */
struct wire_wait {
	struct wire_record rec;
	uint64_t time_ns;
	uint64_t since_ns; /* when the wait began */
	uint64_t lock;     /* address of the monitor or synchronizer, to tell one from another */
	uint32_t thread;   /* who waits */
	uint32_t owner;    /* the thread that holds it, 0 = not known */
	uint32_t method;   /* id of the name of the lock's class, 0 = not known */
	uint32_t ended;    /* 1: it waits no longer */
	/* 1: it was there at the first look, and began at since_ns or before. */
	uint32_t at_least;
	uint32_t reserved;
};

/* --- pins -------------------------------------------------------------------------------------------- */

_Static_assert(sizeof(struct wire_header) == 320, "wire_header");
_Static_assert(offsetof(struct wire_header, writer) == 96, "wire_header.writer");
_Static_assert(sizeof(struct wire_perf_event) == 32, "wire_perf_event");
_Static_assert(sizeof(struct wire_command) == 320, "wire_command");
_Static_assert(offsetof(struct wire_control, command) == 88, "wire_control.command");
_Static_assert(offsetof(struct wire_control, event_names) == 408, "wire_control.event_names");
_Static_assert(sizeof(struct wire_control) <= WIRE_PAGE, "control page");
_Static_assert(sizeof(struct wire_event_status) == 128, "wire_event_status");
_Static_assert(offsetof(struct wire_status, events) == 432, "wire_status.events");
_Static_assert(offsetof(struct wire_status, walk_cost) == 3000, "wire_status.walk_cost");
_Static_assert(offsetof(struct wire_status, name_cost) == 3216, "wire_status.name_cost");
_Static_assert(sizeof(struct wire_walk_cost) == 24, "wire_walk_cost");
_Static_assert(offsetof(struct wire_status, code_used) == 3240, "wire_status.code_used");
_Static_assert(sizeof(struct wire_status) <= WIRE_PAGE, "status page");
_Static_assert(sizeof(struct wire_unwind_chunk) == 16, "wire_unwind_chunk");
_Static_assert(sizeof(struct wire_unwind_rows) == 20, "wire_unwind_rows");
_Static_assert(sizeof(struct wire_unwind_rule) == 12, "wire_unwind_rule");
_Static_assert(sizeof(struct wire_cursors) == 192, "wire_cursors");
_Static_assert(sizeof(struct wire_record) == 8, "wire_record");
_Static_assert(offsetof(struct wire_module, path) == 56, "wire_module");
_Static_assert(offsetof(struct wire_method, text) == 24, "wire_method");
_Static_assert(offsetof(struct wire_thread, name) == 32, "wire_thread");
_Static_assert(offsetof(struct wire_trace, frames) == 24, "wire_trace");
_Static_assert(sizeof(struct wire_delta) == 16, "wire_delta");
_Static_assert(offsetof(struct wire_deltas, deltas) == 32, "wire_deltas");
_Static_assert(sizeof(struct wire_tick) == 104, "wire_tick");
_Static_assert(offsetof(struct wire_tick, half_ns) == 32, "wire_tick.half_ns");
_Static_assert(offsetof(struct wire_note, text) == 32, "wire_note");
_Static_assert(sizeof(struct wire_wait) == 56, "wire_wait");

#endif
