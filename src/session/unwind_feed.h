/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends unwind rows to the agent: schedules modules, compiles their rows, cuts them into pieces.
 *
 *   MODULE record -> unwind_feed_module -> queue -> cfi -> pack -> unwind_feed_step: pieces in the staging area
 *   -> the caller sends WIRE_OP_UNWIND with their bytes -> unwind_feed_answer -> the next step
 *
 * States of a module; the feed's own thread compiles one at a time, and at most one batch of pieces is in flight (session.h):
 *
 *   AHEAD --announced--> WAITING --compiled--> READY --last piece accepted--> SENT
 *                           |                    |                             |
 *                           | no rows            | refused, unmapped           | evicted
 *                           +--------------------+-----------------------------+--> LEFT_OUT
 *
 * Modules that keep frame pointers go last, and are evicted first when the agent's budget is used up. A module that is left out
 * is unwound by frame pointers. All functions are for one thread.
 */
#ifndef JHOT_SESSION_UNWIND_FEED_H
#define JHOT_SESSION_UNWIND_FEED_H

#include "base/maps.h"

#include <stddef.h>

struct unwind_feed;

/* pid: the target, whose files and vDSO are read; 0: paths are opened as they are (tests). */
struct unwind_feed *unwind_feed_new(pid_t pid);
void unwind_feed_free(struct unwind_feed *f);
/* Starts compiling the modules that most stacks need, before the agent announces them. */
void unwind_feed_ahead(struct unwind_feed *f);

/* Queues a module that the agent has announced. Does not block. */
void unwind_feed_module(struct unwind_feed *f, uint32_t id, const struct proc_map *m);

/*
 * Collects compiled rows and starts the next compilation; waits at most wait_ns, never for libjvm. Returns the bytes of
 * pieces written to the staging area, which must be sent and answered before the next step; 0: none yet.
 */
size_t unwind_feed_step(
	struct unwind_feed *f, void *staging, size_t staging_bytes, uint64_t wait_ns);
/*
 * The result of the command: the number of pieces that the agent accepted, or the reason for refusing the first: -EAGAIN
 * (retry later), -ENOSPC, -ENOENT (module unloaded), any other -errno.
 */
void unwind_feed_answer(struct unwind_feed *f, int result);

/* True while modules are queued, being compiled or sent. */
bool unwind_feed_busy(const struct unwind_feed *f);
/* True when a step would make progress now; otherwise the feed waits for a compilation. */
bool unwind_feed_ready(const struct unwind_feed *f);

struct unwind_feed_status {
	unsigned sent, waiting; /* modules */
	unsigned without_rows;  /* no call frame information, or an unreadable file */
	unsigned without_space; /* refused or evicted by the agent */
	size_t bytes;           /* rows that the agent has accepted */
	/* The last module left out, and why; "": none. Valid until the next step. */
	const char *note;
};
void unwind_feed_status(const struct unwind_feed *f, struct unwind_feed_status *out);

#endif
