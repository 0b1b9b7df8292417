/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes the call frame instructions of one FDE and reduces the result to unwind rules.
 *
 * libdw (dwarf_next_cfi) separates the entries of a section; their contents are decoded here, because libdw describes one
 * address at a time, executes the FDE from its start for each, and takes ten times as long for a whole file. Format: DWARF 5,
 * 6.4, and the Linux Standard Base, "Exception Frames".
 *
 * Only the CFA, the frame pointer and the return address are followed. A rule that compilers do not generate becomes
 * CFI_CFA_OTHER or CFI_SAVED_LOST. The data is not trusted. No allocation; pointers refer to the section's data.
 */
#ifndef JHOT_SYMBOLS_CFI_PROGRAM_H
#define JHOT_SYMBOLS_CFI_PROGRAM_H

#include "symbols/rule.h"

#include <elfutils/libdw.h>
#include <stdbool.h>

/* DWARF numbers of the registers that a walk follows. */
struct cfi_machine {
	unsigned elf_machine;
	unsigned sp, fp, ra;
	bool has_link; /* the return address is in a register when a function starts */
};
const struct cfi_machine *cfi_machine_find(unsigned elf_machine); /* NULL: unsupported */

/* Where the caller's value of a register is. */
struct cfi_saved_at {
	enum cfi_saved saved;
	bool undefined; /* no value: for the return address, no caller. saved is CFI_SAVED_LOST */
	int64_t offset; /* for CFI_SAVED_CFA and CFI_SAVED_FP */
};

struct cfi_state {
	/* CFI_CFA_SP, _FP: the register was given by its number; else by an expression. */
	enum cfi_cfa cfa;
	int64_t cfa_offset;
	int16_t pushed_from; /* for CFI_CFA_PLT */
	struct cfi_saved_at fp, ra;
};

struct cfi_cie {
	const struct cfi_machine *machine;
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* DW_EH_PE_* of the addresses in FDEs */
	bool has_size;    /* FDEs have augmentation data, preceded by its size */
	bool is_signal;   /* its functions are signal trampolines */
	struct cfi_state initial;
};

/* The instructions of an FDE, and the virtual address in the file at which its code starts. */
struct cfi_program {
	uint64_t start;
	const uint8_t *code;
	uint32_t code_bytes;
};

/* False if the CIE has an unknown augmentation or instructions that cannot be executed. */
bool cfi_cie_read(const struct cfi_machine *m, const Dwarf_CIE *from, struct cfi_cie *out);
/*
 * fde_address: the virtual address of fde->start. *length: bytes of code that the FDE describes. False if the addresses
 * cannot be decoded.
 */
bool cfi_program_read(const struct cfi_cie *cie, const Dwarf_FDE *fde, uint64_t fde_address,
	struct cfi_program *out, uint64_t *length);

#define CFI_REMEMBERED_MAX 16

/* An execution in progress: cfi_run_begin, then cfi_run_next until it returns false. */
struct cfi_run {
	const struct cfi_cie *cie;
	const uint8_t *at, *end;
	uint64_t address;
	struct cfi_state state, remembered[CFI_REMEMBERED_MAX];
	unsigned remembered_count;
	bool done, failed;
};

void cfi_run_begin(struct cfi_run *run, const struct cfi_cie *cie, const struct cfi_program *p);
/*
 * The next row: rule applies from *address to the address of the next row, or to the end of the code. Addresses ascend, but
 * not strictly. After an instruction that cannot be executed the last row is CFI_CFA_OTHER. False: there are no more rows.
 */
bool cfi_run_next(struct cfi_run *run, uint64_t *address, struct wire_unwind_rule *rule);

#endif
