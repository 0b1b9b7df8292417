/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child process that parses ELF and DWARF files.
 *
 * libelf, libdw, liblzma and zlib parse the target's files in this child only. It has no privileges, no network, no files
 * but the descriptors that it is sent, and limited memory and CPU time (confine.c). Its replies are checked like any other
 * foreign data before they are used (reply.c).
 *
 * The first request starts the child, which then serves further ones. If it crashes, hangs or reaches a limit, that
 * request fails with a sentence, and the next one starts another child. The child is this program itself with a hidden
 * argument, so main() must begin with elf_child_main().
 *
 * A struct elf_child may be used by one thread at a time. Requests block, and fail early when *stop is set (NULL: never).
 * They return 0, or -1 with an error. Descriptors stay the caller's; -1 as the file is the vDSO.
 */
#ifndef JHOT_SYMBOLS_CHILD_CHILD_H
#define JHOT_SYMBOLS_CHILD_CHILD_H

#include "base/buf.h"
#include "base/err.h"
#include "symbols/facts.h"
#include "symbols/symtab.h"

#include <stdatomic.h>
#include <stdbool.h>

/*
 * Serves requests and returns true if this process was started as a child; the caller then returns from
 * main(). Returns false in every other process, which may start children from then on. before: called in the child with
 * the file of each request, for tests; NULL in jhot.
 */
bool elf_child_main(int argc, char **argv, void (*before)(int fd));

struct elf_child;

struct elf_child *elf_child_new(void);
void elf_child_free(struct elf_child *c);
/* Ends the process, if there is one. The next request starts another. */
void elf_child_stop(struct elf_child *c);
/* Sets the limits of one request in CPU time and, for a child that sleeps, elapsed time. For tests. */
void elf_child_limit(struct elf_child *c, unsigned cpu_ms, unsigned elapsed_ms);

int elf_child_facts(struct elf_child *c, int fd, const atomic_bool *stop, struct elf_facts *out,
	struct err *err);
/* The checksum that .gnu_debuglink uses. */
int elf_child_crc(
	struct elf_child *c, int fd, const atomic_bool *stop, uint32_t *out, struct err *err);
/*
 * Stores a finished table of the file's functions, by virtual address. debug_fd: its separate debug file, -1: none.
 * out must be empty; out->full is set if a limit was reached.
 */
int elf_child_names(struct elf_child *c, int fd, int debug_fd, const atomic_bool *stop,
	struct symtab *out, struct err *err);
/* Appends the file's unwind rows as a block for the agent (wire/unwind.h). */
int elf_child_unwind(struct elf_child *c, int fd, int debug_fd, const atomic_bool *stop,
	struct buf *out, bool *keeps_fp, struct err *err);

/* A dynamic symbol. */
enum elf_export_flag {
	/* imported: value is the address of the GOT slot that holds its address, 0 if none */
	ELF_IMPORTED = 1,
	ELF_INDIRECT = 2, /* an IFUNC: value is the address of its resolver */
	ELF_OLD = 4,      /* not the default version */
};
struct elf_export {
	uint64_t value; /* virtual address in the file */
	uint32_t text;  /* offset of the name in texts */
	uint32_t flags;
};
/* Appends an array of struct elf_export and the texts of their names. Both buffers must be empty. */
int elf_child_exports(struct elf_child *c, int fd, const atomic_bool *stop, struct buf *out,
	struct buf *texts, struct err *err);

#endif
