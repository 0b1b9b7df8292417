/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JVM's own performance counters (hsperfdata), read from its file.
 *
 * Hostile input: the file is another process's and may change or shrink at any time, so it is read with
 * pread, never mapped. Entries are checked once at open; a value is then one small read. One thread.
 * hsperf_open says why when there is none (-XX:-UsePerfData, another user). Layout: HotSpot's
 * perfMemory.hpp, unchanged from JDK 8 to 28 (major 2, minor 0).
 */
#ifndef JHOT_ATTACH_JVM_HSPERF_H
#define JHOT_ATTACH_JVM_HSPERF_H

#include "attach/jvm/libjvm.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hsperf;

/*
 * nspid: the JVM's pid as it sees itself (hotspot.h). jvm: what libjvm_find has found. NULL with an error, whose kind is
 * ERR_BUSY while the JVM is still starting and has not filled the file yet.
 */
struct hsperf *hsperf_open(pid_t pid, pid_t nspid, const struct libjvm *jvm, struct err *err);
/* hsperf_open_fd: the same from a descriptor, which is taken over in every case. */
struct hsperf *hsperf_open_fd(int fd, struct err *err);
void hsperf_close(struct hsperf *h);

int hsperf_count(const struct hsperf *h);
const char *hsperf_name(const struct hsperf *h, int index);
int hsperf_find(const struct hsperf *h, const char *name); /* index or -1 */
int64_t hsperf_long(const struct hsperf *h, int index);    /* -1 for index -1 */
/* Cleaned (base/clean.h). */
bool hsperf_string(const struct hsperf *h, int index, char *out, size_t bytes);

#endif
