/* SPDX-License-Identifier: Apache-2.0 */
/* What is found in the JVM once for good. */
#include "sampler/jvm/own.h"

#include "sampler/signal/raw.h"
#include "sampler/text.h"

#include <dlfcn.h>
#include <link.h>

#include "sampler/compat.h"

#define JVMTI_UNTIL        0x00130000 /* JNI's version of JDK 19: see jvm.h */
#define UTF_BYTES_PER_CHAR 3

struct jvm jvm;

uint64_t jvm_java_thread(JNIEnv *jni, jobject thread)
{
	return jvm.eetop ? (uint64_t)(*jni)->GetLongField(jni, thread, jvm.eetop) : 0;
}

uint64_t jvm_thread_of(JNIEnv *jni)
{
	return jvm.env_offset ? (uint64_t)((int64_t)(uintptr_t)jni - jvm.env_offset) : 0;
}

bool jvm_tells_starts(void)
{
	return jvm.tells_starts;
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

int64_t jvm_current_place(void)
{
	return jvm.current_place;
}

/* jvm_find_current: in libjvm's thread-local block of this thread, the word that is this JavaThread's address. */
static int jvm_find_current(struct dl_phdr_info *info, size_t bytes, void *java_thread)
{
	const uint64_t *words = info->dlpi_tls_data;
	size_t inside = 0, count = 0;

	if (bytes < sizeof(*info))
		return 1; /* a libc that does not tell */
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + part->p_vaddr;

		if (part->p_type == PT_TLS)
			count = part->p_memsz / sizeof(*words);
		else if (part->p_type == PT_LOAD)
			inside |= jvm_inside() - start < part->p_memsz;
	}
	for (size_t i = 0; inside && words && i < count; i++) {
		if (words[i] == (uint64_t)(uintptr_t)java_thread) {
			jvm.current_place =
				(int64_t)((uint64_t)(uintptr_t)&words[i] - raw_thread_pointer());
			break;
		}
	}
	return (int)inside;
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
	if (jvm_thread_of(jni))
		dl_iterate_phdr(jvm_find_current, (void *)(uintptr_t)jvm_thread_of(jni));
	jvm.jni_version = (*jni)->GetVersion(jni);
	jvm.tells_starts = jvm.jni_version < JVMTI_UNTIL && jvm_events_prepare();
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
