/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that reads files, so that the one that draws never waits for a file, however large or slow it is.
 *
 * Its owner asks for a load again and again until it is done. Until then what the load fills is the thread's, from
 * then on the owner's. A load runs once; it looks at *stop now and then and ends early when that is set. Without a
 * thread (NULL) a load is run by who asks.
 */
#ifndef JHOT_SYMBOLS_LOADER_H
#define JHOT_SYMBOLS_LOADER_H

#include <stdatomic.h>
#include <stdbool.h>

/* To be embedded; zero but for run. */
struct load {
	void (*run)(struct load *l, const atomic_bool *stop);
	struct load *next; /* the loader's */
	atomic_int state;
};

struct loader;
/* nice: of what it does beside other threads. NULL: there is no thread to be had. */
struct loader *loader_new(int nice);
/* loader_free: false if the thread hangs in a file: then it and what it was asked for have to stay. NULL: true. */
bool loader_free(struct loader *w);

/* loader_ask: true when it is done. loader_is_waiting: asked for and not done. */
bool loader_ask(struct loader *w, struct load *l);
bool loader_is_waiting(const struct load *l);
/* loader_wait: for so long, or until a load is done; at once when there is none. */
void loader_wait(struct loader *w, unsigned ms);

#endif
