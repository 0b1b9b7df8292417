/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiles the call frame information of an ELF file into unwind rows.
 *
 * A row applies from its file offset to the next row. It locates the caller's frame: the frame address (CFA) relative to sp or fp, and
 * where the caller's fp and the return address are saved. Sources, merged: .eh_frame and .debug_frame (libdw); if they cover less
 * than half of the code, also the code itself (code/code.h). The file is not trusted: rows are always sorted and disjoint. In the
 * child only (child/child.h), and in tests and fuzzers. One thread.
 *
 *   cfi_open -> cfi_compile -> cfi_rows -> cfi_close
 */
#ifndef JHOT_SYMBOLS_CFI_H
#define JHOT_SYMBOLS_CFI_H

#include "base/buf.h"
#include "base/err.h"
#include "symbols/rule.h"

#include <stdatomic.h>
#include <stdbool.h>

struct cfi_row {
	uint64_t offset;              /* in the file; strictly ascending */
	struct wire_unwind_rule rule; /* its fields are of the enums of rule.h */
};

struct cfi;

/*
 * fd: stays open until cfi_close, and is then the caller's to close, as is debug_fd, a separate debug file that may contain
 * .debug_frame; -1: none. The files are read, not mapped: one that shrinks causes an error, not a fault. NULL: no such
 * information.
 */
struct cfi *cfi_open(int fd, int debug_fd, struct err *err);
/* The same for an image in memory, which must outlive the cfi, and for our own vDSO. */
struct cfi *cfi_open_image(const void *image, size_t bytes, struct err *err);
struct cfi *cfi_open_vdso(struct err *err);
void cfi_close(struct cfi *c);

/* True if rows come from the code itself; a separate debug file may give better ones. */
bool cfi_of_code(const struct cfi *c);

/* Returns 0, or -1 with an error if a work limit is reached or *stop is set (NULL: never). */
int cfi_compile(struct cfi *c, const atomic_bool *stop, struct err *err);

/* The rows, after cfi_compile; valid until cfi_close. The last one is CFI_CFA_NONE. */
const struct cfi_row *cfi_rows(const struct cfi *c, size_t *count);

/*
 * Appends rows to out as a block for the agent: struct wire_unwind_rows and its data. out must be empty. Returns -1 with an error if
 * the file is too large or has too many different rules for a block.
 */
int unwind_pack(const struct cfi_row *rows, size_t count, struct buf *out, struct err *err);

#endif
