/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dynamic symbols of one mapped file, by name: where a variable that it exports lies in the target.
 *
 * Read once, by the child, from the very file that is mapped. One thread.
 */
#ifndef JHOT_SYMBOLS_DYNSYM_H
#define JHOT_SYMBOLS_DYNSYM_H

#include "base/err.h"
#include "symbols/loader.h"
#include "symbols/mapped.h"

struct dynsym;

/*
 * m: the mapping of the file's beginning (offset 0). pid 0: the file as named. child: used during the call only. Blocks until the
 * file is read, or fails early when *stop is set (NULL: never).
 */
struct dynsym *dynsym_open(struct elf_child *child, pid_t pid, const struct proc_map *m,
	const atomic_bool *stop, struct err *err);
void dynsym_close(struct dynsym *d);

/* The same as a load (loader.h): the result is valid once loader_ask() returns true, and the caller's to close. */
struct dynsym_load {
	struct load load; /* the first member */
	pid_t pid;
	struct proc_map map;   /* its path is the load's */
	struct dynsym *result; /* NULL: the file exports nothing, or cannot be read */
};
struct dynsym_load *dynsym_load_new(pid_t pid, const struct proc_map *m);
/* Not while the loader may use it. Does not close the result. */
void dynsym_load_free(struct dynsym_load *l);

/*
 * The symbol's address in the target, 0 if the file exports none of this name. indirect, or NULL: of an indirect function (memcpy,
 * strlen) that is a resolver's, which chooses one of several when the program starts; those who call it keep what was
 * chosen.
 */
uint64_t dynsym_find(const struct dynsym *d, const char *name, bool *indirect);
/* Where in the target this file keeps the address of a function that it imports, 0 if it does not. */
uint64_t dynsym_import(const struct dynsym *d, const char *name);

#endif
