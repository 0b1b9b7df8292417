/* SPDX-License-Identifier: Apache-2.0 */
/* Unwind tables for tests: of one file, or of everything mapped into the test's process. */
#ifndef JHOT_TESTS_WALK_SELF_TABLE_H
#define JHOT_TESTS_WALK_SELF_TABLE_H

#include "symbols/cfi.h"
#include "walk/frames/unwind.h"

#include <sys/types.h>

/* Compiles a file; ends the test with a diagnosis on failure. The caller closes it. */
struct cfi *self_compile(const char *path);
struct cfi *self_compile_vdso(void); /* NULL if there is none */

/* The checked block of these rows; the caller frees it. */
struct unwind_rows *self_pack(const struct cfi_row *rows, size_t count);

/* The rows of all executable mappings of a process, and of this one. Blocks and table live as long as the test. */
struct unwind_table *process_table(pid_t pid);
struct unwind_table *self_table(void);

/*
 * Whether libc's functions have rows, and whether these come from call frame information. Debian's musl has none: its
 * rows are derived from its code, and libunwind and libdw, which read only call frame information, cannot unwind it.
 */
bool self_libc_has_rows(const struct unwind_table *table);
bool self_libc_has_cfi(const struct unwind_table *table);
#define NO_LIBC_ROWS "there are no unwind rows of libc's functions"
#define NO_LIBC_CFI  "libc has no call frame information of its functions"

/* Validated only against the process's maps at the time of self_table: suitable for stacks. */
struct walk_mem self_mem(void);

#endif
