/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model's numbers of the agent's threads, which it numbers itself, upwards for ever.
 *
 * Numbers of threads that have left the model are given again. One thread.
 */
#ifndef JHOT_SESSION_RECORD_THREAD_IDS_H
#define JHOT_SESSION_RECORD_THREAD_IDS_H

#include "profile/profile.h"

#include <sys/types.h>

struct thread_ids;

struct thread_ids *thread_ids_new(struct profile *profile);
void thread_ids_free(struct thread_ids *t);
/* The model's number for the agent's id, a new one if it is not known. */
uint32_t thread_ids_get(struct thread_ids *t, uint32_t id, bool *known);
/*
 * The same for a virtual thread, which may be one of millions: beyond THREAD_IDS_VIRTUAL of them in the model those
 * that come share one thread for each pattern of names ("virtual-#*"), which this has named then.
 */
#define THREAD_IDS_VIRTUAL  16384u
#define THREAD_IDS_PATTERNS 1024u
uint32_t thread_ids_virtual(struct thread_ids *t, uint32_t id, const struct profile_thread *thread,
	bool *known, bool *shared);
/* A keeper's, for threads that leave: those that the model does not keep are not known any more. */
void thread_ids_leave(struct thread_ids *t);

/* --- tids.c -------------------------------------------------------------------------------------------- */

struct tids;
struct tids *tids_new(pid_t pid);
void tids_free(struct tids *t);
/* tids_here: our number of a thread that the target calls `there`, 0 if it is not (any more) to be found. NULL: the same. */
int tids_here(struct tids *t, int there);

#endif
