/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading ELF files with libelf: symbol tables, segments, build ids.
 *
 * Files are not trusted, but libelf trusts the sizes in their headers, and a file may be large and sparse: files with a table
 * larger than ELF_FILE_SECTION_MAX are rejected. In the child only (child/child.h), and in tests and fuzzers. One thread.
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

#define ELF_FILE_SECTION_MAX (256u << 20) /* the largest known: names of a browser, 150 MB */

/* elf_begin for reading. NULL: not a 64-bit ELF file, or rejected. */
Elf *elf_file_begin(int fd);

/* Our own vDSO, which is the same image as the target's. */
Elf *elf_file_begin_vdso(void);
/* Decompresses xz data into a mapping of `most` bytes, which the caller unmaps. *size: bytes decompressed. NULL: failed, or too large. */
void *elf_file_unpack(const void *data, size_t bytes, size_t most, size_t *size);

void elf_facts_read(Elf *elf, struct elf_facts *out);
/* CRC-32 of the whole file. Returns false if it is too large, changes its size while it is read, or cannot be read. */
bool elf_facts_crc(int fd, uint32_t *out);

/*
 * Functions by virtual address, from all available sources: .symtab, that of the separate debug file or of .gnu_debugdata, .dynsym,
 * PLT stubs, and starts of functions without a name. debug: NULL if there is none. The table is finished.
 */
void elf_names_read(Elf *elf, Elf *debug, struct symtab *out);

/* Appends dynamic symbols as an array of struct elf_export, and the texts of their names. */
void elf_exports_read(Elf *elf, struct buf *exports, struct buf *texts);

/* The functions below accept any 64-bit Elf, however damaged. Addresses are virtual addresses in the file. */

/* code_open with the PLT stubs of known functions that do not return. */
struct code *elf_symbols_code(Elf *elf, const atomic_bool *stop);

/* Loaded segments, at most `max`. Returns their number. */
uint32_t elf_symbols_segments(Elf *elf, struct elf_segment *out, uint32_t max);

/* The first section of this name; NULL: none. */
Elf_Scn *elf_section(Elf *elf, const char *name, GElf_Shdr *header);

#endif
