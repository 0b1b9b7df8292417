/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JVM's own performance counters (hsperfdata), mapped read-only from its file.
 *
 * Hostile input: the file is another process's. Entries are checked once at open; values are then read by
 * index. One thread. hsperf_open says why when there is none (-XX:-UsePerfData, another user).
 */
#ifndef JHOT_ATTACH_HSPERF_H
#define JHOT_ATTACH_HSPERF_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct hsperf;
struct hsperf *hsperf_open(pid_t pid, pid_t nspid, struct err *err);
void hsperf_close(struct hsperf *h);
int hsperf_find(const struct hsperf *h, const char *name);	/* index or -1 */
int64_t hsperf_long(const struct hsperf *h, int index);		/* -1 for index -1 */
bool hsperf_string(const struct hsperf *h, int index, char *out, size_t bytes);

#endif
