/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ids that a file has given to methods, frames, stacks and threads of the profile.
 *
 * An id is assigned on first use, counting up in the order of writing, and its definition is
 * appended to a buffer. The owner must write these buffers, as chunks in the order of their
 * declaration, before any chunk that uses the ids. One thread.
 *
 *   profile id ──▶ id_map (an array, O(1)) ──▶ file id + 1, 0: not written yet
 */
#ifndef JHOT_RECORDING_FILE_IDS_H
#define JHOT_RECORDING_FILE_IDS_H

#include "base/buf.h"
#include "profile/profile.h"

struct id_map {
	uint32_t *file_id_plus_1; /* by the profile's id; 0: none */
	uint32_t cap, count;
};

/* The profile reuses ids of threads that have ended; the serial number distinguishes them. */
struct written_thread {
	uint32_t serial, id; /* id: the file's + 1; 0: none */
	uint64_t hash;       /* of the definition in the file */
};

/* Zero-initialized. */
struct file_ids {
	struct id_map methods, frames, stacks;
	struct written_thread *threads; /* by the profile's id */
	uint32_t thread_cap, thread_count;
	struct buf methods_out, frames_out, stacks_out, threads_out;
	uint32_t *chain, chain_cap;
	uint32_t swept; /* profile_info.swept for which the maps are valid */
	bool restarted; /* the owner must write CHUNK_FORGET first */
};
void file_ids_done(struct file_ids *t);
/*
 * Call before each second. If a sweep of the profile may have reused ids, restarts the ids of
 * methods, frames and stacks.
 */
void file_ids_sync(struct file_ids *t, const struct profile *p);
/* The file's ids. PROFILE_ROOT_STACK is 0. */
uint32_t file_ids_method(struct file_ids *t, const struct profile *p, uint32_t method);
uint32_t file_ids_stack(struct file_ids *t, const struct profile *p, uint32_t stack);
uint32_t file_ids_thread(struct file_ids *t, const struct profile *p, uint32_t thread);
/* Defines all threads that are new or have changed, new ones in the order in which they started. */
void file_ids_threads(struct file_ids *t, const struct profile *p);

#endif
