/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native unwinding by rows: steps from a frame to its caller where frame pointers do not lead there.
 *
 * Rows are generated outside the JVM (symbols/cfi.h defines their meaning) and arrive as one block per module:
 *
 *   | struct unwind_rows | pages[page_count + 1] | rows[row_count] | rules[rule_count] |
 *                          u32: first row of       u32: low 16 bits   12 bytes each
 *                          each 64 KB of file      of offset | rule << 16
 *
 * A module has few distinct rules (libjvm 8, libc 301), so a row takes 4 bytes and a lookup is a binary search within one
 * 64 KB page. Offsets are file offsets. A received block is untrusted until unwind_rows_check has accepted it in memory that
 * only the agent can write; lookups then trust it.
 *
 * unwind_find and unwind_step are signal-safe: no locks, allocation, TLS or libc. A published table is immutable; its owner
 * publishes a new one by swapping the pointer and frees the old one when no handler uses it.
 */
#ifndef JHOT_WALK_FRAMES_UNWIND_H
#define JHOT_WALK_FRAMES_UNWIND_H

#include "walk/types.h"

/* --- rows of one module ------------------------------------------------------------------------------ */

enum unwind_cfa {
	UNWIND_CFA_NONE = 0,    /* no unwind info here */
	UNWIND_CFA_ROOT = 1,    /* the outermost frame */
	UNWIND_CFA_SIGNAL = 2,  /* signal trampoline: the interrupted registers are at sp */
	UNWIND_CFA_SP = 3,      /* sp + cfa_offset */
	UNWIND_CFA_FP = 4,      /* fp + cfa_offset */
	UNWIND_CFA_FP_LOAD = 5, /* the word at fp + cfa_offset */
	UNWIND_CFA_PLT = 6,     /* sp + cfa_offset, + 8 once (pc & 15) >= fp_offset */
	UNWIND_CFA_OTHER = 7,   /* a rule that rows cannot express */
	UNWIND_CFA_COUNT = 8,
};

enum unwind_saved {
	UNWIND_SAVED_NOT = 0,  /* still in its register (fp; aarch64: lr) */
	UNWIND_SAVED_CFA = 1,  /* at CFA + offset */
	UNWIND_SAVED_FP = 2,   /* at fp + offset */
	UNWIND_SAVED_LOST = 3, /* not recoverable: 0 in the caller */
	UNWIND_SAVED_COUNT = 4,
};

struct unwind_rule {
	uint8_t cfa, fp, ra; /* enum unwind_cfa, unwind_saved, unwind_saved */
	uint8_t reserved;
	int32_t cfa_offset;
	int16_t fp_offset, ra_offset;
};

struct unwind_rows {
	uint32_t bytes;      /* of the whole block */
	uint32_t page_first; /* file offset >> 16 of pages[0] */
	uint32_t page_count;
	uint32_t row_count;
	uint32_t rule_count; /* <= 65536 */
	uint32_t pages[];
};

#define UNWIND_PAGE_BITS 16
#define UNWIND_ROW(offset, rule) \
	(((uint32_t)(offset)&0xffffu) | (uint32_t)(rule) << UNWIND_PAGE_BITS)

/* True when the block is well formed: sizes add up, pages ascend, rows ascend within a page, rules exist. */
bool unwind_rows_check(const void *block, size_t bytes);

/* The rule in force at a file offset, NULL if there is none. O(log rows of a page). */
const struct unwind_rule *unwind_rows_find(const struct unwind_rows *rows, uint64_t offset);

/* --- the modules of a process ------------------------------------------------------------------------ */

struct unwind_module {
	uint64_t start, end;            /* mapped range */
	uint64_t file_offset;           /* of start */
	const struct unwind_rows *rows; /* checked; borrowed */
};

struct unwind_table {
	uint32_t count;
	uint32_t generation; /* unique among a session's tables; 0: rules must not be cached */
	struct unwind_module modules[]; /* sorted by start, disjoint */
};

/* The module mapped at pc, NULL if none has rows there. */
const struct unwind_module *unwind_find(const struct unwind_table *table, uint64_t pc);

enum unwind_result {
	UNWIND_OK = 0,
	UNWIND_OK_EXACT, /* stepped from a signal trampoline: the new pc is an interrupted one */
	UNWIND_ROOT,     /* there is no caller */
	UNWIND_NO_ROW,   /* no row for this pc: frame pointers may lead to the caller */
	UNWIND_NO_RULE,  /* a rule that rows cannot express */
	UNWIND_FAULT,    /* a word that the rule refers to is unreadable */
	UNWIND_STUCK,    /* the caller's frame is not above this one, or its pc is 0 */
};

/*
 * Replaces pc, sp, fp (aarch64: link) by the caller's. exact: true when pc was interrupted (the top frame, or after
 * UNWIND_OK_EXACT), false for a return address. Registers change only on UNWIND_OK*.
 */
enum unwind_result unwind_step(const struct unwind_table *table, const struct walk_mem *mem,
	struct walk_regs *regs, bool exact);

/* The two halves of unwind_step: look up the rule for regs->pc (NULL if there is none), and apply it. */
const struct unwind_rule *unwind_rule_of(
	const struct unwind_table *table, const struct walk_regs *regs, bool exact);
enum unwind_result unwind_apply(const struct unwind_rule *rule, const struct walk_mem *mem,
	struct walk_regs *regs, bool exact);

#endif
