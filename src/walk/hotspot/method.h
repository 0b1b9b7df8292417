/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a Method*: whether a word is one at all, and the Symbols that name it. Signal-safe. */
#ifndef JHOT_WALK_HOTSPOT_METHOD_H
#define JHOT_WALK_HOTSPOT_METHOD_H

#include "walk/hotspot/layout.h"

struct method {
	uint64_t method, const_method, pool, klass;
	uint16_t name_index, signature_index;
	uint16_t code_bytes; /* 0 for native and abstract methods */
};

/* false: not a Method*, or it is gone. */
bool method_load(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t method,
	struct method *out);

/* Where its compressed line table is, behind its bytecodes; 0: it has none. */
uint64_t method_lines(
	const struct walk_layout *layout, const struct walk_mem *mem, const struct method *m);

struct method_symbols {
	uint64_t class_name, name, signature; /* Symbol* */
};

bool method_symbols(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct method *m, struct method_symbols *out);

/* Whether a Symbol says this, at most SYMBOL_NAME_MAX characters; false: or it is none. */
#define SYMBOL_NAME_MAX 80
bool symbol_is(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t symbol,
	const char *name);
/* The same of a Method's name. */
bool method_is_named(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t method,
	const char *name);

#endif
