/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs slow work (loads) on threads of its own, so that the thread that draws never waits for a file or for a demangler.
 *
 *   LOADER_FILES  reads files; all of its loads share one parser child, which ends after two seconds without a load
 *   LOADER_NAMES  computes: demangling. A lane of its own, so that names do not queue behind a large file
 *
 * Each lane is a FIFO with one thread, created by the lane's first load. One thread, the owner, calls these functions; it
 * polls loader_request() until the load is done. A load runs once:
 *
 *   state         entered by                                fields of the embedding struct belong to
 *   LOAD_NEW      zero-initializing                         the owner
 *   LOAD_PENDING  loader_request(), first call              the loader's thread: run() reads and writes them
 *   LOAD_DONE     the loader's thread, after run() returned the owner again
 *
 * The transition to LOAD_DONE releases, and loader_request() acquires, the fields that run() wrote. `next` always belongs to
 * the loader. run() should return early once *stop is set. Before loader_start, or if no thread can be created,
 * loader_request() runs the load itself and blocks.
 */
#ifndef JHOT_SYMBOLS_LOADER_H
#define JHOT_SYMBOLS_LOADER_H

#include "symbols/child/child.h"

#include <stdatomic.h>
#include <stdbool.h>

enum loader_lane { LOADER_FILES, LOADER_NAMES, LOADER_LANES };

/* To be embedded. Zero-initialize all but run and lane. child: NULL in LOADER_NAMES. */
struct load {
	void (*run)(struct load *l, struct elf_child *child, const atomic_bool *stop);
	enum loader_lane lane;
	struct load *next;
	atomic_int state;
};

struct loader;
struct loader *loader_new(void);
/* Loads run on threads from now on. nice: their priority relative to the other threads. Idempotent. */
void loader_start(struct loader *loader, int nice);
/*
 * Sets *stop and waits up to a second for running loads to return. Returns false if one did not: its thread is detached, and the
 * loader and every requested load must stay allocated.
 */
bool loader_free(struct loader *loader);

/* Queues the load unless it is queued already. Returns true when it is done. Does not block. */
bool loader_request(struct loader *loader, struct load *l);
/* True while the load is queued or running. */
bool loader_is_pending(const struct load *l);
/* Blocks up to `ms`, or until a load is done. Returns at once if none is queued or running. */
void loader_wait(struct loader *loader, unsigned ms);

#endif
