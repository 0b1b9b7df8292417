/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One libdw frame state as a struct cfi_rule. Internal to symbols/cfi*.
 */
#ifndef JHOT_SYMBOLS_CFI_RULE_H
#define JHOT_SYMBOLS_CFI_RULE_H

#include "symbols/cfi.h"

#include <elfutils/libdw.h>
#include <stdbool.h>

/* DWARF's numbers of the registers that a walk follows. */
struct cfi_machine {
	unsigned elf_machine;
	int sp, fp, ra;
};

const struct cfi_machine *cfi_machine_find(unsigned elf_machine); /* NULL: not one of ours */

/* Always gives a rule; what it cannot express becomes CFI_CFA_OTHER. */
struct cfi_rule cfi_rule_read(const struct cfi_machine *m, Dwarf_Frame *frame, bool signal);

#endif
