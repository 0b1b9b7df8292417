/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind rows of code that no call frame information describes, as all of musl's: read off the instructions themselves.
 *
 * From where functions begin each path is followed, and with it how far sp is below the frame address (CFA) and where the
 * caller's fp was saved. Code that no path is found to has no rows. The file is not trusted.
 */
#ifndef JHOT_SYMBOLS_CODE_H
#define JHOT_SYMBOLS_CODE_H

#include "wire/unwind.h"

#include <libelf.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- instructions: code_x86_64.c ----------------------------------------------------------------------- */

enum code_flow {
	CODE_NEXT,   /* goes on behind it */
	CODE_TABLE,  /* likewise */
	CODE_LIMIT,  /* likewise: it compares a register with `limit` */
	CODE_CALL,   /* likewise; target: what it calls, 0: not known */
	CODE_BRANCH, /* to target or on */
	CODE_JUMP,   /* to target; 0: to an address from a register or from memory */
	CODE_RETURN,
	CODE_END, /* never goes on */
};

enum code_sp {
	CODE_SP_MOVES, /* by sp_by */
	CODE_SP_IS_FP, /* fp + sp_by */
	CODE_SP_LOST,  /* by what is not known */
};

enum code_fp {
	CODE_FP_STAYS,
	CODE_FP_IS_SP, /* sp as it is afterwards, + fp_at */
	CODE_FP_SAVED, /* at sp as it is afterwards, + fp_at */
	CODE_FP_LOADED, /* from sp as it is afterwards, - 8: the caller's again, if it was saved there */
	CODE_FP_ZERO, /* in a function that has not saved it: the ABI's mark of the outermost frame */
};

/* What an instruction does to what is followed. */
#define CODE_REGISTERS 16

struct code_insn {
	uint8_t bytes;
	uint8_t flow, sp, fp; /* of the enums above */
	int32_t sp_by, fp_at;
	uint64_t target;
	uint64_t
		address; /* CODE_NEXT: of code or data, which is in the register `reg` then; 0: none */
	/* CODE_TABLE: the register with the address of a table, of which it loads 4 bytes; CODE_NEXT, with address: see there */
	uint8_t reg;
	uint32_t limit;
};

/* code_insn_read: of what stands at this address. false: it is no instruction, or goes beyond the end. */
bool code_insn_read(const uint8_t *at, size_t bytes, uint64_t address, struct code_insn *out);

/* --- rows: code.c -------------------------------------------------------------------------------------- */

/* One rule holds from this address on; one of cfa 0 where nothing is known. */
typedef void code_row_fn(void *ctx, uint64_t address, struct wire_unwind_rule rule);

struct code;

/* code_readable: of files for this CPU, by its number in ELF. */
bool code_readable(unsigned elf_machine);
/* code_open: all of the file's code; NULL: there is none, or too much, or *stop was set. The elf stays open. */
struct code *code_open(Elf *elf, const atomic_bool *stop);
/* code_rows: of [start, end), ascending. */
void code_rows(const struct code *c, uint64_t start, uint64_t end, code_row_fn *fn, void *ctx);
/* code_begins: where functions begin, as far as it was found, ascending. */
void code_begins(const struct code *c, void (*fn)(void *ctx, uint64_t address), void *ctx);
void code_close(struct code *c);

#endif
