/* SPDX-License-Identifier: Apache-2.0 */
/* Reads small files of /proc, for agent threads. Uses only openat, read and close, which every JVM needs as well. */
#ifndef JHOT_SAMPLER_PROCFILE_H
#define JHOT_SAMPLER_PROCFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROCFILE_STATUS 4096u /* enough for /proc/PID/status (1.5 kB) */

/* Reads the beginning of the file, NUL-terminated. False, and "", when it is empty or unreadable. */
bool procfile_read(const char *path, char *out, size_t bytes);
/* Returns the number after NAME at the beginning of a line; `otherwise` if no line begins with NAME. */
uint64_t procfile_number(const char *text, const char *name, uint64_t otherwise);
/*
 * The number of a thread's seccomp filters according to its status. 0: none. PROCFILE_FILTERS: at least one; Linux
 * before 5.9 does not report how many.
 */
#define PROCFILE_FILTERS UINT32_MAX
uint32_t procfile_filters(const char *status);

#endif
