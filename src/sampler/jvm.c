/* SPDX-License-Identifier: Apache-2.0 */
/* JNI and JVMTI: the only file that calls into the JVM, but for the fallback walker. */
#include "sampler/jvm.h"

#include "base/clock.h"
#include "sampler/agent.h"
#include "sampler/raw.h"
#include "sampler/scan.h"
#include "sampler/sig.h"
#include "sampler/text.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/prctl.h>

#include "sampler/compat.h"

#define NAMES_STACK        (1u << 20) /* HotSpot's own guard zones take a part of it */
#define JVMTI_UNTIL        0x00130000 /* JNI's version of JDK 19: see jvm.h */
#define JOB_NS             (10 * NS_PER_S)
#define UTF_BYTES_PER_CHAR 3

/* Found once; the JVM keeps all of it valid until it ends. */
static struct {
	JavaVM *vm;
	jvmtiEnv *jvmti;    /* NULL from JDK 19 on, unless the fallback walker is in use */
	int64_t env_offset; /* JNIEnv* - JavaThread* */
	void *libjvm;
	jclass thread;
	jmethodID get_threads; /* static Thread[] getThreads(), private, JDK 8 to 28 */
	jfieldID eetop, tid, name;
} jvm;

struct events_pair {
	jvmtiEvent events[2];
};
static const struct events_pair thread_events = {
	{JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END}};
static const struct events_pair agct_events = {{JVMTI_EVENT_CLASS_LOAD, JVMTI_EVENT_CLASS_PREPARE}};

/* --- names ------------------------------------------------------------------------------------ */

/* jvm_name: read what a thread is called and remember it in its slot. */
static void jvm_name(JNIEnv *jni, jobject thread, struct thread_slot *slot)
{
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
	threads_name(slot, name, bytes, threads_kind(name, bytes, true), true);
}

static uint64_t jvm_java_thread(JNIEnv *jni, jobject thread)
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
	for (uint32_t i = 0; !slot && i < high; i++) {
		if (atomic_load(&s->threads->slots[i].java_thread) == java_thread)
			slot = &s->threads->slots[i];
	}
	return slot;
}

static void names_round(struct sampler *s, JNIEnv *jni)
{
	jobjectArray threads = (*jni)->CallStaticObjectMethod(jni, jvm.thread, jvm.get_threads);
	jsize count = 0;

	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni); /* out of memory: names have to wait */
	else if (threads)
		count = (*jni)->GetArrayLength(jni, threads);

	for (jsize i = 0; i < count; i++) {
		jobject thread = (*jni)->GetObjectArrayElement(jni, threads, i);
		struct thread_slot *slot = thread ? slot_of(s, jvm_java_thread(jni, thread)) : NULL;

		if (slot)
			jvm_name(jni, thread, slot);
		(*jni)->DeleteLocalRef(jni, thread);
	}
	(*jni)->DeleteLocalRef(jni, threads);
}

static void jvmti_listen(void);

static void jvm_events_set(const struct events_pair *pair, jvmtiEventMode mode)
{
	for (size_t i = 0; jvm.jvmti && i < 2; i++)
		(*jvm.jvmti)->SetEventNotificationMode(jvm.jvmti, mode, pair->events[i], NULL);
}

static void agct_round(struct sampler *s, JNIEnv *jni, bool first)
{
	char reason[160];
	struct text why = text_into(reason, sizeof(reason));

	if (!s->agct->call)
		return;
	if (!jvm.jvmti && jvm_jvmti_open(s, &jvm.jvmti, &why) == 0)
		jvmti_listen();
	if (first)
		jvm_events_set(&agct_events, JVMTI_ENABLE);
	if (jvm.jvmti)
		jvm_agct_names(s->agct, jvm.jvmti, jni, first);
}

static void names_first(struct sampler *s, JNIEnv *jni)
{
	agct_round(s, jni, true);
	jvm_events_set(&thread_events, JVMTI_ENABLE);
	names_round(s, jni);
	if (jvm.jvmti)
		jvm_stubs_name(s, jvm.jvmti);
}

static void names_next_round(struct sampler *s, JNIEnv *jni)
{
	names_round(s, jni);
	agct_round(s, jni, false);
	alloc_round(s, jni);
}

static void names_last(struct sampler *s, JNIEnv *jni)
{
	jvm_events_set(&thread_events, JVMTI_DISABLE);
	jvm_events_set(&agct_events, JVMTI_DISABLE);
}

static JNIEnv *names_enter(void)
{
	JavaVMAttachArgs args = {JNI_VERSION_1_6, (char *)"jhot names", NULL};
	JNIEnv *jni = NULL;

	if ((*jvm.vm)->AttachCurrentThreadAsDaemon(jvm.vm, (void **)&jni, &args) != JNI_OK)
		return NULL;
	return jni;
}

/* names_visit: be a Java thread for a moment. */
static void names_visit(struct sampler *s, void (*what)(struct sampler *, JNIEnv *))
{
	JNIEnv *jni = names_enter();

	if (!jni)
		return;
	what(s, jni);
	(*jvm.vm)->DetachCurrentThread(jvm.vm);
}

struct jvm_job {
	jvm_job_fn *run;
	void *arg;
	bool ran;
	_Atomic uint32_t done; /* futex */
};

static void names_job(struct sampler *s)
{
	struct jvm_job *job = atomic_exchange(&s->names_job, NULL);
	JNIEnv *jni = job ? names_enter() : NULL;

	if (!job)
		return;
	if (jni) {
		job->run(s, jni, job->arg);
		job->ran = true;
		(*jvm.vm)->DetachCurrentThread(jvm.vm);
	}
	atomic_store(&job->done, 1);
	raw_futex_wake(&job->done);
}

bool jvm_do(struct sampler *s, jvm_job_fn *run, void *arg)
{
	struct jvm_job job = {.run = run, .arg = arg}, *mine = &job;
	uint64_t end = clock_mono_ns() + JOB_NS;

	if (!s->names_thread_runs)
		return false;
	atomic_store(&s->names_job, &job);
	jvm_names_ask(s);
	while (!atomic_load(&job.done) && clock_mono_ns() < end)
		raw_futex_wait(&job.done, 0, JOB_NS);
	if (atomic_load(&job.done))
		return job.ran;
	if (atomic_compare_exchange_strong(&s->names_job, &mine, NULL))
		return false;
	while (!atomic_load(&job.done)) /* it has begun, with our memory */
		raw_futex_wait(&job.done, 0, JOB_NS);
	return job.ran;
}

static void *names_main(void *arg)
{
	struct sampler *s = arg;
	uint32_t asked = 0, leave;

	raw(SYS_prctl, PR_SET_NAME, "jhot names");
	atomic_store(&s->names_tid, raw_gettid());
	while (!(leave = atomic_load(&s->names_leave))) {
		uint32_t request = atomic_load(&s->names_request);

		names_job(s);
		if (request == asked) {
			raw_futex_wait(&s->names_request, request, 10 * NS_PER_S);
			continue;
		}
		names_visit(s, asked ? names_next_round : names_first);
		asked = request;
		atomic_store(&s->names_cpu_ns, clock_read_ns(CLOCK_THREAD_CPUTIME_ID));
	}
	if (leave == JVM_NAMES_LEAVE && jvm.jvmti && asked)
		names_visit(s, names_last);
	return NULL;
}

int jvm_names_start(struct sampler *s)
{
	pthread_attr_t attr;
	int error;

	if (!jvm.get_threads)
		return 0;
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

/* --- callbacks, up to JDK 18 ------------------------------------------------------------------ */

static void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	struct sampler *s = sig_enter();
	int32_t tid = raw_gettid();
	struct thread_slot *slot;

	if (s && tid != atomic_load(&s->names_tid)) {
		slot = scan_thread_starts(s, tid, jvm_java_thread(jni, thread));
		if (slot)
			jvm_name(jni, thread, slot);
	}
	sig_leave();
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	struct sampler *s = sig_enter();

	if (s)
		scan_thread_ends(s, raw_gettid());
	sig_leave();
}

static void jvmti_listen(void)
{
	static const jvmtiEventCallbacks callbacks = {
		.ThreadStart = on_thread_start,
		.ThreadEnd = on_thread_end,
		.ClassLoad = jvm_on_class_load,
		.ClassPrepare = jvm_on_class_prepare,
		.DynamicCodeGenerated = jvm_on_code,
	};

	(*jvm.jvmti)->SetEventCallbacks(jvm.jvmti, &callbacks, sizeof(callbacks));
}

/* jvmti_prepare: up to JDK 18, where asking for it has no consequences. */
static void jvmti_prepare(JavaVM *vm)
{
	if ((*vm)->GetEnv(vm, (void **)&jvm.jvmti, JVMTI_VERSION_1_1) == JNI_OK)
		jvmti_listen();
	else
		jvm.jvmti = NULL;
}

JavaVM *jvm_vm(void)
{
	return jvm.vm;
}

uint64_t jvm_thread_of(JNIEnv *jni)
{
	return jvm.env_offset ? (uint64_t)((int64_t)(uintptr_t)jni - jvm.env_offset) : 0;
}

bool jvm_tells_starts(void)
{
	return jvm.jvmti != NULL;
}

/* --- once ------------------------------------------------------------------------------------- */

uint64_t jvm_symbol(void *ctx, const char *name)
{
	return jvm.libjvm ? (uint64_t)(uintptr_t)dlsym(jvm.libjvm, name) : 0;
}

void jvm_agct_open(struct agct *agct)
{
	uint64_t call = jvm_symbol(NULL, "AsyncGetCallTrace");

	agct->env_offset = jvm.env_offset;
	if (jvm.env_offset)
		agct->call = (void (*)(void *, int32_t, void *))(uintptr_t)call;
}

uint64_t jvm_inside(void)
{
	return (uint64_t)(uintptr_t)(*jvm.vm)->GetEnv;
}

static jfieldID thread_field(JNIEnv *jni, const char *name, const char *type)
{
	jfieldID field = (*jni)->GetFieldID(jni, jvm.thread, name, type);

	(*jni)->ExceptionClear(jni);
	return field;
}

/* jvm_env_offset: the same for every thread: where JNI's environment lies in a JavaThread. */
static void jvm_env_offset(JNIEnv *jni)
{
	jmethodID current =
		(*jni)->GetStaticMethodID(jni, jvm.thread, "currentThread", "()Ljava/lang/Thread;");
	jobject thread = current ? (*jni)->CallStaticObjectMethod(jni, jvm.thread, current) : NULL;

	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	else if (thread && jvm.eetop)
		jvm.env_offset = (int64_t)((uint64_t)(uintptr_t)jni - jvm_java_thread(jni, thread));
	(*jni)->DeleteLocalRef(jni, thread);
}

/* jvm_thread_class: a missing member costs names, nothing else. */
static void jvm_thread_class(JNIEnv *jni)
{
	jclass thread = (*jni)->FindClass(jni, "java/lang/Thread");

	if (thread) {
		jvm.thread = (*jni)->NewGlobalRef(jni, thread);
		jvm.eetop = thread_field(jni, "eetop", "J");
		jvm.tid = thread_field(jni, "tid", "J");
		jvm.name = thread_field(jni, "name", "Ljava/lang/String;");
		jvm.get_threads = (*jni)->GetStaticMethodID(
			jni, thread, "getThreads", "()[Ljava/lang/Thread;");
	}
	(*jni)->ExceptionClear(jni);
	(*jni)->DeleteLocalRef(jni, thread);
	if (jvm.thread)
		jvm_env_offset(jni);
}

static JNIEnv *jvm_env(void)
{
	JNIEnv *jni = NULL;

	return (*jvm.vm)->GetEnv(jvm.vm, (void **)&jni, JNI_VERSION_1_6) == JNI_OK ? jni : NULL;
}

int jvm_prepare(JavaVM *vm)
{
	JNIEnv *jni;
	Dl_info info;

	if (jvm.libjvm)
		return AGENT_OK;
	jvm.vm = vm;
	jni = jvm_env();
	if (!jni || !dladdr((void *)(uintptr_t)jvm_inside(), &info))
		return AGENT_NO_JVMTI;
	jvm_thread_class(jni);
	if (jvm.thread)
		jvm_fields_find(jni, jvm.thread);
	if ((*jni)->GetVersion(jni) < JVMTI_UNTIL)
		jvmti_prepare(vm);
	jvm.libjvm = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	return jvm.libjvm ? AGENT_OK : AGENT_NO_JVMTI;
}

/* add_property: System.getProperty(key), what of it is not too long. */
static void add_property(JNIEnv *jni, struct text *out, const char *key)
{
	char value[64 * UTF_BYTES_PER_CHAR + 1] = "";
	jclass system = (*jni)->FindClass(jni, "java/lang/System");
	jmethodID get = system ? (*jni)->GetStaticMethodID(jni, system, "getProperty",
					 "(Ljava/lang/String;)Ljava/lang/String;")
			       : NULL;
	jstring name = get ? (*jni)->NewStringUTF(jni, key) : NULL;
	jstring text = name ? (*jni)->CallStaticObjectMethod(jni, system, get, name) : NULL;
	jsize chars = 0;

	if ((*jni)->ExceptionCheck(jni))
		(*jni)->ExceptionClear(jni);
	else if (text)
		chars = (*jni)->GetStringLength(jni, text);
	if (chars)
		(*jni)->GetStringUTFRegion(jni, text, 0, chars < 64 ? chars : 64, value);
	text_add(out, value);
	(*jni)->DeleteLocalRef(jni, text);
	(*jni)->DeleteLocalRef(jni, name);
	(*jni)->DeleteLocalRef(jni, system);
}

void jvm_describe(char *out, size_t bytes)
{
	struct text text = text_into(out, bytes);
	JNIEnv *jni = jvm_env();

	if (!jni)
		return;
	add_property(jni, &text, "java.vm.name");
	text_add(&text, " ");
	add_property(jni, &text, "java.vm.version");
}
