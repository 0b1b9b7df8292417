/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads sampled before anything else has identified their JavaThread identify themselves. A thread that the process's
 * own clock finds before it is listed lists and names itself, because it may have ended by the time another thread
 * could ask.
 */
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"

#include "walk/hotspot/oop.h"
#include "walk/load/mem.h"

#include <string.h>
#include <sys/prctl.h>

#define COMM_BYTES 16u

uint64_t sig_java_current(
	const struct sampler *s, const struct walk_mem *mem, int32_t tid, bool *hotspot_own)
{
	uint64_t thread = 0, pointer;
	struct oop object;

	*hotspot_own = false;
	if (!s->current_place || !atomic_load_explicit(&s->java_known, memory_order_acquire) ||
		!(pointer = raw_thread_pointer()) ||
		!mem->load(mem, pointer + (uint64_t)s->current_place, &thread, sizeof(thread)) ||
		!thread || walk_thread_tid(s->layout, mem, thread) != tid)
		return 0;
	/*
	 * A collector's thread is stored there as well; a thread that runs Java has an object that refers back to it.
	 */
	object = java_thread_object(&s->java, s->layout, mem, thread);
	if (object.klass && mem_u64(mem, object.object + s->java.eetop) == thread)
		return thread;
	/* A native thread that attaches has a JavaThread before it has an object. */
	*hotspot_own = java_thread_class(&s->java, mem, thread) == JAVA_THREAD_SUBCLASS;
	return 0;
}

enum threads_owner sig_owner(const struct sampler *s, const struct thread_slot *slot)
{
	uint64_t java = atomic_load(&slot->java_thread);
	bool known = atomic_load_explicit(&s->java_known, memory_order_acquire) && s->java.plain;

	if (!java && atomic_load(&slot->hotspot_own))
		return THREADS_HOTSPOT;
	if (!java)
		return known && s->current_place ? THREADS_NATIVE : THREADS_UNPROVED;
	switch (known ? java_thread_class(&s->java, &s->mem, java) : JAVA_THREAD_UNKNOWN) {
	case JAVA_THREAD_PLAIN: return THREADS_JAVA;
	case JAVA_THREAD_SUBCLASS: return THREADS_JAVA_OWN;
	default: return THREADS_JAVA_UNPROVED;
	}
}

bool sig_java_name(
	struct sampler *s, const struct walk_mem *mem, struct thread_slot *slot, uint64_t java)
{
	char text[2 * JAVA_NAME_BYTES];
	struct java_name name;
	struct oop object;
	uint32_t bytes;

	if (!java || !s->layout || !atomic_load_explicit(&s->java_known, memory_order_acquire))
		return false;
	object = java_thread_object(&s->java, s->layout, mem, java);
	if (!object.klass || !java_thread_name(&s->java, s->layout, mem, object.object, &name))
		return false;
	slot->java_tid = (int64_t)mem_u64(mem, object.object + s->java.tid);
	bytes = java_name_utf8(&name, text);
	threads_name(slot, text, bytes, threads_kind(text, bytes, sig_owner(s, slot)), true);
	return true;
}

static void newcomer_comm(const struct sampler *s, struct thread_slot *slot)
{
	char name[COMM_BYTES + 1] = "";

	raw(SYS_prctl, PR_GET_NAME, name);
	threads_name(slot, name, strlen(name), threads_kind(name, strlen(name), sig_owner(s, slot)),
		false);
}

struct thread_slot *sig_newcomer(struct sampler *s)
{
	const struct walk_mem *mem = &s->mem;
	int32_t tid = raw_gettid();
	bool hotspot_own;
	uint64_t java = sig_java_current(s, mem, tid, &hotspot_own);
	struct thread_slot *slot = threads_add(s->threads, tid);

	if (!slot)
		return threads_find(s->threads, tid);
	atomic_store(&slot->share, THREADS_NEWCOMER);
	atomic_store(&slot->java_thread, java);
	atomic_store(&slot->hotspot_own, hotspot_own);
	if (!sig_java_name(s, mem, slot, java))
		newcomer_comm(s, slot);
	atomic_store(&slot->unselected, sig_is_excluded(s, slot));
	return slot;
}
