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

/* The two manglings of Rust, printed as by rustc-demangle. NULL if the name is not of this kind. The caller frees the result. */
char *demangle_rust_legacy(const char *mangled, size_t len);
char *demangle_rust_v0(const char *mangled, size_t len);

#endif
