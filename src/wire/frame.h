/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A frame inside a trace: 64 bits, its kind in the top byte.
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
	WIRE_FRAME_C2 = 3,          /* method, bci; the highest level: C2, or Graal in its place */
	WIRE_FRAME_INLINED = 4,     /* method, bci */
	WIRE_FRAME_JAVA = 5,        /* method, bci; how it ran is not known (AsyncGetCallTrace) */
	WIRE_FRAME_NATIVE = 6,      /* module id << 40 | file offset */
	WIRE_FRAME_RAW = 7,         /* pc in no module: JIT memory of others, unmapped */
	WIRE_FRAME_KERNEL = 8,      /* pc, low 56 bits (sign-extend); or WIRE_KERNEL_SWITCH */
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
	WIRE_FRAME_COMPILES = 17,  /* method, which the compiler's thread does not run; since 1.8 */
	WIRE_FRAME_C1_COARSE = 18, /* as COARSE, compiled by C1; since 1.12 */
};

/*
 * No pc: what the kernel does as it gives a thread a core, before its clock counts, and as it takes it back, after that
 */
#define WIRE_KERNEL_SWITCH 0u

#define WIRE_FRAME(kind, payload) \
	(((uint64_t)(kind) << 56) | ((uint64_t)(payload) & ((1ull << 56) - 1)))
#define WIRE_FRAME_KIND(f)    ((unsigned)((f) >> 56))
#define WIRE_FRAME_PAYLOAD(f) ((f) & ((1ull << 56) - 1))
#define WIRE_FRAME_IS_JAVA(kind)                                            \
	(((kind) >= WIRE_FRAME_INTERPRETED && (kind) <= WIRE_FRAME_JAVA) || \
		(kind) == WIRE_FRAME_COARSE || (kind) == WIRE_FRAME_C1_COARSE)
/* method frames: bci in bits 32..47, 0xffff = not known; method id in bits 0..31 */
#define WIRE_METHOD_FRAME(kind, method, bci) \
	WIRE_FRAME(kind, ((uint64_t)((bci)&0xffff) << 32) | (uint32_t)(method))
#define WIRE_FRAME_METHOD(f)         ((uint32_t)(f))
#define WIRE_FRAME_BCI(f)            ((unsigned)((f) >> 32) & 0xffff)
#define WIRE_BCI_UNKNOWN             0xffffu
#define WIRE_NATIVE_FRAME(module, o) WIRE_FRAME(WIRE_FRAME_NATIVE, ((uint64_t)(module) << 40) | (o))
#define WIRE_FRAME_MODULE(f)         ((unsigned)((f) >> 40) & 0xffff)
#define WIRE_FRAME_OFFSET(f)         ((f) & ((1ull << 40) - 1))

#endif
