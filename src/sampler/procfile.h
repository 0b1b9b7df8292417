/* SPDX-License-Identifier: Apache-2.0 */
/* Small files of /proc, for agent threads. Makes openat, read and close only, which no JVM can do without. */
#ifndef JHOT_SAMPLER_PROCFILE_H
#define JHOT_SAMPLER_PROCFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROCFILE_STATUS 4096u /* holds /proc/PID/status: 1.5 kB */

/* The beginning of the file, NUL-terminated. False, and "", when it is empty or cannot be read. */
bool procfile_read(const char *path, char *out, size_t bytes);
/* The number behind NAME at the beginning of a line; `otherwise` where no line begins so. */
uint64_t procfile_number(const char *text, const char *name, uint64_t otherwise);
/*
 * The number of a thread's seccomp filters, by its status. 0: none. PROCFILE_FILTERS: some, Linux before 5.9 does not say how
 * many.
 */
#define PROCFILE_FILTERS UINT32_MAX
uint32_t procfile_filters(const char *status);

#endif
