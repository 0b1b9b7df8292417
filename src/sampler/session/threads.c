/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the thread list that only the session's own threads use. */
#include "sampler/session/threads.h"

#include "sampler/task.h"

#include <string.h>

void threads_unlist(struct threads *threads, struct thread_slot *slot)
{
	uint32_t tid = (uint32_t)atomic_load(&slot->tid);
	uint64_t entry = (uint64_t)tid << 32 | threads_number(threads, slot);

	for (uint32_t i = 0; i < THREADS_WINDOW; i++) {
		uint64_t found = entry;

		if (atomic_compare_exchange_strong(
			    &threads->index[(tid + i) & (THREADS_INDEX - 1)], &found, 0))
			return;
	}
}

struct thread_slot *threads_by_id(struct threads *threads, uint32_t id)
{
	uint32_t high = atomic_load(&threads->high);
	uint16_t hint = atomic_load(&threads->by_id[id & (THREADS_INDEX - 1)]);

	if (threads->slots[hint].id == id && atomic_load(&threads->slots[hint].tid))
		return &threads->slots[hint];
	for (uint32_t i = 0; i < high; i++) {
		if (threads->slots[i].id == id && atomic_load(&threads->slots[i].tid))
			return &threads->slots[i];
	}
	return NULL;
}

void threads_name_comm(
	struct thread_slot *slot, int task_fd, int32_t task, enum threads_owner owner)
{
	char name[32]; /* ends with a line feed */
	size_t bytes;

	if (!task_name(task_fd, task, name, sizeof(name)))
		return;
	bytes = strlen(name);
	if (bytes > 1)
		threads_name(slot, name, bytes - 1, threads_kind(name, bytes - 1, owner), false);
}
