/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demangling of C++ and Rust names. Pure functions, whose cost depends on the name: see names.h.
 *
 * C++ is demangled by the C++ runtime. (libiberty's demangler is not used: it is LGPL and defines xmalloc, as base/buf.h does.)
 */
#ifndef JHOT_SYMBOLS_DEMANGLE_H
#define JHOT_SYMBOLS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* True for names of C++'s and Rust's manglings; demangle_name is linear in the length of all others. */
bool demangle_is_mangled(const char *name);
/* The name without parameters, or a copy if it is not mangled. The caller frees it. */
char *demangle_name(const char *mangled);

/* Rust's v0 mangling, printed as by rustc-demangle. NULL if the name is not mangled like this. The caller frees the result. */
char *demangle_rust_v0(const char *mangled, size_t len);

static inline bool demangle_is_digit(char c)
{
	return c >= '0' && c <= '9';
}
/* The value of a lower-case hexadecimal digit, -1 if it is none. */
static inline int demangle_hex_digit(char c)
{
	return demangle_is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

#endif
