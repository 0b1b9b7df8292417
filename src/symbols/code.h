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

/* --- instructions -------------------------------------------------------------------------------------- */

enum code_flow {
	CODE_NEXT,   /* goes on behind it */
	CODE_CALL,   /* likewise; target: what it calls, 0: not known */
	CODE_BRANCH, /* to target or on */
	CODE_JUMP,   /* to target; 0: to an address from a register or from memory */
	CODE_RETURN,
	CODE_END, /* never goes on */
};

/* What it computes, where that may be a switch, or the address of a function. */
enum code_data {
	CODE_NOTHING,
	CODE_ADDRESS, /* register reg = address; 0: it is not known */
	CODE_PAGE,    /* likewise, of a page: a sum makes an address of it */
	CODE_SUM,     /* register reg = register from + by */
	CODE_LIMIT,   /* compares with by: cases from 0 to that */
	CODE_TABLE, /* loads `entry` bytes, the distance to a case, from a table at register reg */
	CODE_BASE, /* address, which such distances are from, in fours; where there is none, from the table */
};

enum code_sp {
	CODE_SP_MOVES, /* by sp_by */
	CODE_SP_IS_FP, /* fp + sp_by */
	CODE_SP_LOST,  /* by what is not known */
};

enum code_fp {
	CODE_FP_STAYS,
	CODE_FP_IS_SP,  /* sp as it is afterwards, + fp_at */
	CODE_FP_SAVED,  /* at sp as it is afterwards, + fp_at */
	CODE_FP_LOADED, /* likewise from there: the caller's again, if it was saved there */
	CODE_FP_ZERO, /* in a function that has not saved it: the ABI's mark of the outermost frame */
};

/* What an instruction does to what is followed. */
/* The register with the return address, where calls leave it in one; at link_at as fp is at fp_at. */
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
	/* of data */
	uint64_t address;
	int32_t by;
	uint8_t reg, from, entry;
};

/* Of what stands at this address. false: it is no instruction, or goes beyond the end. */
typedef bool code_read_fn(const uint8_t *at, size_t bytes, uint64_t address, struct code_insn *out);
code_read_fn code_x86_64_read, code_aarch64_read;

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
