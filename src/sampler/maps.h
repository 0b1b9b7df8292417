/* SPDX-License-Identifier: Apache-2.0 */
/* The process's own mappings, line by line as /proc/self/maps has them. */
#ifndef JHOT_SAMPLER_MAPS_H
#define JHOT_SAMPLER_MAPS_H

#include <stdbool.h>
#include <stddef.h>

typedef void maps_line_fn(void *ctx, const char *line, size_t bytes);

/* maps_each: every line without its end, but none that is longer than the buffer. False when maps cannot be opened. */
bool maps_each(char *buffer, size_t bytes, maps_line_fn *fn, void *ctx);

#endif
