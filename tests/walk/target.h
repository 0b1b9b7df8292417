/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A live JVM as seen from another process, for the walker's tests: memory as read by dump/remote.h, libjvm's dynamic
 * symbols from its file, threads by ptrace. One thread at a time is stopped, for one walk only. Errors end the test
 * with a message.
 */
#ifndef JHOT_TESTS_WALK_TARGET_H
#define JHOT_TESTS_WALK_TARGET_H

#include <sys/types.h>

#include "walk/hotspot/layout.h"

struct target;

/* NULL if pid maps no libjvm or may not be read. */
struct target *target_open(pid_t pid);
void target_close(struct target *t);

/* Reads through a cache of pages that lasts until target_forget: one walk sees one state. */
const struct walk_mem *target_mem(struct target *t);
void target_forget(struct target *t);

/* 0, or -1 with a note. */
int target_layout(struct target *t, struct walk_layout *layout, char *note, size_t note_bytes);

/* The same, read through another memory. */
int target_layout_by(struct target *t, const struct walk_mem *mem, struct walk_layout *layout,
	char *note, size_t note_bytes);

/* All threads of the process; the count, at most max. */
int target_threads(struct target *t, pid_t *tids, int max);
bool target_running(struct target *t, pid_t tid);

/* Stops a thread and reads the registers that the walker needs; false if it exited. target_resume continues it. */
bool target_stop(struct target *t, pid_t tid, struct walk_regs *regs);
void target_resume(struct target *t, pid_t tid);

/* The bounds of the mapping that contains sp. */
void target_stack(struct target *t, uint64_t sp, uint64_t *lo, uint64_t *hi);

/* "libjvm.so+0x1234" for a native pc, with the symbol's name if known. */
void target_describe(struct target *t, uint64_t pc, char *out, size_t bytes);

#endif
