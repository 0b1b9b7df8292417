/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening the ELF files that a process has mapped, with the privileges of the caller, for the child to parse.
 *
 * A file is used only if it is the mapped one: the build id of the file must equal that in the memory of the process, otherwise a
 * library that was overwritten would be confused with its successor. Functions block on the file system. One thread per child.
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
	MAPPED_FAILED, /* see err, which names the file */
};

/* pid 0: opens the path as it is (tests). After MAPPED_OPEN the caller closes out with mapped_close. */
enum mapped mapped_open(struct elf_child *child, pid_t pid, const struct proc_map *map,
	const atomic_bool *stop, struct mapped_file *out, struct err *err);
void mapped_close(struct mapped_file *f);

/* The unwind rows of a mapped file as a block for the agent. *keeps_fp: most of its code has frame pointers. */
enum mapped unwind_pack_mapped(struct elf_child *child, pid_t pid, const struct proc_map *map,
	const atomic_bool *stop, struct buf *out, bool *keeps_fp, struct err *err);

/*
 * Opens the separate debug file of an ELF file, whose path is in the target's root. Returns a descriptor, or -1 if there is none.
 *
 * Searches the directories that gdb and elfutils search: by build id and debuglink in the target's root, and by build id in ours
 * (/usr/lib/debug and debuginfod's cache). Downloads nothing. The build id, or without one the checksum, must match.
 */
int debug_file_open(struct elf_child *child, pid_t pid, const char *path,
	const struct elf_facts *facts, const atomic_bool *stop);

#endif
