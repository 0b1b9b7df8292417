/* SPDX-License-Identifier: Apache-2.0 */
/* Mangled names of C++ and Rust as people write them. Pure functions. */
#ifndef JHOT_SYMBOLS_DEMANGLE_H
#define JHOT_SYMBOLS_DEMANGLE_H

/* demangle_name: the name without parameters, or a copy if it is not mangled. The caller frees it. */
char *demangle_name(const char *mangled);

#endif
