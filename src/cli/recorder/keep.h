/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limits of --keep: removes the oldest files of a rotating recording.
 *
 * Only regular files of the effective user are removed, whose whole name could have been given by the same -o for the same program
 * and host. Files of other instances of the program count as well. Blocks on the file system. One thread.
 */
#ifndef JHOT_CLI_RECORDER_KEEP_H
#define JHOT_CLI_RECORDER_KEEP_H

#include "base/err.h"

#include <stdint.h>

/* 0: no limit */
struct keep {
	uint64_t age_ns, bytes;
	unsigned files;
};

/* Parses "24h,2G,1000": an age, a size and a number of files, each optional, in any order. */
int keep_parse(struct keep *k, const char *text, struct err *err);
/*
 * Removes files in the folder of `path` whose names match the regular expression, oldest first by modification time, until `more`
 * further files of `space` bytes in all would be within the limits. The youngest one stays. Returns the number of files removed, or -1 with an error.
 */
int keep_apply(const struct keep *k, const char *path, const char *regex, unsigned more,
	uint64_t space, struct err *err);
/* Calls fn with the path of each such file, oldest first. Returns 0, or -1 with an error. */
int keep_each(const char *path, const char *regex, void (*fn)(void *ctx, const char *path),
	void *ctx, struct err *err);

#endif
