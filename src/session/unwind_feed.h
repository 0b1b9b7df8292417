/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind rows on their way to the agent: which module next, compile it, cut it into pieces.
 *
 *   MODULE record -> unwind_feed_module -> queue -> cfi -> pack -> unwind_feed_step: pieces in the staging area
 *   -> the caller sends WIRE_OP_UNWIND with their bytes -> unwind_feed_answer -> the next step
 *
 * Modules that keep frame pointers matter least: they go last, and make space when the agent's budget is used up. A
 * module without rows, or that finds no space, is left to frame pointers. A thread of the feed's own compiles; one calls.
 */
#ifndef JHOT_SESSION_UNWIND_FEED_H
#define JHOT_SESSION_UNWIND_FEED_H

#include "base/maps.h"

#include <stddef.h>

struct unwind_feed;

/* pid: the target, for its files and its vDSO; 0: files as named (tests). */
struct unwind_feed *unwind_feed_new(pid_t pid);
void unwind_feed_free(struct unwind_feed *f);
/* unwind_feed_ahead: has the rows that most stacks need compiled while the agent is being loaded. */
void unwind_feed_ahead(struct unwind_feed *f);

/* A module that the agent announced. Only queues it. */
void unwind_feed_module(struct unwind_feed *f, uint32_t id, const struct proc_map *m);

/*
 * unwind_feed_step: takes what is compiled and has more compiled, waiting for at most wait_ns, and never for libjvm. The
 * bytes of pieces in the staging area, which are to be sent and answered before the next step; 0: there are none yet.
 */
size_t unwind_feed_step(
	struct unwind_feed *f, void *staging, size_t staging_bytes, uint64_t wait_ns);
/*
 * The result of the command: how many pieces the agent took, or why not even the first: -EAGAIN (later), -ENOSPC (no
 * space), -ENOENT (module gone), any other -errno.
 */
void unwind_feed_answer(struct unwind_feed *f, int result);

/* Whether there is anything to do: steps are worth calling. */
bool unwind_feed_busy(const struct unwind_feed *f);
/* Whether a step now would find more than the one before; else what is busy is a file being compiled. */
bool unwind_feed_ready(const struct unwind_feed *f);

struct unwind_feed_status {
	unsigned sent, waiting; /* modules */
	unsigned without_rows;  /* no call frame information, or a file that cannot be read */
	unsigned without_space;
	size_t bytes;     /* of rows that the agent was given */
	const char *note; /* the last module left out and why, "" if none; until the next step */
};
void unwind_feed_status(const struct unwind_feed *f, struct unwind_feed_status *out);

#endif
