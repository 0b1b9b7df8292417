/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one ELF file says about names: its symbol tables, its call stubs, its functions' beginnings.
 *
 * Reads with libelf from an Elf that the caller opened (64-bit; anything may be wrong with it), into a symtab
 * of virtual addresses. No state; one thread.
 */
#ifndef JHOT_SYMBOLS_ELF_SYMBOLS_H
#define JHOT_SYMBOLS_ELF_SYMBOLS_H

#include "symbols/symtab.h"

#include <gelf.h>

/* elf_symbols_table: functions of the first section of this type (SHT_SYMTAB, SHT_DYNSYM). How many. */
uint32_t elf_symbols_table(Elf *elf, uint32_t section_type, struct symtab *out);
/* Stubs of calls to other libraries, as "name@plt". */
void elf_symbols_plt(Elf *elf, struct symtab *out);
/* Where functions begin and code ends, from .eh_frame_hdr: marks, for what has no name. */
void elf_symbols_marks(Elf *elf, struct symtab *out);

/* The loaded ranges of the file: how a file offset becomes a virtual address. */
struct elf_segment {
	uint64_t offset, bytes, address;
};
uint32_t elf_symbols_segments(Elf *elf, struct elf_segment *out, uint32_t max);

/* The first section of this name, of this type, or NULL. */
Elf_Scn *elf_section(Elf *elf, const char *name, GElf_Shdr *header);
Elf_Scn *elf_section_of_type(Elf *elf, uint32_t type, GElf_Shdr *header);

#endif
