/* SPDX-License-Identifier: Apache-2.0 */
/* Unwind tables for tests: of one file, or of everything mapped into the test's process. */
#ifndef JHOT_TESTS_WALK_SELF_TABLE_H
#define JHOT_TESTS_WALK_SELF_TABLE_H

#include "symbols/cfi.h"
#include "walk/frames/unwind.h"

#include <sys/types.h>

/* Compile a file; ends the test with a diagnosis when that fails. The caller closes it. */
struct cfi *self_compile(const char *path);
struct cfi *self_compile_vdso(void); /* NULL: there is none */

/* The checked block of some rows, to be freed. */
struct unwind_rows *self_pack(const struct cfi_row *rows, size_t count);

/* All executable mappings of a process that have rows; of this process that have rows. Blocks and table live as long as the test. */
struct unwind_table *process_table(pid_t pid);
struct unwind_table *self_table(void);

/*
 * Are there rows of libc's functions, and are they of its call frame information? musl has none, as Debian builds it: its rows
 * are of its code, and who reads only such information, as libunwind and libdw, does not leave it.
 */
bool self_libc_has_rows(const struct unwind_table *table);
bool self_libc_has_cfi(const struct unwind_table *table);
#define NO_LIBC_ROWS "there are no unwind rows of libc's functions"
#define NO_LIBC_CFI  "libc has no call frame information of its functions"

/* Guarded only by the process's maps at the time of self_table: good for stacks. */
struct walk_mem self_mem(void);

#endif
