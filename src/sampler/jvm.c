/* SPDX-License-Identifier: Apache-2.0 */
/* JVMTI and JNI: the only file that calls into the JVM, but for the fallback walker. */
#include "sampler/jvm.h"

#include "base/clock.h"
#include "sampler/agent.h"
#include "sampler/events.h"
#include "sampler/publisher.h"
#include "sampler/raw.h"
#include "sampler/sig.h"
#include "sampler/text.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>

#include "sampler/compat.h"

#define NAMES_STACK (1u << 20) /* HotSpot's own guard zones take a part of it */

/* Found once; the JVM keeps all of it valid until it ends. */
static struct {
	JavaVM *vm;
	jvmtiEnv *jvmti;
	void *libjvm;
	jfieldID eetop, tid;
} jvm;

static const jvmtiEvent jvm_events[] = {
	JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END, JVMTI_EVENT_VM_DEATH};

/* --- names ------------------------------------------------------------------------------------ */

/* jvm_name: ask what a thread is called and remember it in its slot. */
static void jvm_name(JNIEnv *jni, jthread thread, struct thread_slot *slot)
{
	jvmtiThreadInfo info = {0};
	size_t bytes;

	if ((*jvm.jvmti)->GetThreadInfo(jvm.jvmti, thread, &info) != JVMTI_ERROR_NONE)
		return;
	if (jvm.tid)
		slot->java_tid = (*jni)->GetLongField(jni, thread, jvm.tid);
	bytes = info.name ? strlen(info.name) : 0;
	threads_name(slot, info.name, bytes, threads_kind(info.name, bytes, true), true);
	(*jvm.jvmti)->Deallocate(jvm.jvmti, (unsigned char *)info.name);
	(*jni)->DeleteLocalRef(jni, info.thread_group);
	(*jni)->DeleteLocalRef(jni, info.context_class_loader);
}

static uint64_t jvm_java_thread(JNIEnv *jni, jthread thread)
{
	return jvm.eetop ? (uint64_t)(*jni)->GetLongField(jni, thread, jvm.eetop) : 0;
}

/* slot_of: the listed thread that runs this JavaThread. */
static struct thread_slot *slot_of(struct sampler *s, uint64_t java_thread)
{
	uint32_t high = atomic_load(&s->threads->high);
	struct thread_slot *slot = NULL;

	if (!java_thread)
		return NULL;
	if (s->layout)
		slot = threads_find(s->threads, walk_thread_tid(s->layout, &s->mem, java_thread));
	if (slot)
		return slot;
	for (uint32_t i = 0; i < high; i++) {
		if (atomic_load(&s->threads->slots[i].java_thread) == java_thread)
			return &s->threads->slots[i];
	}
	return NULL;
}

static void names_round(struct sampler *s, JNIEnv *jni)
{
	jthread *threads = NULL;
	jint count = 0;

	if ((*jvm.jvmti)->GetAllThreads(jvm.jvmti, &count, &threads) != JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < count; i++) {
		struct thread_slot *slot = slot_of(s, jvm_java_thread(jni, threads[i]));

		if (slot)
			jvm_name(jni, threads[i], slot);
		(*jni)->DeleteLocalRef(jni, threads[i]);
	}
	(*jvm.jvmti)->Deallocate(jvm.jvmti, (unsigned char *)threads);
}

static void jvm_events_set(jvmtiEventMode mode)
{
	for (size_t i = 0; i < sizeof(jvm_events) / sizeof(jvm_events[0]); i++)
		(*jvm.jvmti)->SetEventNotificationMode(jvm.jvmti, mode, jvm_events[i], NULL);
}

/*
 * names_visit: be a Java thread for a moment: ask for names, switch the events on first and off
 * last.
 */
static void names_visit(struct sampler *s, bool first, bool leave)
{
	JavaVMAttachArgs args = {JNI_VERSION_1_6, (char *)"jhot names", NULL};
	JNIEnv *jni = NULL;

	if ((*jvm.vm)->AttachCurrentThreadAsDaemon(jvm.vm, (void **)&jni, &args) != JNI_OK)
		return;
	if (first)
		jvm_events_set(JVMTI_ENABLE);
	if (leave)
		jvm_events_set(JVMTI_DISABLE);
	else
		names_round(s, jni);
	(*jvm.vm)->DetachCurrentThread(jvm.vm);
}

static void *names_main(void *arg)
{
	struct sampler *s = arg;
	uint32_t asked = 0, leave;

	raw(SYS_prctl, PR_SET_NAME, "jhot names");
	atomic_store(&s->names_tid, raw_gettid());
	while (!(leave = atomic_load(&s->names_leave))) {
		uint32_t request = atomic_load(&s->names_request);

		if (request == asked) {
			raw_futex_wait(&s->names_request, request, 10 * NS_PER_S);
			continue;
		}
		names_visit(s, asked == 0, false);
		asked = request;
		atomic_store(&s->names_cpu_ns, clock_read_ns(CLOCK_THREAD_CPUTIME_ID));
	}
	if (leave == JVM_NAMES_LEAVE)
		names_visit(s, false, true);
	return NULL;
}

int jvm_names_start(struct sampler *s)
{
	pthread_attr_t attr;
	int error;

	atomic_store(&s->names_request, 1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, NAMES_STACK);
	error = pthread_create(&s->names_thread, &attr, names_main, s);
	pthread_attr_destroy(&attr);
	s->names_thread_runs = error == 0;
	return -error;
}

void jvm_names_ask(struct sampler *s)
{
	atomic_fetch_add(&s->names_request, 1);
	raw_futex_wake(&s->names_request);
}

void jvm_names_stop(struct sampler *s, bool vm_ends)
{
	if (!s->names_thread_runs)
		return;
	atomic_store(&s->names_leave, vm_ends ? JVM_NAMES_LEAVE_NOW : JVM_NAMES_LEAVE);
	jvm_names_ask(s);
	pthread_join(s->names_thread, NULL);
	s->names_thread_runs = false;
}

/* --- callbacks -------------------------------------------------------------------------------- */

static void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	struct sampler *s = sig_enter();
	int32_t tid = raw_gettid();
	struct thread_slot *slot;

	if (s && tid != atomic_load(&s->names_tid)) {
		slot = events_thread_starts(s, tid, jvm_java_thread(jni, thread));
		if (slot)
			jvm_name(jni, thread, slot);
	}
	sig_leave();
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	struct sampler *s = sig_enter();

	if (s)
		events_thread_ends(s, raw_gettid());
	sig_leave();
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
	publisher_vm_ends();
}

/* --- once ------------------------------------------------------------------------------------- */

uint64_t jvm_symbol(void *ctx, const char *name)
{
	return jvm.libjvm ? (uint64_t)(uintptr_t)dlsym(jvm.libjvm, name) : 0;
}

uint64_t jvm_inside(void)
{
	return (uint64_t)(uintptr_t)(*jvm.vm)->GetEnv;
}

/* jvm_fields: of java.lang.Thread; a missing one costs names, nothing else. */
static void jvm_fields(JNIEnv *jni)
{
	jclass thread = (*jni)->FindClass(jni, "java/lang/Thread");

	if (thread) {
		jvm.eetop = (*jni)->GetFieldID(jni, thread, "eetop", "J");
		(*jni)->ExceptionClear(jni);
		jvm.tid = (*jni)->GetFieldID(jni, thread, "tid", "J");
	}
	(*jni)->ExceptionClear(jni);
	(*jni)->DeleteLocalRef(jni, thread);
}

int jvm_prepare(JavaVM *vm)
{
	static const jvmtiEventCallbacks callbacks = {
		.ThreadStart = on_thread_start,
		.ThreadEnd = on_thread_end,
		.VMDeath = on_vm_death,
	};
	JNIEnv *jni = NULL;
	Dl_info info;

	if (jvm.jvmti)
		return AGENT_OK;
	jvm.vm = vm;
	if ((*vm)->GetEnv(vm, (void **)&jni, JNI_VERSION_1_6) != JNI_OK ||
		(*vm)->GetEnv(vm, (void **)&jvm.jvmti, JVMTI_VERSION_1_1) != JNI_OK)
		return AGENT_NO_JVMTI;
	jvm_fields(jni);
	if (dladdr((void *)(uintptr_t)jvm_inside(), &info))
		jvm.libjvm = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	(*jvm.jvmti)->SetEventCallbacks(jvm.jvmti, &callbacks, sizeof(callbacks));
	return AGENT_OK;
}

void jvm_describe(char *out, size_t bytes)
{
	static const char *const properties[] = {"java.vm.name", "java.vm.version"};
	struct text text = text_into(out, bytes);

	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++) {
		char *value = NULL;

		if ((*jvm.jvmti)->GetSystemProperty(jvm.jvmti, properties[i], &value))
			continue;
		text_add(&text, i ? " " : "");
		text_add(&text, value);
		(*jvm.jvmti)->Deallocate(jvm.jvmti, (unsigned char *)value);
	}
}
