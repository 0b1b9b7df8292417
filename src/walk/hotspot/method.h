/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whether a word is a Method*, and finds the Symbols that name it. Every step is checked, since the memory may have been
 * freed or reused. Structs belong to the caller. Signal-safe. Layouts: method.hpp, constMethod.hpp, constantPool.hpp,
 * symbol.hpp.
 */
#ifndef JHOT_WALK_HOTSPOT_METHOD_H
#define JHOT_WALK_HOTSPOT_METHOD_H

#include "walk/hotspot/layout.h"

struct method {
	uint64_t method, const_method, pool, klass;
	uint16_t name_index, signature_index;
	uint16_t code_bytes; /* 0 for native and abstract methods */
};

/* Returns false if this is not a Method*, or no longer one. */
bool method_load(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t method,
	struct method *out);

/* Address of the method's compressed line table, which follows its bytecodes; 0: it has none. */
uint64_t method_lines(
	const struct walk_layout *layout, const struct walk_mem *mem, const struct method *m);

struct method_symbols {
	uint64_t class_name, name, signature; /* Symbol* */
};

bool method_symbols(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct method *m, struct method_symbols *out);

/* True when the Symbol has this text, of at most SYMBOL_NAME_MAX bytes. */
#define SYMBOL_NAME_MAX 80
bool symbol_is(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t symbol,
	const char *name);
/* True when the Method has this name. */
bool method_is_named(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t method,
	const char *name);

#endif
