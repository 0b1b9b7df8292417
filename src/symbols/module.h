/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One mapped file and its names: read when first asked, maybe by a loader's thread, then searched.
 *
 * Owned by struct symbols. What is not loaded yet has no names; only module_ask may then be called. One thread.
 */
#ifndef JHOT_SYMBOLS_MODULE_H
#define JHOT_SYMBOLS_MODULE_H

#include "symbols/elf.h"
#include "symbols/loader.h"
#include "symbols/symbols.h"

#define MODULE_SEGMENTS 16

struct module {
	struct load load; /* the first member */
	pid_t pid;
	struct proc_map where; /* path is ours */
	struct proc_map asked; /* where it was when it was asked for */
	const char *name;      /* the end of path, or "[vdso]" */
	bool is_jvm;
	bool counted; /* it is loaded, and symbols know it */
	struct symtab table;
	struct elf_segment segments[MODULE_SEGMENTS];
	uint32_t segment_count;
	char note[200]; /* why there are no names, "" if there are */
};

struct module *module_new(const struct proc_map *where, pid_t pid);
void module_free(struct module *m);
bool module_ask(struct module *m, struct loader *loader); /* true: it is loaded */
size_t module_bytes(const struct module *m);              /* that it holds */
bool module_function(struct module *m, const char *name, uint64_t *offset);
void module_name(struct module *m, uint64_t offset, struct symbol *out);

#endif
