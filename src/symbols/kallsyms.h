/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's functions, from /proc/kallsyms, and the functions of other JITs, from a perf map file.
 *
 * Both fill a symtab whose addresses are the target's. The perf map is written by the target: not trusted.
 */
#ifndef JHOT_SYMBOLS_KALLSYMS_H
#define JHOT_SYMBOLS_KALLSYMS_H

#include "symbols/symtab.h"

#include <stdio.h>

enum kallsyms_result { KALLSYMS_OK, KALLSYMS_HIDDEN, KALLSYMS_NONE };

/* file: /proc/kallsyms, or a test's. HIDDEN: names there are, addresses are all 0. */
enum kallsyms_result kallsyms_read(FILE *file, struct symtab *out);

/* "START SIZE name" lines in hexadecimal; lines that are not are passed over. */
void perfmap_read(FILE *file, struct symtab *out);

#endif
