/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the JVM's own performance counters (hsperfdata) from its file.
 *
 * Hostile input: the file belongs to another process and may change or shrink at any time, so it is read with pread(2) and
 * never mapped. Entries are validated once, at open; reading a value is one small pread. Single-threaded; reads block as long
 * as the file does. Layout: HotSpot's perfMemory.hpp, unchanged from JDK 8 to 28 (major 2, minor 0).
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
 * nspid: the JVM's pid in its own namespace. jvm: result of libjvm_find. NULL with an error that says why there are no counters
 * (-XX:-UsePerfData, another user); ERR_BUSY: the JVM is still starting and has not filled the file yet.
 */
struct hsperf *hsperf_open(pid_t pid, pid_t nspid, const struct libjvm *jvm, struct err *err);
/* The same from a descriptor, which it closes, also on failure. */
struct hsperf *hsperf_open_fd(int fd, struct err *err);
void hsperf_close(struct hsperf *h);

int hsperf_count(const struct hsperf *h);
const char *hsperf_name(const struct hsperf *h, int index);
int hsperf_find(const struct hsperf *h, const char *name); /* index; -1: none */
/* The same for a formatted name of at most 63 characters. */
__attribute__((format(printf, 2, 3))) int hsperf_findf(
	const struct hsperf *h, const char *format, ...);
int64_t hsperf_long(const struct hsperf *h, int index); /* -1 for index -1 */
/* A text, cleaned (base/clean.h) and cut to fit; false and "" if there is none. */
bool hsperf_string(const struct hsperf *h, int index, char *out, size_t bytes);

#endif
