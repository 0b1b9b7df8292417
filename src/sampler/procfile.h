/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and parses small files of /proc, for agent threads. Uses only openat, read and close, which every JVM needs as
 * well; does not allocate.
 */
#ifndef JHOT_SAMPLER_PROCFILE_H
#define JHOT_SAMPLER_PROCFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROCFILE_STATUS 4096u /* enough for /proc/PID/status (1.5 kB) */

/* Reads the beginning of the file, NUL-terminated. False, and "", when it is empty or unreadable. */
bool procfile_read(const char *path, char *out, size_t bytes);
/* Reads the status of the calling thread; of the process where the kernel has no file for the thread. */
bool procfile_status(char out[PROCFILE_STATUS]);

/*
 * Calls fn for each line, NUL-terminated in place of its line feed. A line longer than the buffer loses its beginning.
 * False when the file cannot be opened. procfile_maps: the memory mappings of this process.
 */
typedef void procfile_line_fn(void *ctx, const char *line, size_t bytes);
bool procfile_lines(const char *path, char *buffer, size_t bytes, procfile_line_fn *fn, void *ctx);
bool procfile_maps(char *buffer, size_t bytes, procfile_line_fn *fn, void *ctx);

/* Parses the digits at *at and moves it past them; 0 if there are none. base: 10 or 16, in lower case. */
uint64_t procfile_digits(const char **at, unsigned base);
/* The text after NAME at the beginning of a line, and after blanks; NULL if no line begins with NAME. */
const char *procfile_find(const char *text, const char *name);
/* The decimal number there; `otherwise` if no line begins with NAME. */
uint64_t procfile_number(const char *text, const char *name, uint64_t otherwise);
/*
 * The number of a thread's seccomp filters according to its status. 0: none. PROCFILE_FILTERS: at least one; Linux
 * before 5.9 does not report how many. PROCFILE_STRICT: in strict mode, which ends a thread for nearly every call.
 */
#define PROCFILE_FILTERS UINT32_MAX
#define PROCFILE_STRICT  (UINT32_MAX - 1)
uint32_t procfile_filters(const char *status);

/* True when the kernel is of this version or newer; false, too, when its version cannot be read. */
bool procfile_linux_since(uint64_t major, uint64_t minor);

#endif
