/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walker's vocabulary: target memory, frames, registers, the thread to walk and the result of a walk. Plain values,
 * owned by the caller. Addresses are uint64_t in the target's address space; 0 is never a valid address.
 */
#ifndef JHOT_WALK_TYPES_H
#define JHOT_WALK_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- memory ------------------------------------------------------------------------------------------ */

/*
 * Who reads through which struct walk_mem. No accessor relies on a handler of SIGSEGV: an unmapped address is an error of a
 * system call, or is never read in place.
 *
 *   reader                        accessor                    in place                     unmapped memory
 *   handler or callback, walking  self.h, cached pages        own stack and JavaThread;    EFAULT of process_vm_readv, or
 *                                 and constants               ranges that stay mapped      an error of pread(/proc/self/mem)
 *   threads of the agent          self.h, cached pages        ranges that stay mapped      the same
 *   handler, single words         sig_copy                    nothing                      the same
 *   jhot dump, stopped thread     dump/remote.h               the copied stack,            EFAULT of process_vm_readv
 *                                                             registers and JavaThread
 *   jhot dump, running JVM        dump/remote.h               nothing                      the same
 *   tests                         tests/walk/image.h          a recorded image             absent from the image
 */

/* Memory that a walk is about to load. */
struct walk_part {
	uint64_t addr, bytes;
};

struct walk_mem {
	/* Copies `bytes` bytes from the target. Returns false if any of them is unreadable. Never faults. */
	bool (*load)(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes);
	/*
	 * Like load, for memory that is constant while its owner exists: may return a cached copy. owner: an id that is
	 * never reused. NULL: no copies are cached.
	 */
	bool (*load_constant)(
		const struct walk_mem *mem, uint64_t owner, uint64_t addr, void *out, size_t bytes);
	/*
	 * Loads `count` words of `bytes` bytes each (at most 8) from separate addresses in few system calls. Unreadable words
	 * become 0. NULL: the caller loads them one at a time.
	 */
	void (*gather)(const struct walk_mem *mem, const uint64_t *addrs, uint32_t count,
		uint32_t bytes, uint64_t *out);
	/*
	 * Announces loads of these parts of that owner (0: not constant), so that one system call copies all of
	 * them. NULL: no use.
	 */
	void (*prefetch)(const struct walk_mem *mem, uint64_t owner, const struct walk_part *parts,
		uint32_t count);
	/* Drops cached copies: later loads see current memory. NULL: loads are not cached. */
	void (*refresh)(const struct walk_mem *mem);
	/*
	 * From now on reads the running thread's stack through the kernel: code without unwind information may use the frame
	 * pointer for other purposes, or have protected a page in its frame. NULL: nothing is read in place.
	 */
	void (*distrust_stack)(const struct walk_mem *mem);
	void *ctx;
	/* True when the target is this process (load/self.h): memory that stays mapped may be read in place. */
	bool is_self;
	/* The running thread's stack: words that begin in this range are read in place. bytes 0: no such range. */
	uint64_t stack_low, stack_bytes;
};

struct walk_layout; /* walk/hotspot/layout.h; about 1 kB, owned by the caller */

/* --- frames ------------------------------------------------------------------------------------------ */

enum walk_frame_type {
	WALK_NONE = 0,
	WALK_INTERPRETED = 1, /* Java: payload = method, packed form below */
	WALK_C1 = 2,
	WALK_C2 = 3,
	WALK_INLINED = 4,
	WALK_JAVA = 5,   /* Java, execution mode unknown (AsyncGetCallTrace) */
	WALK_NATIVE = 6, /* payload = pc (for callers: the return address - 1) */
	WALK_KERNEL = 8, /* payload = pc, low 56 bits */
	WALK_STUB = 9,   /* payload = name id: a stub or other code blob of the JVM */
	WALK_CLASS = 10, /* payload = name id: a class, as the leaf of alloc and lock */
	/* payload = name id: why the walk failed here; the name starts with "[unknown" or "[break_" */
	WALK_BREAK = 11,
	/* only from walk_stack with a frame cache: value is already in the 64-bit form */
	WALK_PACKED = 12,
	WALK_CUT = 13,           /* payload = number of frames omitted here; see walk_cut */
	WALK_CLASS_OUTSIDE = 14, /* as WALK_CLASS, allocated outside the thread's TLAB */
	/* compiled Java, no inlining info: the pc may belong to a method inlined here */
	WALK_NO_INLINING = 15,
	WALK_IO = 16, /* payload = name id: what a system call waits for; as the leaf of wall */
	/* payload = the method that this compiler thread compiles, not one that it runs */
	WALK_COMPILES = 17,
	WALK_C1_NO_INLINING = 18, /* as WALK_NO_INLINING, compiled by C1 */
	WALK_CONTEXT = 19,        /* payload = name id: the request; appended to a walk */
};

static inline bool walk_type_is_java(unsigned type)
{
	return (type >= WALK_INTERPRETED && type <= WALK_JAVA) || type == WALK_NO_INLINING ||
	       type == WALK_C1_NO_INLINING;
}

/*
 * A frame as walk_stack produces it, still pointing into the target. names_resolve converts it into the 64-bit form below;
 * it must do so while the frame pins its Method.
 */
struct walk_frame {
	/* Java: Method*; native, kernel, stub: pc; class: name id; break: enum walk_break */
	uint64_t value;
	uint16_t bci; /* WALK_BCI_UNKNOWN if unknown */
	uint8_t type; /* enum walk_frame_type */
	uint8_t reserved;
	/* Words from the low end of its physical frame to walk_result.stack_hi. Inlined methods share a physical frame. */
	uint32_t from_base;
};

#define WALK_BCI_UNKNOWN 0xffffu

/* The 64-bit form: type in the top byte. Java: bci in bits 32..47, method id in 0..31. */
#define WALK_PACK(type, payload) \
	(((uint64_t)(type) << 56) | ((uint64_t)(payload) & ((1ull << 56) - 1)))
#define WALK_PACK_JAVA(type, id, bci) WALK_PACK(type, ((uint64_t)(bci) << 32) | (uint32_t)(id))

#define NAMES_ID_UNLOADED             1u /* "[unloaded]" */
#define NAMES_ID_FULL                 2u /* "[names_full]" */

/* Why a walk stopped before the thread's root. WALK_BREAKS(X): X(enum suffix, frame name). */
#define WALK_BREAKS(X)                                                                  \
	X(NONE, "")                                                                     \
	X(NATIVE, "[break_native]")           /* native caller not found */             \
	X(INTERPRETED, "[break_interpreted]") /* no valid Method in the slots */        \
	X(COMPILED, "[break_compiled]")       /* caller of compiled code not found */   \
	X(STUB, "[break_stub]")               /* caller of a stub not found */          \
	X(ENTRY, "[break_entry_frame]")       /* call or upcall stub, no caller */      \
	X(CODE_CACHE, "[break_code_cache]")   /* pc in the code cache, no blob there */ \
	X(NO_FRAME, "[unknown]")              /* nothing could be walked */             \
	X(BUSY, "[unknown_busy]")             /* no buffer for a deep stack */          \
	X(COLLECTS, "[blocks_signals]")       /* consumes blocked signals: never signalled */

#define WALK_BREAK_ENUM(name, text) WALK_BREAK_##name,
enum walk_break { WALK_BREAKS(WALK_BREAK_ENUM) WALK_BREAK_COUNT };
const char *walk_break_name(enum walk_break why);

/* Not a break: the frame outside WALK_COMPILES, named "[compiling]". */
#define WALK_COMPILING ((enum walk_break)WALK_BREAK_COUNT)

/* --- a walk ----------------------------------------------------------------------------------------- */

/* Registers of the interrupted thread; load/regs.h fills them from a ucontext. */
struct walk_regs {
	uint64_t pc, sp, fp;
	uint64_t method;    /* the register that holds Method* at interpreter entry: rbx / r12 */
	uint64_t sender;    /* sender sp at interpreter entry: r13 / r19 */
	uint64_t sender_19; /* aarch64: the sender sp up to JDK 19: r13 */
	uint64_t link;      /* aarch64: lr; x86-64: rax, the return address in some stubs */
};

struct unwind_table;
struct frame_cache;
struct frame_cache_walk;
struct tail;

/*
 * Which frames of a stack with more than `limit` are kept: `top` frames from the leaf, `root` frames from the root, and a
 * WALK_CUT frame between them; top + root < limit. root 0: the walk ends at the limit and keeps only the leaf end.
 */
struct walk_cut {
	uint32_t limit, top, root;
};
#define WALK_CUT_SPARE 512u /* buffer space beyond the limit that a walk needs */

struct walk_thread {
	uint64_t java_thread;        /* JavaThread*, 0 for other threads */
	uint64_t stack_lo, stack_hi; /* 0, 0 when unknown: bounded by sp + 8 MB */
	/* The process's native unwind rows (walk/frames/unwind.h); NULL: frame pointers only. */
	const struct unwind_table *rows;
	/* walk/frames/frame_cache.h; NULL: every frame is decoded. */
	struct frame_cache_walk *cache;
	/* walk/frames/tail.h, acquired by tail_acquire. Unused when NULL, or without cache or rows. */
	struct tail *tail;
	const struct walk_cut *cut; /* NULL: the first `max` frames are kept */
	bool compiler; /* java_thread is a CompilerThread: the method it compiles becomes its outermost frame */
};

struct walk_result {
	uint32_t count;      /* frames written */
	bool truncated;      /* the limit was reached before the root */
	enum walk_break why; /* NONE when the walk reached the root or the limit */
	uint32_t followed; /* frames that came from the thread's tail; their from_base is not set */
	uint64_t stack_hi; /* the stack's high end; 0: unknown, and from_base is meaningless */
};

#endif
