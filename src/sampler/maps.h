/* SPDX-License-Identifier: Apache-2.0 */
/* The process's own memory mappings, line by line as in /proc/self/maps. Agent threads; no allocation. */
#ifndef JHOT_SAMPLER_MAPS_H
#define JHOT_SAMPLER_MAPS_H

#include <stdbool.h>
#include <stddef.h>

typedef void maps_line_fn(void *ctx, const char *line, size_t bytes);

/*
 * Calls fn for each line, without its line feed. A line longer than the buffer loses its beginning. False when maps
 * cannot be opened.
 */
bool maps_each(char *buffer, size_t bytes, maps_line_fn *fn, void *ctx);

#endif
