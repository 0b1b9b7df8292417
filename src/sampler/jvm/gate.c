/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests a JVMTI environment from a running JVM without crashing it.
 *
 * From JDK 21 on, the first request makes the JVM visit all its threads at a safepoint (VM operation
 * SetNotifyJvmtiEventsMode, jvmtiEnvBase.cpp) and read a field of each one's java.lang.Thread. A native thread that is
 * attaching is listed for a moment before it has one; if the safepoint finds it in that state, the JVM reads address 0
 * and dies (JDK 21 to 28-ea). So no thread may be attaching during the request.
 *
 *   JavaVM -> functions -> JNI's invocation table      before and after a session
 *   JavaVM -> functions -> gate.table -> the former    during a session: attaching threads are counted, and
 *                                                      wait while the gate is closed
 *
 * All threads attach through the table, including the JVM's own upcalls. Threads that had read the former table before
 * the gate was installed must have finished attaching: each native thread that existed at that moment is a suspect
 * until it has ended, is in the JVM's list with its java.lang.Thread, has used more CPU time since than attaching
 * takes, or is in a system call that does not involve libjvm.
 */
#include "sampler/jvm/own.h"

#include "base/clock.h"
#include "sampler/session/lease.h"
#include "sampler/signal/raw.h"
#include "sampler/task.h"
#include "sampler/text.h"

#include "walk/hotspot/layout.h"
#include "walk/load/arch.h"

#include <errno.h>
#include <string.h>

#define GATE_SINCE   21         /* the first JDK that visits threads */
#define GATE_JNI     0x00150000 /* the JNI version of that JDK */
#define GATE_WAIT_NS (2000 * NS_PER_MS)
/* A thread without progress for this long is asleep. */
#define GATE_LONG_NS (1500 * NS_PER_MS)
#define GATE_CPU_NS  (5 * NS_PER_MS) /* more than attaching takes */
#define GATE_STEP_NS 500000
#define GATE_SHUT_NS (20 * NS_PER_MS) /* the longest wait of an attaching thread */
/* Words of a stack to search: a system call of libjvm through libc uses fewer. */
#define GATE_WORDS 96u

/* A thread that may have been attaching when the gate was installed. */
struct suspect {
	int32_t tid, task; /* see task.h */
	uint64_t cpu_ns;
	uint64_t sp; /* its stack pointer when first found asleep */
};

static struct {
	JavaVM *vm; /* NULL: the gate was never installed */
	const struct JNIInvokeInterface_ *former;
	struct JNIInvokeInterface_ table;
	uint64_t since_ns;
	struct suspect suspects[THREADS_MAX];
	uint32_t suspected;
	_Atomic uint32_t closed; /* futex */
	_Atomic uint32_t inside;
} gate;

typedef jint(JNICALL attach_fn)(JavaVM *vm, void **env, void *args);

static jint gate_pass(attach_fn *former, JavaVM *vm, void **env, void *args)
{
	jint result;

	for (;;) {
		while (atomic_load(&gate.closed))
			raw_futex_wait(&gate.closed, 1, NS_PER_S);
		atomic_fetch_add(&gate.inside, 1);
		if (!atomic_load(&gate.closed))
			break;
		atomic_fetch_sub(&gate.inside, 1);
	}
	result = former(vm, env, args);
	atomic_fetch_sub(&gate.inside, 1);
	return result;
}

static jint JNICALL gate_attach(JavaVM *vm, void **env, void *args)
{
	return gate_pass(gate.former->AttachCurrentThread, vm, env, args);
}

static jint JNICALL gate_attach_daemon(JavaVM *vm, void **env, void *args)
{
	return gate_pass(gate.former->AttachCurrentThreadAsDaemon, vm, env, args);
}

void jvm_gate_install(struct sampler *s)
{
	JavaVM *vm = jvm.vm;

	if (!s->thread_layout || s->thread_layout->jdk < GATE_SINCE || *vm == &gate.table)
		return;
	/* Another party has installed its own table, perhaps on top of ours. */
	if (gate.vm && *vm != gate.former)
		return;
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

void jvm_gate_suspect(struct sampler *s)
{
	struct thread_slot *slot = NULL;

	gate.suspected = 0;
	while (gate.vm && (slot = threads_after(s->threads, slot))) {
		struct suspect suspect = {
			.tid = atomic_load(&slot->tid),
			.task = sampler_task(s, slot),
		};

		if (!suspect.tid || !task_cpu_ns(suspect.tid, &suspect.cpu_ns))
			continue;
		gate.suspects[gate.suspected++] = suspect;
	}
}

void jvm_gate_remove(void)
{
	if (gate.vm && *gate.vm == &gate.table)
		__atomic_store_n(gate.vm, gate.former, __ATOMIC_SEQ_CST);
}

/* --- closing the gate -------------------------------------------------------------------------- */

static bool has_object(struct sampler *s, uint64_t java_thread)
{
	uint64_t slot = layout_load(&s->thread_layout->thread_object, &s->mem, java_thread);
	uint64_t object = 0;

	return slot && s->mem.load(&s->mem, slot, &object, sizeof(object)) && object;
}

/* True when a return address into libjvm is among the innermost words of the stack, possibly a stale one. */
static bool in_libjvm(struct sampler *s, uint64_t sp)
{
	for (uint32_t i = 0; i < GATE_WORDS; i++) {
		uint64_t word = 0;

		if (!s->mem.load(&s->mem, sp + 8ull * i, &word, sizeof(word)))
			return false;
		if (word >= s->thread_layout->libjvm_start && word < s->thread_layout->libjvm_end &&
			arch_after_call(&s->mem, word))
			return true;
	}
	return false;
}

static bool suspect_cleared(struct sampler *s, struct suspect *suspect, uint64_t now)
{
	struct thread_slot *slot = threads_find(s->threads, suspect->tid);
	uint64_t java = slot ? atomic_load(&slot->java_thread) : 0, cpu, sp;
	char name[32];

	if (!task_cpu_ns(suspect->tid, &cpu) || cpu - suspect->cpu_ns >= GATE_CPU_NS)
		return true;
	if (java && has_object(s, java))
		return true;
	if (task_name(TASK_BY_PATH, suspect->task, name, sizeof(name)) &&
		threads_kind(name, strlen(name), THREADS_UNPROVED) != WIRE_THREAD_NATIVE)
		return true; /* HotSpot's own */
	sp = task_sp(TASK_BY_PATH, suspect->task);
	if (sp && !in_libjvm(s, sp))
		return true;
	if (!suspect->sp)
		suspect->sp = sp;
	return sp && sp == suspect->sp && now - gate.since_ns >= GATE_LONG_NS;
}

/* Drops cleared suspects; true while any are left. O(suspects). */
static bool gate_suspects(struct sampler *s)
{
	uint64_t now = clock_mono_ns();
	uint32_t left = 0;

	for (uint32_t i = 0; i < gate.suspected; i++) {
		if (!suspect_cleared(s, &gate.suspects[i], now))
			gate.suspects[left++] = gate.suspects[i];
	}
	gate.suspected = left;
	return left != 0;
}

struct unborn {
	struct sampler *s;
	uint32_t count;
};

static void unborn_count(void *ctx, uint64_t java_thread, int32_t tid)
{
	struct unborn *u = ctx;

	u->count += !has_object(u->s, java_thread);
}

/* True when a listed thread has no java.lang.Thread. */
static bool gate_unborn(struct sampler *s)
{
	struct unborn u = {.s = s};

	walk_threads_each(s->thread_layout, &s->mem, unborn_count, &u);
	return u.count != 0;
}

static void gate_open(void)
{
	atomic_store(&gate.closed, 0);
	raw_futex_wake(&gate.closed);
}

/*
 * Closes the gate for a moment and waits for attaching threads to finish. False: one may still be attaching; the gate
 * is open again.
 */
static bool gate_shut(struct sampler *s)
{
	uint64_t end = clock_mono_ns() + GATE_SHUT_NS;

	atomic_store(&gate.closed, 1);
	while (atomic_load(&gate.inside) || gate_suspects(s) || gate_unborn(s)) {
		if (clock_mono_ns() > end) {
			gate_open();
			return false;
		}
		raw_sleep(GATE_STEP_NS);
	}
	return true;
}

/*
 * Closes the gate, but only when that is likely to succeed, so that attaching threads hardly wait. False on a timeout.
 */
static bool gate_close(struct sampler *s)
{
	uint64_t end = clock_mono_ns() + GATE_WAIT_NS;

	while (lease_runs(s) && clock_mono_ns() < end) {
		if (!gate_suspects(s) && !gate_unborn(s) && gate_shut(s))
			return true;
		raw_sleep(GATE_STEP_NS);
	}
	return false;
}

/* Appends the reason why the gate could not be closed. */
static void gate_blame(struct sampler *s, struct text *why)
{
	char name[32] = "";

	text_add(why, "native threads may be attaching themselves");
	if (gate.suspected && task_name(TASK_BY_PATH, gate.suspects[0].task, name, sizeof(name))) {
		text_add(why, " (");
		text_add_bytes(why, name, strcspn(name, "\n"));
		text_add(why, ")");
	}
	text_add(why, ", and requesting JVMTI now could crash this JVM; try again");
}

int jvm_gate_open_jvmti(struct sampler *s, jvmtiEnv **out, struct text *why)
{
	JavaVM *vm = jvm.vm;
	bool gated = jvm.jni_version >= GATE_JNI;
	jint result;

	if (gated && !s->thread_layout) {
		text_add(why, "the JVM's list of threads cannot be read, and requesting JVMTI "
			      "while a thread attaches could crash this JVM");
		return -ENOSYS;
	}

	if (gated && *vm != &gate.table) {
		text_add(why, "another agent has changed how threads attach, so requesting JVMTI "
			      "now could crash this JVM");
		return -EBUSY;
	}
	if (gated && !gate_close(s)) {
		gate_blame(s, why);
		return -EAGAIN;
	}
	result = (*vm)->GetEnv(vm, (void **)out, JVMTI_VERSION_1_1);
	if (gated)
		gate_open();
	if (result == JNI_OK)
		return 0;
	text_add(why, "the JVM provides no JVMTI environment");
	return -ENODEV;
}
