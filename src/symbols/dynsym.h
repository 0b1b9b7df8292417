/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dynamic symbols of a mapped file by name: addresses of exported symbols in the target.
 *
 * Read once, by the child, from the file that is mapped. Lookups are linear, without allocation. One thread.
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

/* The same as a load (loader.h): the result is valid once loader_request() returns true, and the caller's to close. */
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
 * The address of an exported symbol in the target, 0 if there is none of this name. indirect (may be NULL): set if it is an IFUNC,
 * such as memcpy; the address is then that of the resolver, which selected an implementation when the program started.
 */
uint64_t dynsym_find(const struct dynsym *d, const char *name, bool *indirect);
/* The address in the target of the GOT slot for an imported function, 0 if there is none. */
uint64_t dynsym_import(const struct dynsym *d, const char *name);

#endif
