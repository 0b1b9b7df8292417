/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking a running JVM for a JVMTI environment without crashing it.
 *
 * From JDK 21 on, the first one to ask makes the JVM visit all its threads at a safepoint (VM operation
 * SetNotifyJvmtiEventsMode, jvmtiEnvBase.cpp) and read a field of each one's java.lang.Thread. A native thread
 * that is attaching itself is listed for a moment before it has one; when the safepoint finds it there the JVM
 * reads address 0 and dies (JDK 21 to 28-ea). So while the JVM is asked nobody may be attaching itself.
 *
 *   JavaVM -> functions -> JNI's invocation table      before and after a session
 *   JavaVM -> functions -> gate_table -> the former    during a session: attaching is counted, and waits
 *                                                      while the gate is closed
 *
 * All who attach go through the table, the JVM's own upcalls included. Those who had read it before the gate
 * was put there are waited for: they show in the JVM's list, without a java.lang.Thread.
 */
#include "sampler/jvm.h"

#include "base/clock.h"
#include "sampler/raw.h"
#include "sampler/text.h"

#include "walk/layout.h"

#include <errno.h>

#define GATE_SINCE 21 /* the JDK that began to visit */
#define GATE_OLD_NS \
	(50 * NS_PER_MS) /* for those on their way to the list when the gate was put there */
#define GATE_WAIT_NS (2000 * NS_PER_MS)
#define GATE_STEP_NS 200000

static struct {
	JavaVM *vm; /* NULL: the gate was never put there */
	const struct JNIInvokeInterface_ *former;
	struct JNIInvokeInterface_ table;
	uint64_t since_ns;
	_Atomic uint32_t closed; /* futex */
	_Atomic uint32_t inside;
} gate;

static void gate_enter(void)
{
	for (;;) {
		while (atomic_load(&gate.closed))
			raw_futex_wait(&gate.closed, 1, NS_PER_S);
		atomic_fetch_add(&gate.inside, 1);
		if (!atomic_load(&gate.closed))
			return;
		atomic_fetch_sub(&gate.inside, 1);
	}
}

static jint JNICALL gate_attach(JavaVM *vm, void **env, void *args)
{
	jint result;

	gate_enter();
	result = gate.former->AttachCurrentThread(vm, env, args);
	atomic_fetch_sub(&gate.inside, 1);
	return result;
}

static jint JNICALL gate_attach_daemon(JavaVM *vm, void **env, void *args)
{
	jint result;

	gate_enter();
	result = gate.former->AttachCurrentThreadAsDaemon(vm, env, args);
	atomic_fetch_sub(&gate.inside, 1);
	return result;
}

void jvm_gate_put(struct sampler *s)
{
	JavaVM *vm = jvm_vm();

	if (!s->thread_layout || s->thread_layout->jdk < GATE_SINCE || *vm == &gate.table)
		return;
	if (gate.vm && *vm != gate.former)
		return; /* somebody else has a table of his own, perhaps over ours */
	if (!gate.vm) {
		gate.former = *vm;
		gate.table = *gate.former;
		gate.table.AttachCurrentThread = gate_attach;
		gate.table.AttachCurrentThreadAsDaemon = gate_attach_daemon;
		gate.vm = vm;
	}
	gate.since_ns = clock_mono_ns();
	__atomic_store_n(vm, &gate.table, __ATOMIC_SEQ_CST);
}

void jvm_gate_take_away(void)
{
	if (gate.vm && *gate.vm == &gate.table)
		__atomic_store_n(gate.vm, gate.former, __ATOMIC_SEQ_CST);
}

/* --- closing it ------------------------------------------------------------------------------- */

struct unborn {
	struct sampler *s;
	uint32_t count;
};

static void unborn_count(void *ctx, uint64_t java_thread, int32_t tid)
{
	struct unborn *u = ctx;
	const struct walk_layout *l = u->s->thread_layout;
	uint64_t slot = layout_load(&l->thread_object, &u->s->mem, java_thread);
	uint64_t object = 0;

	if (slot)
		u->s->mem.load(&u->s->mem, slot, &object, sizeof(object));
	u->count += object == 0;
}

/* gate_quiet: nobody is inside, and everybody in the list has a java.lang.Thread. */
static bool gate_quiet(struct sampler *s)
{
	struct unborn u = {.s = s};

	if (atomic_load(&gate.inside))
		return false;
	walk_threads_each(s->thread_layout, &s->mem, unborn_count, &u);
	return u.count == 0;
}

static void gate_open(void)
{
	atomic_store(&gate.closed, 0);
	raw_futex_wake(&gate.closed);
}

static bool gate_close(struct sampler *s)
{
	struct timespec pause = {0, GATE_STEP_NS};
	uint64_t start = clock_mono_ns();

	atomic_store(&gate.closed, 1);
	while (!gate_quiet(s) || clock_mono_ns() - gate.since_ns < GATE_OLD_NS) {
		if (clock_mono_ns() - start > GATE_WAIT_NS) {
			gate_open();
			return false;
		}
		raw(SYS_nanosleep, &pause, 0);
	}
	return true;
}

int jvm_jvmti_open(struct sampler *s, jvmtiEnv **out, struct text *why)
{
	JavaVM *vm = jvm_vm();
	bool gated = s->thread_layout && s->thread_layout->jdk >= GATE_SINCE;
	jint result;

	if (gated && *vm != &gate.table) {
		text_add(why,
			"another agent has changed how threads attach themselves, so that this JVM "
			"could crash if it were asked for JVMTI now");
		return -EBUSY;
	}
	if (gated && !gate_close(s)) {
		text_add(why,
			"native threads are attaching themselves all the time, so that this JVM "
			"could crash if it were asked for JVMTI now; try again");
		return -EAGAIN;
	}
	result = (*vm)->GetEnv(vm, (void **)out, JVMTI_VERSION_1_1);
	if (gated)
		gate_open();
	if (result == JNI_OK)
		return 0;
	text_add(why, "the JVM gives no JVMTI environment");
	return -ENODEV;
}
