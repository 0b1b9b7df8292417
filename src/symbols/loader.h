/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads files in a thread of its own, so that the thread that draws never waits for a file, however large or slow it is.
 *
 * The owner repeats loader_ask until the load is done. Until then its fields belong to the loader, afterwards to the owner.
 * A load runs once; it should end early when *stop is set. Before loader_start, or if no thread can be had, loader_ask runs
 * the load itself. All loads share one child, which ends when there has been nothing to do for a while.
 */
#ifndef JHOT_SYMBOLS_LOADER_H
#define JHOT_SYMBOLS_LOADER_H

#include "symbols/child/child.h"

#include <stdatomic.h>
#include <stdbool.h>

/* To be embedded; zero but for run. */
struct load {
	void (*run)(struct load *l, struct elf_child *child, const atomic_bool *stop);
	struct load *next; /* the loader's */
	atomic_int state;
};

struct loader;
struct loader *loader_new(void);
/* loader_start: starts the thread, once. nice: its priority beside the other threads. */
void loader_start(struct loader *w, int nice);
/* loader_free: false if the thread is blocked in a read: then it, and the requests that it uses, stay allocated. */
bool loader_free(struct loader *w);

/* loader_ask: true when it is done. loader_is_waiting: asked for and not done. */
bool loader_ask(struct loader *w, struct load *l);
bool loader_is_waiting(const struct load *l);
/* loader_wait: blocks for so long, or until a load is done; returns at once when there is none. */
void loader_wait(struct loader *w, unsigned ms);

#endif
