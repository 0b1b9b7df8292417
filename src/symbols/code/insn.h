/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A decoded instruction, reduced to its effects on the frame, control flow, and addresses of functions and switch tables. Plain
 * values, pure functions. The bytes are not trusted.
 */
#ifndef JHOT_SYMBOLS_CODE_INSN_H
#define JHOT_SYMBOLS_CODE_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum code_flow {
	CODE_NEXT,   /* falls through */
	CODE_CALL,   /* calls target (0: unknown), then falls through */
	CODE_BRANCH, /* to target, or falls through */
	CODE_JUMP,   /* to target; 0: indirect */
	CODE_RETURN,
	CODE_END, /* traps */
};

/* Computations that may belong to a switch, or to the address of a function. */
enum code_data {
	CODE_NOTHING,
	CODE_ADDRESS, /* register reg = address; 0: unknown */
	CODE_PAGE,    /* likewise, the address of a page, to which a CODE_SUM is added */
	CODE_SUM,     /* register reg = register from + by */
	CODE_LIMIT,   /* compares with `by`, the last case of a switch */
	CODE_TABLE, /* loads `entry` bytes, the distance to a case, from a table at register reg */
	/* Loads `address`, the base of distances in units of 4. Without it, the table is their base. */
	CODE_BASE,
};

enum code_sp {
	CODE_SP_MOVES, /* by sp_by */
	CODE_SP_IS_FP, /* becomes fp + sp_by */
	CODE_SP_LOST,  /* changed by an unknown amount */
};

enum code_fp {
	CODE_FP_STAYS,
	CODE_FP_IS_SP,  /* becomes new sp + fp_at */
	CODE_FP_SAVED,  /* stored to new sp + fp_at */
	CODE_FP_LOADED, /* loaded from new sp + fp_at; the caller's if it was saved there */
	CODE_FP_ZERO,   /* becomes 0; unless fp has been saved: the outermost frame, by the ABI */
};

/* The link register, on CPUs where calls leave the return address in one; stored to or loaded from new sp + link_at. */
enum code_link {
	CODE_LINK_STAYS,
	CODE_LINK_SAVED,
	CODE_LINK_LOADED,
};

#define CODE_REGISTERS  32
#define CODE_PAGE_BYTES 4096 /* of CODE_PAGE */

struct code_insn {
	uint8_t bytes;
	uint8_t flow, sp, fp, link, data; /* of the enums above */
	int32_t sp_by, fp_at, link_at;
	uint64_t target;
	/* operands of data */
	uint64_t address;
	int32_t by;
	uint8_t reg, from, entry;
};

/* Decodes the instruction at `at`. Returns false if it is invalid or exceeds the buffer. */
typedef bool code_read_fn(const uint8_t *at, size_t bytes, uint64_t address, struct code_insn *out);
code_read_fn code_x86_64_read, code_aarch64_read;

#endif
