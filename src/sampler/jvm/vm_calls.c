/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The VM-call thread: looks up thread names, switches events on and off, counts survivors. A VM call may block for as
 * long as the JVM admits no thread; nothing waits for it without bound, and the thread owns a reference to the
 * session's memory.
 */
#include "base/clock.h"
#include "sampler/engine/alloc/alloc.h"
#include "sampler/jvm/own.h"
#include "sampler/session/epochs.h"
#include "sampler/session/files.h"
#include "sampler/signal/raw.h"

#include <string.h>

#define VM_CALL_STACK      (1u << 20) /* HotSpot's guard zones use a part of it */
#define UTF_BYTES_PER_CHAR 3

/* --- names ------------------------------------------------------------------------------------ */

void jvm_name(struct sampler *s, JNIEnv *jni, jobject thread, struct thread_slot *slot)
{
	enum threads_owner owner = sig_owner(s, slot);
	char name[THREADS_NAME * UTF_BYTES_PER_CHAR + 1];
	jstring text = jvm.name ? (*jni)->GetObjectField(jni, thread, jvm.name) : NULL;
	jsize chars = text ? (*jni)->GetStringLength(jni, text) : 0;
	size_t bytes = 0;

	if (chars > (jsize)THREADS_NAME)
		chars = THREADS_NAME;
	if (chars) {
		(*jni)->GetStringUTFRegion(jni, text, 0, chars, name);
		name[sizeof(name) - 1] = '\0';
		while (bytes < sizeof(name) - 1 && name[bytes])
			bytes++;
	}
	(*jni)->DeleteLocalRef(jni, text);
	if (jvm.tid)
		slot->java_tid = (*jni)->GetLongField(jni, thread, jvm.tid);
	if (owner < THREADS_JAVA_OWN)
		owner = THREADS_JAVA; /* the JVM does not show compilers to Java code */
	threads_name(slot, name, bytes, threads_kind(name, bytes, owner), true);
}

/* The slot of the thread that runs this JavaThread; NULL if it is not listed. O(1) with a layout, else O(slots). */
static struct thread_slot *slot_of(struct sampler *s, uint64_t java_thread)
{
	struct thread_slot *slot = NULL;

	if (!java_thread)
		return NULL;
	if (s->layout)
		slot = threads_find(s->threads, walk_thread_tid(s->layout, &s->mem, java_thread));
	if (slot)
		return slot;
	while ((slot = threads_after(s->threads, slot)))
		if (atomic_load(&slot->java_thread) == java_thread)
			break;
	return slot;
}

/* Sets the wanted events in the JVM, and wakes requests that wait only for that. */
static void vm_call_set_events(struct sampler *s, JNIEnv *jni)
{
	uint32_t asked = atomic_load(&s->vm_calls.requested);

	jvm_events_apply(s, jni);
	atomic_store(&s->vm_calls.configured, asked);
	raw_futex_wake(&s->vm_calls.configured);
}

/*
 * Records the names of all Java threads. Each call into the JVM may wait for a garbage collection, and there are
 * several per thread. Requests that arrive in this time are served between two threads.
 */
static void vm_call_names(struct sampler *s, JNIEnv *jni)
{
	jobjectArray threads = (*jni)->CallStaticObjectMethod(jni, jvm.thread, jvm.get_threads);
	jsize count = 0;

	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni); /* out of memory: a later call reads the names */
	else if (threads)
		count = (*jni)->GetArrayLength(jni, threads);

	for (jsize i = 0; i < count; i++) {
		jobject thread = (*jni)->GetObjectArrayElement(jni, threads, i);
		struct thread_slot *slot = thread ? slot_of(s, jvm_java_thread(jni, thread)) : NULL;

		if (slot)
			jvm_name(s, jni, thread, slot);
		(*jni)->DeleteLocalRef(jni, thread);
		if (atomic_load(&s->vm_calls.requested) != atomic_load(&s->vm_calls.configured))
			vm_call_set_events(s, jni);
	}
	if (atomic_exchange(&s->vm_calls.touch, 0))
		jvm_sets_touch(jni, threads, count);
	(*jni)->DeleteLocalRef(jni, threads);
}

/* --- VM calls --------------------------------------------------------------------------------- */

/* Checks the tracked objects, or releases them when the event is off. */
static void vm_call_live(struct sampler *s, JNIEnv *jni)
{
	struct live *live = atomic_load(&s->live_on);

	if (live)
		live_sweep(live, s, jni);
	else if (s->live)
		live_release(s->live, jni);
}

/*
 * Makes a VM call: attaches as a Java thread for its duration, as a daemon, so that it delays no exit. last: no names
 * are needed any more.
 */
static void vm_call(struct sampler *s, bool last)
{
	JavaVMAttachArgs args = {JNI_VERSION_1_6, (char *)"jhot names", NULL};
	JNIEnv *jni = NULL;

	if ((*jvm.vm)->AttachCurrentThreadAsDaemon(jvm.vm, (void **)&jni, &args) != JNI_OK)
		return;
	atomic_fetch_add(&s->vm_calls.made, 1);
	if (last)
		jvm_events_apply(s, jni);
	else
		vm_call_set_events(s, jni);
	if (!last && atomic_exchange(&s->vm_calls.counts, 0))
		jvm_wait_counts_find(s, jni);
	jvm_wait_times_apply(s, jni);
	if (!last)
		vm_call_names(s, jni);
	vm_call_live(s, jni);
	(*jvm.vm)->DetachCurrentThread(jvm.vm);
}

static void *vm_calls_main(void *arg)
{
	struct sampler *s = arg;
	struct vm_calls *v = &s->vm_calls;
	uint32_t done = 0;

	while (!atomic_load(&v->leave)) {
		uint32_t asked = atomic_load(&v->requested);

		if (asked == done) {
			raw_futex_wait(&v->requested, asked, 10 * NS_PER_S);
			continue;
		}
		vm_call(s, false);
		done = asked;
		atomic_store(&v->cpu_ns, clock_read_ns(CLOCK_THREAD_CPUTIME_ID));
		atomic_store(&v->done, done);
		raw_futex_wake(&v->done);
	}
	if (atomic_load(&v->leave) == JVM_LEAVE)
		vm_call(s, true);
	epochs_thread_ends(s, &v->left);
	return NULL;
}

/* Runs on "jhot files", so that the new thread shares the program's descriptor table, as the JVM expects. */
static void vm_calls_spawn(void *ctx)
{
	struct sampler *s = ctx;
	struct spawn thread = {"jhot names", VM_CALL_STACK, vm_calls_main, s, &s->vm_calls.tid};

	atomic_store(&s->vm_calls.requested, 1);
	atomic_store(&s->vm_calls.left, 0);
	if (epochs_spawn(s, &thread))
		atomic_store(&s->vm_calls.left, 1);
}

void jvm_vm_calls_start(struct sampler *s)
{
	atomic_store(&s->vm_calls.left, 1);
	if (jvm.get_threads)
		files_run(s, vm_calls_spawn, s);
}

uint32_t jvm_vm_call_request(struct sampler *s)
{
	uint32_t number = atomic_fetch_add(&s->vm_calls.requested, 1) + 1;

	raw_futex_wake(&s->vm_calls.requested);
	return number;
}

void jvm_vm_calls_end(struct sampler *s, bool vm_ends)
{
	atomic_store(&s->vm_calls.leave, vm_ends ? JVM_LEAVE_NOW : JVM_LEAVE);
	jvm_vm_call_request(s);
}
