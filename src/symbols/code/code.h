/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind rows of code that no call frame information describes, as all of musl's: read off the instructions themselves.
 *
 * From where functions begin each path is followed, and with it how far sp is below the frame address (CFA) and where the
 * caller's fp was saved. Code that no path is found to has no rows. The file is not trusted.
 */
#ifndef JHOT_SYMBOLS_CODE_CODE_H
#define JHOT_SYMBOLS_CODE_CODE_H

#include "wire/unwind.h"

#include <libelf.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One rule holds from this address on; one of cfa 0 where nothing is known. */
typedef void code_row_fn(void *ctx, uint64_t address, struct wire_unwind_rule rule);

struct code;

/* code_readable: of files for this CPU, by its number in ELF. */
bool code_readable(unsigned elf_machine);
/*
 * code_open: all of the file's code; endless: addresses of so many functions that do not return. NULL: there is none, or too
 * much, or *stop was set. The elf stays open.
 */
struct code *code_open(Elf *elf, const uint64_t *endless, size_t count, const atomic_bool *stop);
/* code_rows: of [start, end), ascending. */
void code_rows(const struct code *c, uint64_t start, uint64_t end, code_row_fn *fn, void *ctx);
/* code_begins: where functions begin, as far as it was found, ascending. */
void code_begins(const struct code *c, void (*fn)(void *ctx, uint64_t address), void *ctx);
void code_close(struct code *c);

#endif
