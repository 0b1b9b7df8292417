/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ELF files that a process has mapped: opened here, with the caller's privileges, and parsed by the child.
 *
 * A file is used only if it is the one in memory: the build id in the file and the one that the process has mapped must be the
 * same, or a library that was overwritten would be described by its successor. May block on the file system.
 */
#ifndef JHOT_SYMBOLS_MAPPED_H
#define JHOT_SYMBOLS_MAPPED_H

#include "base/maps.h"
#include "symbols/child/child.h"

struct mapped_file {
	int fd;       /* -1: the vDSO */
	int debug_fd; /* its separate debug file, -1: none */
	struct elf_facts facts;
};

enum mapped {
	MAPPED_OTHER, /* not an ELF file: an archive of classes, [vsyscall] */
	MAPPED_OPEN,
	MAPPED_FAILED, /* err says why, with the file's name */
};

/* mapped_open: pid 0: the file as named, for tests. out is valid after MAPPED_OPEN, and then to be closed. */
enum mapped mapped_open(struct elf_child *child, pid_t pid, const struct proc_map *map,
	const atomic_bool *stop, struct mapped_file *out, struct err *err);
void mapped_close(struct mapped_file *f);

/* unwind_pack_mapped: the unwind rows of a mapped file, as a block for the agent. keeps_fp: most of its code has frame pointers. */
enum mapped unwind_pack_mapped(struct elf_child *child, pid_t pid, const struct proc_map *map,
	const atomic_bool *stop, struct buf *out, bool *keeps_fp, struct err *err);

/* --- debug_file.c -------------------------------------------------------------------------------------- */

/*
 * debug_file_open: the separate debug file, for the caller to close; -1: none. path is the ELF file's in the target's root.
 *
 * Searched by build id and by debuglink in the target's root, and by build id in our own (/usr/lib/debug and the cache of
 * debuginfod's client); nothing is downloaded. The build id must match, or the checksum where there is none.
 */
int debug_file_open(struct elf_child *child, pid_t pid, const char *path,
	const struct elf_facts *facts, const atomic_bool *stop);

#endif
