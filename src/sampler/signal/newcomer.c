/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that is sampled before anybody has said which JavaThread it is: it says so itself. One that the process's own
 * clock finds before it is listed lists itself, under its name, since it may have ended when somebody else could ask.
 */
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"

#include "walk/hotspot/oop.h"
#include "walk/load/mem.h"

#include <string.h>
#include <sys/prctl.h>

#define COMM_BYTES 16u

uint64_t sig_java_current(const struct sampler *s, const struct walk_mem *mem, int32_t tid)
{
	uint64_t java = 0, pointer;
	struct oop object;

	if (!s->current_place || !atomic_load_explicit(&s->java_known, memory_order_acquire) ||
		!(pointer = raw_thread_pointer()) ||
		!mem->load(mem, pointer + (uint64_t)s->current_place, &java, sizeof(java)) ||
		!java || walk_thread_tid(s->layout, mem, java) != tid)
		return 0;
	/* A collector's own thread is kept there as well: what Java runs on has an object that leads back. */
	object = java_thread_object(&s->java, s->layout, mem, java);
	return object.klass && mem_u64(mem, object.object + s->java.eetop) == java ? java : 0;
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
	threads_name(slot, text, bytes, threads_kind(text, bytes, true), true);
	return true;
}

static void newcomer_comm(struct thread_slot *slot, bool java)
{
	char name[COMM_BYTES + 1] = "";

	raw(SYS_prctl, PR_GET_NAME, name);
	threads_name(slot, name, strlen(name), threads_kind(name, strlen(name), java), false);
}

struct thread_slot *sig_newcomer(struct sampler *s)
{
	const struct walk_mem *mem = &s->mem;
	int32_t tid = raw_gettid();
	uint64_t java = sig_java_current(s, mem, tid);
	struct thread_slot *slot = threads_add(s->threads, tid);

	if (!slot)
		return threads_find(s->threads, tid);
	atomic_store(&slot->share, THREADS_NEWCOMER);
	atomic_store(&slot->java_thread, java);
	if (!sig_java_name(s, mem, slot, java))
		newcomer_comm(slot, java);
	atomic_store(&slot->unselected, sig_leaves_out(s, slot));
	return slot;
}
