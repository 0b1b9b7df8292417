/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of native and kernel addresses of a target.
 *
 * Sources for a file, merged: .symtab; that of the separate debug file (build id, debuglink), else of .gnu_debugdata; .dynsym; PLT
 * stubs. A function without a name is called by its file offset ("0x1234"). A file that cannot be read gives the empty name and a
 * note. Files are not trusted: they are parsed by a confined child, with limited time and memory. One thread.
 */
#ifndef JHOT_SYMBOLS_SYMBOLS_H
#define JHOT_SYMBOLS_SYMBOLS_H

#include "base/maps.h"

struct symbols;
/* pid: the target; 0: opens paths as they are (tests). nspid: its pid in its own namespace, for perf maps. */
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

/* Returns the module's id for the functions below, -1 if there are too many. The same file has the same id. */
int symbols_module_add(struct symbols *s, const struct proc_map *m);

struct symbol {
	const char *name;   /* demangled, without parameters, or ""; valid until symbols_free */
	const char *module; /* file name: "libc.so.6", "[kernel]", "[vdso]" */
	bool is_jvm;        /* in libjvm */
	bool loading;       /* the name is not known yet */
	/* Where the function begins; while loading, the requested offset or address. */
	uint64_t start;
};

/* offset: a file offset. out->module is always set. */
void symbols_native(struct symbols *s, int module, uint64_t offset, struct symbol *out);
/* The address of a function, by its mangled or demangled name, in this mapping of the module; 0: none. Blocks up to 10 s. */
uint64_t symbols_function(
	struct symbols *s, int module, const struct proc_map *map, const char *name);
/* From /proc/kallsyms; no names if addresses are hidden. */
void symbols_kernel(struct symbols *s, uint64_t address, struct symbol *out);
/* From the perf map of another JIT, /tmp/perf-PID.map. The module is "[anon]"; the name is valid until the next call. */
void symbols_raw(struct symbols *s, uint64_t address, struct symbol *out);

/* What lookups wait for, "reading libjvm.so" or "demangling"; "" if nothing. Valid until the next call. */
const char *symbols_pending(struct symbols *s);
/* What is missing, "kernel names are hidden (...)"; "" if nothing. Valid until the next call. */
const char *symbols_note(struct symbols *s);

#endif
