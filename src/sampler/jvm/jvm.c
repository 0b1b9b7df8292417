/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about the JVM that are determined once per process, classes, and the flag for debug information. */
#include "sampler/jvm/own.h"

#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"
#include "sampler/text.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "sampler/compat.h"

#define JVMTI_UNTIL        0x00130000 /* JNI version of JDK 19: see jvm.h */
#define UTF_BYTES_PER_CHAR 3
/* No libc's thread descriptor is shorter, including its keys. */
#define DESCRIPTOR_BYTES 0x600

struct jvm jvm;

uint64_t jvm_java_thread(JNIEnv *jni, jobject thread)
{
	return jvm.eetop ? (uint64_t)(*jni)->GetLongField(jni, thread, jvm.eetop) : 0;
}

uint64_t jvm_thread_of(JNIEnv *jni)
{
	return jvm.env_offset ? (uint64_t)((int64_t)(uintptr_t)jni - jvm.env_offset) : 0;
}

bool jvm_reports_starts(void)
{
	return jvm.reports_starts;
}

/* --- libjvm ------------------------------------------------------------------------------------- */

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

uint64_t jvm_library_base(void)
{
	return jvm.base;
}

uint64_t jvm_libc_base(void)
{
	return jvm.libc_base;
}

/* --- classes ------------------------------------------------------------------------------------ */

/*
 * Classes of the boot loader are looked up without side effects. JNI's FindClass, called from a thread without Java
 * frames, calls loadClass of the system class loader, which may be the program's own, and initializes the class. A
 * static initializer that fails, for example for lack of memory, leaves its class unusable until the JVM ends.
 */

typedef jclass find_loaded(JNIEnv *jni, jobject loader, jstring name);

jclass jvm_class(JNIEnv *jni, const char *name)
{
	find_loaded *find = (find_loaded *)(uintptr_t)jvm_symbol(NULL, "JVM_FindLoadedClass");
	jstring text = find ? (*jni)->NewStringUTF(jni, name) : NULL;
	jclass class = text ? find(jni, NULL, text) : NULL;

	(*jni)->ExceptionClear(jni);
	(*jni)->DeleteLocalRef(jni, text);
	return class;
}

jclass jvm_class_initialized(JNIEnv *jni, const char *name)
{
	jclass class = jvm.initialized_not ? jvm_class(jni, name) : NULL;
	bool usable =
		class && !(*jni)->CallBooleanMethod(jni, jvm.unsafe, jvm.initialized_not, class);

	if ((*jni)->ExceptionCheck(jni)) {
		(*jni)->ExceptionClear(jni);
		usable = false;
	}
	if (usable)
		return class;
	(*jni)->DeleteLocalRef(jni, class);
	return NULL;
}

static jmethodID unsafe_method(JNIEnv *jni, jclass class, const char *name, const char *type)
{
	jmethodID found = (*jni)->GetMethodID(jni, class, name, type);

	(*jni)->ExceptionClear(jni);
	return found;
}

/*
 * HotSpot initializes Unsafe before it runs any agent, so GetMethodID and GetStaticFieldID do not initialize it here.
 */
static void jvm_find_unsafe(JNIEnv *jni)
{
	jclass class = jvm_class(jni, "jdk.internal.misc.Unsafe");
	const char *type = "Ljdk/internal/misc/Unsafe;";
	jfieldID field;
	jobject unsafe;

	if (!class) {
		class = jvm_class(jni, "sun.misc.Unsafe"); /* JDK 8 */
		type = "Lsun/misc/Unsafe;";
	}
	field = class ? (*jni)->GetStaticFieldID(jni, class, "theUnsafe", type) : NULL;
	(*jni)->ExceptionClear(jni);
	unsafe = field ? (*jni)->GetStaticObjectField(jni, class, field) : NULL;
	jvm.unsafe = unsafe ? (*jni)->NewGlobalRef(jni, unsafe) : NULL;
	if (jvm.unsafe) {
		jvm.initialized_not =
			unsafe_method(jni, class, "shouldBeInitialized", "(Ljava/lang/Class;)Z");
		jvm.park = unsafe_method(jni, class, "park", "(ZJ)V");
	}
	(*jni)->DeleteLocalRef(jni, unsafe);
	(*jni)->DeleteLocalRef(jni, class);
}

/* --- once --------------------------------------------------------------------------------------- */

static jfieldID thread_field(JNIEnv *jni, const char *name, const char *type)
{
	jfieldID field = (*jni)->GetFieldID(jni, jvm.thread, name, type);

	(*jni)->ExceptionClear(jni);
	return field;
}

/* Determines the offset of the JNI environment in a JavaThread, which is the same for every thread. */
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

/* Members that are missing stay 0: then there are no thread names. */
static void jvm_thread_class(JNIEnv *jni)
{
	jclass thread = jvm_class(jni, "java.lang.Thread");

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

int64_t jvm_current_place(void)
{
	return jvm.current_place;
}

int64_t jvm_descriptor_place(uint64_t value, unsigned bytes)
{
	uint64_t self = (uint64_t)(uintptr_t)pthread_self();
	unsigned char part[64];

	for (uint64_t at = self; value && at < self + DESCRIPTOR_BYTES; at += sizeof(part)) {
		if (!sig_mem_anywhere.load(&sig_mem_anywhere, at, part, sizeof(part)))
			return 0;
		for (unsigned i = 0; i < sizeof(part); i += bytes) {
			if (!memcmp(part + i, &value, bytes))
				return (int64_t)(at + i - raw_libc_thread_pointer());
		}
	}
	return 0;
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
	jvm.libjvm = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!jvm.libjvm)
		return AGENT_NO_JVMTI;
	jvm_find_unsafe(jni);
	jvm_thread_class(jni);
	sig_mem_choose();
	jvm.base = (uint64_t)(uintptr_t)info.dli_fbase;
	if (dladdr((void *)(uintptr_t)memcpy, &info))
		jvm.libc_base = (uint64_t)(uintptr_t)info.dli_fbase;
	/*
	 * HotSpot stores the address of the JavaThread in a thread-local variable and, on every JDK, as the value of a pthread
	 * key. The variable's place differs between threads, since the loader allocates libjvm's block for each; the values of
	 * the first 32 keys are in the descriptor.
	 */
	jvm.current_place = jvm_descriptor_place(jvm_thread_of(jni), sizeof(uint64_t));
	jvm.jni_version = (*jni)->GetVersion(jni);
	jvm.reports_starts = jvm.jni_version < JVMTI_UNTIL && jvm_events_prepare();
	return AGENT_OK;
}

/* Appends System.getProperty(key), truncated to 64 characters. */
static void add_property(JNIEnv *jni, struct text *out, const char *key)
{
	char value[64 * UTF_BYTES_PER_CHAR + 1] = "";
	jclass system = jvm_class(jni, "java.lang.System");
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

/* --- debug information -------------------------------------------------------------------------- */

/* A byte of libjvm's data, which its compilers read when they begin to compile a method. */
static _Atomic uint8_t *debug_info_flag(const struct sampler *s)
{
	return (_Atomic uint8_t *)(uintptr_t)s->layout_memory->debug_info_at;
}

void debug_info_begin(struct sampler *s)
{
	enum wire_debug_info is = WIRE_DEBUG_INFO_NONE;

	if (!s->layout) /* nothing about the flag is certain */
		is = WIRE_DEBUG_INFO_NONE;
	else if (s->layout->debug_info_on)
		is = WIRE_DEBUG_INFO_OWN;
	else if (s->layout->debug_info_at) {
		s->debug_info_set = !atomic_exchange(debug_info_flag(s), 1);
		is = WIRE_DEBUG_INFO_SET;
	}
	atomic_store(&s->shared.status->debug_info, is);
}

void debug_info_end(struct sampler *s)
{
	if (s->debug_info_set)
		atomic_store(debug_info_flag(s), 0);
	s->debug_info_set = false;
}
