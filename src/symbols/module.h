/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One mapped file and its names: read when first asked, then searched.
 *
 * Owned by struct symbols. One thread.
 */
#ifndef JHOT_SYMBOLS_MODULE_H
#define JHOT_SYMBOLS_MODULE_H

#include "symbols/elf_symbols.h"
#include "symbols/symbols.h"

#define MODULE_SEGMENTS 16

struct module {
	struct symbols_module where; /* path is ours */
	const char *name;            /* the end of path, or "[vdso]" */
	bool is_jvm, loaded;
	struct symtab table;
	struct elf_segment segments[MODULE_SEGMENTS];
	uint32_t segment_count;
	char note[200]; /* why there are no names, "" if there are */
};

struct module *module_new(const struct symbols_module *where);
void module_free(struct module *m);
bool module_function(struct module *m, pid_t pid, const char *name, uint64_t *offset);
void module_name(struct module *m, pid_t pid, uint64_t offset, struct symbol *out);

#endif
