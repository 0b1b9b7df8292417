/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind rows of code without call frame information, such as musl: derived from the instructions.
 *
 * Follows each path from the starts of functions, tracking the distance of sp from the frame address (CFA) and where the caller's fp
 * was saved. Unreachable code has no rows. The file is not trusted. In the child only. One thread.
 */
#ifndef JHOT_SYMBOLS_CODE_CODE_H
#define JHOT_SYMBOLS_CODE_CODE_H

#include "wire/unwind.h"

#include <libelf.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Receives a rule that applies from this address on. CFI_CFA_NONE: unknown. */
typedef void code_row_fn(void *ctx, uint64_t address, struct wire_unwind_rule rule);

struct code;

/* True if code of this ELF machine is supported. */
bool code_readable(unsigned elf_machine);
/*
 * Analyses all code of the file. no_return: addresses of functions that do not return. NULL: there is no code, too much of it, or
 * *stop was set. The elf must stay open until code_close.
 */
struct code *code_open(Elf *elf, const uint64_t *no_return, size_t count, const atomic_bool *stop);
/* Reports the rules of [start, end), ascending. */
void code_rows(const struct code *c, uint64_t start, uint64_t end, code_row_fn *fn, void *ctx);
/* Reports the starts of functions that were found, ascending. */
void code_begins(const struct code *c, void (*fn)(void *ctx, uint64_t address), void *ctx);
void code_close(struct code *c);

#endif
