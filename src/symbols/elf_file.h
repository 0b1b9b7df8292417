/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening an ELF file that somebody else made, so that reading it with libelf and libdw costs no more than any honest
 * file does: libelf believes what headers say of sizes, and a file may be large and empty.
 *
 * A file whose tables are larger than ELF_FILE_SECTION_MAX is not opened. Plain functions.
 */
#ifndef JHOT_SYMBOLS_ELF_FILE_H
#define JHOT_SYMBOLS_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>

#define ELF_FILE_SECTION_MAX (256u << 20) /* the largest there are: browsers' names, 150 MB */

/* elf_file_is: does it begin as one? Archives of classes (.jsa) are mapped as code, too. */
bool elf_file_is(int fd);
/* elf_file_begin: elf_begin for reading; NULL when it is no 64-bit ELF file, or not one to be read. */
Elf *elf_file_begin(int fd);

/* elf_file_debug_fits: may libdw be given this file, of which it reads all .debug sections? */
bool elf_file_debug_fits(Elf *elf);

/*
 * elf_file_xz_fits: do these bytes unpack, as .xz, to at most so many? Counted from the heads of the packed chunks,
 * which are what an unpacker goes by; false also for what is no such stream.
 */
bool elf_file_xz_fits(const unsigned char *data, size_t bytes, size_t most);

#endif
