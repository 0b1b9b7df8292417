/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind rows of one ELF file: its call frame information, boiled down to what a stack walk needs.
 *
 * A row says how to find the caller's frame from its offset in the file on, up to the next row: the frame address (CFA)
 * from sp or fp, where the caller's fp was saved, where the return address is. Read with libdw from .eh_frame, else
 * .debug_frame; where neither tells of most of the code, from the code (symbols/code/code.h). The file is not trusted:
 * rows come out sorted and disjoint whatever it says.
 *
 *   cfi_open -> cfi_compile -> cfi_rows -> cfi_close
 */
#ifndef JHOT_SYMBOLS_CFI_H
#define JHOT_SYMBOLS_CFI_H

#include "base/buf.h"
#include "base/err.h"
#include "symbols/rule.h"

#include <elfutils/libdw.h>
#include <stdatomic.h>
#include <stdbool.h>

struct cfi_row {
	uint64_t offset;              /* in the file; strictly ascending */
	struct wire_unwind_rule rule; /* its fields are of the enums of rule.h */
};

struct cfi;

/*
 * cfi_open: start on a file that the caller keeps open until cfi_close, and then closes. debug_fd: its separate
 * debug file, which may have a .debug_frame, kept open as well; -1: none. NULL if there is no such
 * information. Read, not mapped: a file that shrinks meanwhile is an error, not a fault.
 */
struct cfi *cfi_open(int fd, int debug_fd, struct err *err);
/* The same for an image in memory, which must outlive the cfi. */
struct cfi *cfi_open_image(const void *image, size_t bytes, struct err *err);
struct cfi *cfi_open_vdso(struct err *err);
void cfi_close(struct cfi *c);

/* cfi_of_code: the code itself is read. A separate debug file may say more. */
bool cfi_of_code(const struct cfi *c);

/* cfi_compile: 0, or -1: it is too much work, or *stop was set (NULL: nothing stops it). */
int cfi_compile(struct cfi *c, const atomic_bool *stop, struct err *err);

/* The rows, when done; the cfi's own. A last CFI_CFA_NONE row ends what is known. */
const struct cfi_row *cfi_rows(const struct cfi *c, size_t *count);

/*
 * unwind_pack: rows as the block that goes to the agent, struct wire_unwind_rows and what follows it, added to out (empty
 * before). -1: more different rules, or a larger file, than a block can hold.
 */
int unwind_pack(const struct cfi_row *rows, size_t count, struct buf *out, struct err *err);

/* --- cfi_rule.c, for cfi.c ----------------------------------------------------------------------------- */

/* DWARF's numbers of the registers that a walk follows. */
struct cfi_machine {
	unsigned elf_machine;
	int sp, fp, ra;
};
const struct cfi_machine *cfi_machine_find(unsigned elf_machine); /* NULL: not one of ours */

/* One libdw frame state as a rule, always: what none can express becomes CFI_CFA_OTHER. */
struct wire_unwind_rule cfi_rule_read(const struct cfi_machine *m, Dwarf_Frame *frame, bool signal);

#endif
