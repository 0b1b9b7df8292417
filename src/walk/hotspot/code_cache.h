/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the CodeBlob of a pc through the segment map of its heap, and decodes an nmethod's PcDescs and scopes. All reads go
 * through a struct walk_mem. The JVM changes the code cache concurrently, so results are valid only while something pins the
 * blob, such as a frame on a stack. Structs belong to the caller. Signal-safe except for code_cache_fill. Layouts: codeBlob.hpp, nmethod.hpp, pcDesc.hpp.
 */
#ifndef JHOT_WALK_HOTSPOT_CODE_CACHE_H
#define JHOT_WALK_HOTSPOT_CODE_CACHE_H

#include "walk/hotspot/layout.h"

enum code_kind {
	CODE_NMETHOD, /* compiled Java */
	CODE_NATIVE,  /* wrapper of a native method */
	CODE_STUBS,   /* StubRoutines: many in one blob */
	CODE_LEAF,    /* other stubs without a frame size; they push the registers that they use */
	CODE_ADAPTER, /* i2c, c2i */
	CODE_VTABLE,  /* vtable and itable stubs */
	CODE_CONTINUATION, /* the stubs of continuations */
	CODE_UPCALL,  /* upcall stubs: C calls Java through them, in the foreign-function API */
	CODE_RUNTIME, /* stubs that call into the VM, with a frame size */
};

struct code_blob {
	uint64_t pc;               /* set by walker_blob: the pc that it was found for; 0: none */
	uint64_t start, code, end; /* CodeBlob*, its instructions, its end */
	int32_t frame_words;       /* including the return address */
	int32_t frame_complete;    /* offset from code; negative: never */
	enum code_kind kind;
	uint64_t name;
	uint8_t copy[LAYOUT_BLOB_BYTES]; /* the header, including nmethod's fields */
};

/* Finds the blob that contains pc. False if there is no live one. */
bool code_cache_find(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t pc,
	struct code_blob *out);

/* Loads the blob at a known start address. False if it is unreadable or its block is not in use. */
bool code_cache_at(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t start,
	struct code_blob *out);

/*
 * Fill level of the code cache: bytes in use, and bytes of all heaps for compiled methods. An estimate, since blocks are
 * allocated and freed while they are read. False if unknown. Not for signal handlers: a large cache has tens of thousands of
 * blocks.
 */
struct code_fill {
	uint64_t used, bytes;
};
bool code_cache_fill(
	const struct walk_layout *layout, const struct walk_mem *mem, struct code_fill *out);

/*
 * The next compiled method after the cursor, which begins as {0}. False: there are no more. A block that is freed or allocated
 * may be omitted. Not for signal handlers.
 */
struct code_cursor {
	uint32_t heap;
	uint64_t block; /* 0: the heap's first */
};
bool code_cache_next(const struct walk_layout *layout, const struct walk_mem *mem,
	struct code_cursor *cursor, struct code_blob *out);

/* --- nmethods ---------------------------------------------------------------------------------------- */

struct code_desc {
	int32_t pc_offset, scope; /* scope: offset into the scopes data, 0 = none */
};

/* The PcDesc that covers pc: the first at or after it. False if there is none. O(log n). */
bool code_desc_find(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct code_blob *blob, uint64_t pc, struct code_desc *out);

/*
 * True when the nmethod has no inlining info: its code may contain inlined methods, but was compiled with debug information at
 * safepoints only, so a pc between two of them may belong to another method than that of its PcDesc.
 */
bool code_lacks_inlining(
	const struct walk_layout *layout, const struct walk_mem *mem, const struct code_blob *blob);

/*
 * For a pc without inlining info: replaces *desc by that of the first check at or after the instruction that ends at pc. Checks
 * are C2's implicit null checks and conditional branches to uncommon traps, whose calls have debug information. False if
 * there is no check before *desc, which is then unchanged.
 */
bool code_check_find(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct code_blob *blob, uint64_t pc, struct code_desc *desc);

struct code_scope {
	int32_t sender; /* scope of the caller that this one is inlined into; 0: outermost */
	int32_t bci;
	uint64_t method;
};

bool code_scope_read(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct code_blob *blob, int32_t offset, struct code_scope *out);

uint64_t code_method(const struct walk_layout *layout, const struct code_blob *blob);
/* The nmethod* that calls of the Method enter; 0: it is interpreted, or this is unknown. */
uint64_t code_of_method(
	const struct walk_layout *layout, const struct walk_mem *mem, uint64_t method);
uint64_t code_verified_entry(const struct walk_layout *layout, const struct code_blob *blob);
/* Entry of an on-stack-replacement compilation; 0 for others. */
uint64_t code_osr_entry(const struct walk_layout *layout, const struct code_blob *blob);
/* True when pc is the deoptimization entry to which callees of deoptimized frames return. */
bool code_is_deopt(const struct walk_layout *layout, const struct code_blob *blob, uint64_t pc);
/* Address of the slot in a deoptimized frame that contains its original pc. */
uint64_t code_orig_pc_slot(
	const struct walk_layout *layout, const struct code_blob *blob, uint64_t sp);

#endif
