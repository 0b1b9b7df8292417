/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading ELF files with libelf: opening them, symbol tables, segments, build ids.
 *
 * The files are hostile. libelf trusts the sizes in headers, and a file may be large and sparse: one with a table larger
 * than ELF_FILE_SECTION_MAX is not opened. Called in the child only (child/child.h), and by tests and fuzzers.
 */
#ifndef JHOT_SYMBOLS_ELF_H
#define JHOT_SYMBOLS_ELF_H

#include "symbols/facts.h"
#include "symbols/symtab.h"

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <sys/types.h>

struct code;

#define ELF_FILE_SECTION_MAX (256u << 20) /* the largest there are: browsers' names, 150 MB */

/* elf_file_begin: elf_begin for reading; NULL when it is no 64-bit ELF file, or not one to be read. */
Elf *elf_file_begin(int fd);

/* elf_file_debug_fits: may libdw be given this file, of which it reads all .debug sections? */
bool elf_file_debug_fits(Elf *elf);

/* elf_file_begin_vdso: the kernel gives all processes the same image, so ours serves for the target's. */
Elf *elf_file_begin_vdso(void);
/* elf_file_unpack: a .xz that unpacks to at most so many bytes, `size` of them; to be unmapped, all `most`. Else NULL. */
void *elf_file_unpack(const void *data, size_t bytes, size_t most, size_t *size);

/* --- elf_facts.c ------------------------------------------------------------------------------- */

void elf_facts_read(Elf *elf, struct elf_facts *out);
/* elf_facts_crc: of the whole file. False if it is too large, changes its size meanwhile, or cannot be read. */
bool elf_facts_crc(int fd, uint32_t *out);

/* --- elf_names.c ------------------------------------------------------------------------------- */

/*
 * elf_names_read: functions by virtual address, from all sources that there are: .symtab, that of the separate debug file or of
 * .gnu_debugdata, .dynsym, call stubs, and beginnings of functions without a name. debug: NULL if there is none. A finished
 * table.
 */
void elf_names_read(Elf *elf, Elf *debug, struct symtab *out);

/* --- elf_exports.c ----------------------------------------------------------------------------- */

/* elf_exports_read: dynamic symbols as an array of struct elf_export, and the texts of their names. */
void elf_exports_read(Elf *elf, struct buf *exports, struct buf *texts);

/* --- elf_symbols.c ----------------------------------------------------------------------------- */

/* All of them from an Elf of 64 bits with which anything else may be wrong, into a symtab of virtual addresses. */

/* elf_symbols_table: functions of the first section of this type (SHT_SYMTAB, SHT_DYNSYM). How many. */
uint32_t elf_symbols_table(Elf *elf, uint32_t section_type, struct symtab *out);
/* Stubs of calls to other libraries, as "name@plt". */
void elf_symbols_plt(Elf *elf, struct symtab *out);
/* elf_symbols_code: code_open, with the stubs of functions of other libraries that do not return. */
struct code *elf_symbols_code(Elf *elf, const atomic_bool *stop);

/* Where functions begin, from .eh_frame_hdr, and code ends: marks, for what has no name. How many functions. */
uint32_t elf_symbols_marks(Elf *elf, struct symtab *out);

/* Loaded segments, at most `max`. Returns their number. */
uint32_t elf_symbols_segments(Elf *elf, struct elf_segment *out, uint32_t max);

/* The first section of this name, of this type, or NULL. */
Elf_Scn *elf_section(Elf *elf, const char *name, GElf_Shdr *header);
Elf_Scn *elf_section_of_type(Elf *elf, uint32_t type, GElf_Shdr *header);

#endif
