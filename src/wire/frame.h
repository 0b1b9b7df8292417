/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A frame in a trace: 64 bits, with its kind in the top byte. Plain values; the macros below encode and decode them.
 *
 *   63     56 55      48 47      32 31               0
 *   |  kind  |   0     |   bci    |    method id     |   Java; of a stub, a class, a reason: the id alone
 *   |  kind  | module id (16)  |    file offset (40)  |   native
 *   |  kind  |             address (56)               |   kernel, raw
 */
#ifndef JHOT_WIRE_FRAME_H
#define JHOT_WIRE_FRAME_H

#include <stdint.h>

enum wire_frame_kind {
	WIRE_FRAME_NONE = 0,
	WIRE_FRAME_INTERPRETED = 1, /* method, bci */
	WIRE_FRAME_C1 = 2,          /* method, bci */
	WIRE_FRAME_C2 = 3,          /* method, bci; the highest tier: C2, or Graal in its place */
	WIRE_FRAME_INLINED = 4,     /* method, bci */
	WIRE_FRAME_JAVA = 5,        /* method, bci; execution mode unknown (AsyncGetCallTrace) */
	WIRE_FRAME_NATIVE = 6,      /* module id << 40 | file offset */
	WIRE_FRAME_RAW = 7,         /* pc in no module: other JIT compilers' memory, or unmapped */
	WIRE_FRAME_KERNEL = 8,      /* pc, low 56 bits (sign-extend); or WIRE_KERNEL_SWITCH */
	WIRE_FRAME_STUB = 9,   /* method id whose name is the stub's ("arraycopy", "I2C/C2I") */
	WIRE_FRAME_CLASS = 10, /* method id whose name is a class: what was allocated or locked */
	WIRE_FRAME_BREAK = 11, /* method id whose name is the reason: [unknown...] or [break_...] */
	WIRE_FRAME_CUT = 13,   /* number of omitted frames (rounded to two digits); since 1.1 */
	/* method id: a class allocated outside the thread's TLAB; FRAME_CLASS: inside, or unknown */
	WIRE_FRAME_CLASS_OUTSIDE = 14,
	/* method, bci: compiled, no inlining info: a method inlined here may have been running; since 1.2 */
	WIRE_FRAME_NO_INLINING = 15,
	/*
	 * method id whose name says what a system call waits for, as the leaf of wall; since 1.4. The operation and, if known,
	 * a tab and the peer: "socket read\t10.0.0.5:5432", "pipe write".
	 */
	WIRE_FRAME_IO = 16,
	/* the method that a compiler thread compiles, not runs; since 1.8 */
	WIRE_FRAME_COMPILES = 17,
	WIRE_FRAME_C1_NO_INLINING = 18, /* as NO_INLINING, compiled by C1; since 1.12 */
	/*
	 * The request that the thread worked for, as the outermost frame: method id whose name consists of u8 key, u8 length and
	 * value of each attribute. Method id 0: the agent knew too many requests. Since 1.14.
	 */
	WIRE_FRAME_CONTEXT = 19,
};

/* Replaces the pc: kernel time of a context switch that the thread's own clock does not include. */
#define WIRE_KERNEL_SWITCH 0u

#define WIRE_FRAME(kind, payload) \
	(((uint64_t)(kind) << 56) | ((uint64_t)(payload) & ((1ull << 56) - 1)))
#define WIRE_FRAME_KIND(f)    ((unsigned)((f) >> 56))
#define WIRE_FRAME_PAYLOAD(f) ((f) & ((1ull << 56) - 1))
#define WIRE_FRAME_IS_JAVA(kind)                                            \
	(((kind) >= WIRE_FRAME_INTERPRETED && (kind) <= WIRE_FRAME_JAVA) || \
		(kind) == WIRE_FRAME_NO_INLINING || (kind) == WIRE_FRAME_C1_NO_INLINING)
/* Method frames: bci in bits 32..47, 0xffff = unknown; method id in bits 0..31. */
#define WIRE_METHOD_FRAME(kind, method, bci) \
	WIRE_FRAME(kind, ((uint64_t)((bci)&0xffff) << 32) | (uint32_t)(method))
#define WIRE_FRAME_METHOD(f)         ((uint32_t)(f))
#define WIRE_FRAME_BCI(f)            ((unsigned)((f) >> 32) & 0xffff)
#define WIRE_BCI_UNKNOWN             0xffffu
#define WIRE_NATIVE_FRAME(module, o) WIRE_FRAME(WIRE_FRAME_NATIVE, ((uint64_t)(module) << 40) | (o))
#define WIRE_FRAME_MODULE(f)         ((unsigned)((f) >> 40) & 0xffff)
#define WIRE_FRAME_OFFSET(f)         ((f) & ((1ull << 40) - 1))

#endif
