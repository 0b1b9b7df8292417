/* SPDX-License-Identifier: Apache-2.0 */
/* From a pc to its CodeBlob, and what the blob says of itself: segment map, PcDescs and scopes. */
#ifndef JHOT_WALK_HOTSPOT_CODE_CACHE_H
#define JHOT_WALK_HOTSPOT_CODE_CACHE_H

#include "walk/hotspot/layout.h"

enum code_kind {
	CODE_NMETHOD, /* compiled Java */
	CODE_NATIVE,  /* wrapper of a native method */
	CODE_STUBS,   /* StubRoutines: many in one blob */
	CODE_LEAF,    /* other stubs without a frame size: they push the registers that they use */
	CODE_ADAPTER, /* i2c, c2i */
	CODE_VTABLE,  /* vtable and itable stubs */
	CODE_CONTINUATION, /* the stubs of continuations */
	CODE_UPCALL,       /* through which C calls Java in the foreign-function API */
	CODE_RUNTIME,      /* stubs that call into the VM, with a frame size */
};

struct code_blob {
	uint64_t pc;               /* the walker's: what it was found for, 0: nothing */
	uint64_t start, code, end; /* CodeBlob*, its instructions, its end */
	int32_t frame_words;       /* return address included */
	int32_t frame_complete;    /* offset from code; negative: never */
	enum code_kind kind;
	uint64_t name;
	uint8_t copy[LAYOUT_BLOB_BYTES]; /* the header, nmethod's fields included */
};

/* false: pc is in no live blob. */
bool code_cache_find(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t pc,
	struct code_blob *out);

/* The one that begins there, as the segment map says; false: it cannot be read, or is not in use. */
bool code_cache_at(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t start,
	struct code_blob *out);

/*
 * How full it is: bytes in use, and of all heaps that compiled methods go into. A block after the other, while others may come
 * and go, so about so much. false: it cannot be told. Not for handlers: a big cache has tens of thousands of blocks.
 */
struct code_fill {
	uint64_t used, bytes;
};
bool code_cache_fill(
	const struct walk_layout *layout, const struct walk_mem *mem, struct code_fill *out);

/* --- nmethods ---------------------------------------------------------------------------------------- */

struct code_desc {
	int32_t pc_offset, scope; /* scope: offset into the scopes data, 0 = none */
};

/* The PcDesc that covers pc: the first at or after it. false: none. */
bool code_desc_find(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct code_blob *blob, uint64_t pc, struct code_desc *out);

/*
 * Whether pc, which desc was found for, may be in another method than desc says: code that may have inlined some, and
 * says which one it is in only at its safepoints.
 */
bool code_is_coarse(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct code_blob *blob, uint64_t pc, const struct code_desc *desc);

/*
 * For a pc that is coarse: replaces *desc by that of the first check at or after the instruction that ends at pc. Checks are
 * C2's implicit null checks and conditional branches; they lead to uncommon traps, whose calls have debug information.
 * false: there is no check before *desc, which is unchanged.
 */
bool code_check_find(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct code_blob *blob, uint64_t pc, struct code_desc *desc);

struct code_scope {
	int32_t sender; /* scope of the caller that this one is inlined into; 0 = outermost */
	int32_t bci;
	uint64_t method;
};

bool code_scope_read(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct code_blob *blob, int32_t offset, struct code_scope *out);

uint64_t code_method(const struct walk_layout *layout, const struct code_blob *blob);
uint64_t code_verified_entry(const struct walk_layout *layout, const struct code_blob *blob);
/* Entry of an on-stack-replacement compilation; 0 for others. */
uint64_t code_osr_entry(const struct walk_layout *layout, const struct code_blob *blob);
/* Whether pc is where callees of deoptimized frames return to. */
bool code_is_deopt(const struct walk_layout *layout, const struct code_blob *blob, uint64_t pc);
/* Where in a deoptimized frame its own pc is kept. */
uint64_t code_orig_pc_slot(
	const struct walk_layout *layout, const struct code_blob *blob, uint64_t sp);

#endif
