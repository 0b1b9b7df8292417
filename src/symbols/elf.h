/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ELF files of others: opening them, what they say about names, the symbol tables that were split off them.
 *
 * libelf believes what headers say of sizes, and a file may be large and empty: one whose tables are larger than
 * ELF_FILE_SECTION_MAX is not opened, so that reading costs no more than any honest file does. Plain functions.
 */
#ifndef JHOT_SYMBOLS_ELF_H
#define JHOT_SYMBOLS_ELF_H

#include "symbols/symtab.h"

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <sys/types.h>

struct code;

#define ELF_FILE_SECTION_MAX (256u << 20) /* the largest there are: browsers' names, 150 MB */

/* elf_file_is: does it begin as one? Archives of classes (.jsa) are mapped as code, too. */
bool elf_file_is(int fd);
/* elf_file_begin: elf_begin for reading; NULL when it is no 64-bit ELF file, or not one to be read. */
Elf *elf_file_begin(int fd);

/* elf_file_debug_fits: may libdw be given this file, of which it reads all .debug sections? */
bool elf_file_debug_fits(Elf *elf);

/* elf_file_begin_vdso: the kernel gives all processes the same image, so ours serves for the target's. */
Elf *elf_file_begin_vdso(void);
/* elf_file_unpack: a .xz that unpacks to at most so many bytes, `size` of them; to be unmapped, all `most`. Else NULL. */
void *elf_file_unpack(const void *data, size_t bytes, size_t most, size_t *size);

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

/* The loaded ranges of the file: how a file offset becomes a virtual address. */
struct elf_segment {
	uint64_t offset, bytes, address;
	bool is_code;
};
uint32_t elf_symbols_segments(Elf *elf, struct elf_segment *out, uint32_t max);
/* elf_symbols_segment: the one that holds an address, or NULL. */
const struct elf_segment *elf_symbols_segment(
	const struct elf_segment *segments, size_t count, uint64_t address);

/* The first section of this name, of this type, or NULL. */
Elf_Scn *elf_section(Elf *elf, const char *name, GElf_Shdr *header);
Elf_Scn *elf_section_of_type(Elf *elf, uint32_t type, GElf_Shdr *header);

/* --- elf_debug.c ------------------------------------------------------------------------------- */

/*
 * Looks by build-id and by debuglink in the target's root, and by build-id in our own (/usr/lib/debug and the
 * cache of debuginfod's client); nothing is fetched. A file whose build-id (or checksum, where there is none)
 * differs is not taken.
 */

/* elf_debug_open: the separate debug file, for the caller to close; -1: none. path is the ELF file's in the target's root. */
int elf_debug_open(int fd, pid_t pid, const char *path);
/* elf_debug_read: its symbols, else those of .gnu_debugdata. */
void elf_debug_read(Elf *elf, pid_t pid, const char *path, struct symtab *out);

#endif
