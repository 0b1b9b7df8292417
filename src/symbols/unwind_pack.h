/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A module's unwind rows as the block that goes to the agent: struct wire_unwind_rows and what follows it.
 */
#ifndef JHOT_SYMBOLS_UNWIND_PACK_H
#define JHOT_SYMBOLS_UNWIND_PACK_H

#include "base/buf.h"
#include "symbols/cfi.h"

/* Adds the block to out (empty before). -1: more different rules, or a larger file, than a block can hold. */
int unwind_pack(const struct cfi_row *rows, size_t count, struct buf *out, struct err *err);

#endif
