/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thread ids of a target in another PID namespace, as we see them.
 *
 * Reads NSpid of each of its threads; again when an unknown one is asked for, but not more often than it costs.
 * One thread.
 */
#ifndef JHOT_SESSION_TIDS_H
#define JHOT_SESSION_TIDS_H

#include <sys/types.h>

struct tids;
struct tids *tids_new(pid_t pid);
void tids_free(struct tids *t);
/* tids_here: our number of its thread, 0 if it is not (any more) to be found. */
int tids_here(void *tids, int there);

#endif
