/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symbol table that was split off an ELF file: its separate debug file, or what .gnu_debugdata holds.
 *
 * Looks by build-id and by debuglink in the target's root, and by build-id in our own (/usr/lib/debug and the
 * cache of debuginfod's client); nothing is fetched. A file whose build-id (or checksum, where there is none)
 * differs is not taken. One thread; the files are not trusted.
 */
#ifndef JHOT_SYMBOLS_ELF_DEBUG_H
#define JHOT_SYMBOLS_ELF_DEBUG_H

#include "symbols/symtab.h"

#include <libelf.h>
#include <sys/types.h>

/* elf_debug_read: add its symbols; path is the ELF file's in the target's root. How many, 0 if none was found. */
uint32_t elf_debug_read(Elf *elf, pid_t pid, const char *path, struct symtab *out);

/* elf_debug_open: the separate debug file of an open ELF file, for the caller to close; -1 if there is none. */
int elf_debug_open(int fd, pid_t pid, const char *path);

#endif
