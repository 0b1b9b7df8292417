/* SPDX-License-Identifier: Apache-2.0 */
/* Starting and ending threads, from /proc/self/task, the JVM's own list and its callbacks. */
#include "sampler/session/scan.h"

#include "sampler/engine/arms.h"
#include "sampler/engine/lock/lock.h"
#include "sampler/procfile.h"
#include "sampler/publish/publish.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"
#include "sampler/task.h"

#include <unistd.h>

/* Removes the slot from the index; scan_gone frees it. */
static void slot_retire(struct sampler *s, struct thread_slot *slot)
{
	threads_unlist(s->threads, slot);
	atomic_store(&slot->gone, 1);
}

/*
 * True when the listed slot belongs to an earlier thread with the same tid. The publisher recognizes it by its engine;
 * the started thread itself only by a different JavaThread, and the next whole scan finds the rest.
 */
static bool slot_stale(
	const struct sampler *s, const struct thread_slot *slot, uint64_t java_thread)
{
	uint64_t known = atomic_load(&slot->java_thread);

	if (arms_any(slot) && raw_gettid() == atomic_load(&s->publisher_tid))
		return !arms_alive(slot);
	return known && java_thread && known != java_thread;
}

struct thread_slot *scan_thread_starts(struct sampler *s, int32_t tid, uint64_t java_thread)
{
	struct thread_slot *slot = threads_find(s->threads, tid);

	if (slot && slot_stale(s, slot, java_thread)) {
		slot_retire(s, slot);
		slot = NULL;
	}
	if (!slot) {
		slot = threads_add(s->threads, tid);
		if (slot) {
			select_new(s, slot);
			arms_new(s, slot);
		}
	}
	if (!slot) /* the scan was faster, or the list is full */
		slot = threads_find(s->threads, tid);
	if (!slot)
		return NULL;
	if (java_thread)
		atomic_store(&slot->java_thread, java_thread);
	return slot;
}

void scan_thread_ends(struct sampler *s, int32_t tid)
{
	struct thread_slot *slot = threads_find(s->threads, tid);

	if (slot)
		atomic_store(&slot->java_thread, 0);
}

/* --- the scan --------------------------------------------------------------------------------- */

/* True for the agent's own threads. */
static bool scan_agent(struct sampler *s, int32_t tid)
{
	return tid == atomic_load(&s->publisher_tid) || tid == atomic_load(&s->vm_calls.tid) ||
	       tid == atomic_load(&s->wall.tid) || tid == lock_tid(s) ||
	       tid == atomic_load(&s->files.tid);
}

/* Handles a thread found in /proc/self/task. whole: check known ones too, for reused tids and missing engines. */
static void scan_found(struct sampler *s, int32_t task, bool whole)
{
	int32_t tid = s->task_other ? task_tid(s->task.fd, task) : task;
	struct thread_slot *slot = threads_find(s->threads, tid);
	bool new = !slot;

	if (!tid || scan_agent(s, tid))
		return;
	if (new || whole)
		slot = scan_thread_starts(s, tid, 0);
	if (!slot) {
		s->unlisted++;
		return;
	}
	if (new || whole)
		arms_set(s, slot);
	s->scan_again |= new;
	slot->scan = s->scans;
	atomic_store(&slot->task, task);
}

static bool scan_tasks(struct sampler *s, bool whole)
{
	char buffer[8192] __attribute__((aligned(8)));
	long got;

	raw(SYS_lseek, s->task.fd, 0, SEEK_SET);
	while ((got = raw(SYS_getdents64, s->task.fd, buffer, sizeof(buffer))) > 0) {
		for (long at = 0; at < got;) {
			struct raw_dirent *entry = (struct raw_dirent *)(void *)(buffer + at);
			const char *name = entry->name;
			int32_t task = (int32_t)procfile_digits(&name, 10);

			if (task) /* 0: "." and ".." */
				scan_found(s, task, whole);
			at += entry->bytes;
		}
	}
	return got == 0;
}

bool scan_listed(struct sampler *s, const struct walk_listed *thread)
{
	struct thread_slot *slot = threads_find(s->threads, thread->tid);

	if (thread->tid == atomic_load(&s->vm_calls.tid) ||
		(slot && atomic_load(&slot->java_thread) == thread->java_thread))
		return false;
	slot = scan_thread_starts(s, thread->tid, thread->java_thread);
	if (!slot)
		return true;
	arms_set(s, slot);
	/* Names the thread now: it may have ended before the next VM call or publication. */
	if (atomic_load(&s->java_known) && java_name_changed(&s->java, s->layout, &s->mem,
						   thread->java_thread, &slot->name_seen))
		sig_java_name(s, &s->mem, slot, thread->java_thread);
	return true;
}

static void scan_java(void *ctx, uint64_t java_thread, int32_t tid)
{
	scan_listed(ctx, &(struct walk_listed){java_thread, tid});
}

/*
 * True when the thread is alive although this scan has not seen it. The kernel continues a directory listing after the
 * last thread returned; if that thread has exited since, it counts positions instead, and skips as many threads as have
 * exited before it. False for the agent's own threads: one that was listed before its tid was known is retired.
 */
static bool scan_skipped(struct sampler *s, struct thread_slot *slot)
{
	int32_t tid = atomic_load(&slot->tid);
	uint64_t cpu_ns;

	if (scan_agent(s, tid) || !task_cpu_ns(tid, &cpu_ns))
		return false;
	slot->scan = s->scans;
	s->scan_again = true; /* new threads may have been skipped as well */
	return true;
}

/* Retires threads that have exited and duplicates of a tid; frees slots that nothing refers to any more. */
static void scan_gone(struct sampler *s)
{
	struct threads *threads = s->threads;
	uint32_t high = atomic_load(&threads->high);
	uint64_t flips = publish_flips(s->publish);

	for (uint32_t i = 0; i < high; i++) {
		struct thread_slot *slot = &threads->slots[i];
		int32_t tid = atomic_load(&slot->tid);

		if (!tid)
			continue;
		if (slot->scan == 0)
			slot->scan = s->scans;
		else if (!atomic_load(&slot->gone) &&
			 (slot->scan == s->scans || scan_skipped(s, slot)))
			arms_stay(s, slot);
		if (!atomic_load(&slot->gone) &&
			(slot->scan != s->scans || threads_find(threads, tid) != slot))
			slot_retire(s, slot);
		if (!atomic_load(&slot->gone))
			continue;
		arms_disarm(s, slot);
		arms_borrow_end(slot);
		if (atomic_load(&slot->pins))
			continue;
		if (!slot->gone_flips)
			slot->gone_flips = flips + 1;
		else if (flips > slot->gone_flips + 1)
			threads_free(threads, slot);
	}
}

void scan_threads(struct sampler *s, bool whole)
{
	s->scans++;
	s->scan_again = false;
	s->unlisted = 0;
	if (!scan_tasks(s, whole))
		return; /* /proc failed midway: no thread is retired because of that */
	/* Each thread counts once, however often it is tried. */
	if (s->unlisted > s->unlisted_most) {
		counters_add(&s->counters, COUNTER_THREADS_FULL, s->unlisted - s->unlisted_most);
		s->unlisted_most = s->unlisted;
	}
	if (s->thread_layout)
		walk_threads_each(s->thread_layout, &s->mem, scan_java, s);
	scan_gone(s);
}
