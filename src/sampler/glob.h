/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of names: "http-*|pool-?-*": alternatives, * and ? as in file names. */
#ifndef JHOT_SAMPLER_GLOB_H
#define JHOT_SAMPLER_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Does one of the alternatives match the whole name? "": any name does. */
bool glob_any(const char *pattern, const char *name, size_t bytes);

#endif
