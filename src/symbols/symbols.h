/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for native and kernel addresses of a target, from the target's own files.
 *
 * From .symtab, else the separate debug file (build-id, debuglink), else .gnu_debugdata, else .dynsym. A function that
 * no table names is called by where it begins in the file ("0x1234"); a file that cannot be read yields the empty name
 * and a note. The files are not trusted: what reading one may cost is bounded. One thread asks.
 */
#ifndef JHOT_SYMBOLS_SYMBOLS_H
#define JHOT_SYMBOLS_SYMBOLS_H

#include "base/maps.h"

struct symbols;
/* pid: the target, for file access and perf maps; 0: files as named (tests). */
struct symbols *symbols_new(pid_t pid, pid_t nspid);
void symbols_free(struct symbols *s);

/*
 * From now on files are read, and names demangled, by threads of their own (loader.h); a symbol that needs either is
 * reported as loading until then. Without this call, lookups block and their first answer is final.
 */
void symbols_start_thread(struct symbols *s);
/* Starts reading a module's, or the kernel's, names. Returns true when they have been read. */
bool symbols_load_module(struct symbols *s, int module);
bool symbols_load_kernel(struct symbols *s);
/* True when a lookup would be final (symbol.loading is false). False starts what is missing. */
bool symbols_ready_native(struct symbols *s, int module, uint64_t offset);
bool symbols_ready_kernel(struct symbols *s, uint64_t address);
bool symbols_ready_raw(struct symbols *s, uint64_t address);
/* True when symbols_function would not block. False starts what is missing. */
bool symbols_ready_function(struct symbols *s, int module, const char *name);
/* Blocks up to `ms`, or until a file has been read or names have been demangled. */
void symbols_wait(struct symbols *s, unsigned ms);

/* Returns a number for symbols_native. */
int symbols_module_add(struct symbols *s, const struct proc_map *m);

struct symbol {
	const char *name;   /* demangled, parameters cut, or ""; valid until symbols_free */
	const char *module; /* file name: "libc.so.6", "[kernel]", "[vdso]" */
	bool is_jvm;        /* in libjvm */
	bool loading; /* not final: the name is not known yet; start is the address that was asked for */
	uint64_t start; /* file offset or address where the function begins */
};

/* offset: a file offset inside the module. The module's name is always given. */
void symbols_native(struct symbols *s, int module, uint64_t offset, struct symbol *out);
/* symbols_function: where in this mapping of the module a function of this name begins; 0 = nowhere. May wait for the file. */
uint64_t symbols_function(
	struct symbols *s, int module, const struct proc_map *map, const char *name);
/* /proc/kallsyms; no name where addresses are hidden. */
void symbols_kernel(struct symbols *s, uint64_t address, struct symbol *out);
/* Code of other JITs: /tmp/perf-PID.map of the target; no name otherwise. The module is "[anon]",
 * the name valid until the next call. */
void symbols_raw(struct symbols *s, uint64_t address, struct symbol *out);

/* What lookups wait for, "reading libjvm.so" or "demangling"; "" if nothing. Valid until the next call. */
const char *symbols_pending(struct symbols *s);
/* What is degraded, in a sentence ("kernel names hidden: kernel.kptr_restrict"), "" if nothing. */
const char *symbols_note(struct symbols *s);

#endif
