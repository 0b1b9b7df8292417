/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports to the agent that the JVM, which loads it at its start, is initialized.
 *
 * From JDK 21 on, JNI_GetCreatedJavaVMs returns no JVM before it is initialized, so a thread polls it, and then attaches. On earlier JDKs
 * it also returns a JVM that is being created, to which no thread may attach; there JVMTI's event VMInit is used. A JVMTI
 * environment that exists before the JVM is initialized makes virtual threads switch carriers at less than half the speed (JDK 21),
 * so it is created only where there are none.
 */
#include "sampler/jvm/own.h"

#include "base/clock.h"
#include "sampler/signal/raw.h"
#include "sampler/spawn.h"

#include <dlfcn.h>
#include <string.h>

#include "sampler/compat.h"

#define CREATED_STACK   (1u << 20) /* HotSpot's guard zones use a part of it */
#define CREATED_POLL_NS 500000
#define CREATED_WAIT_NS (600 * NS_PER_S)

typedef jint get_created(JavaVM **out, jsize size, jsize *count);

static struct {
	JavaVM *vm;
	get_created *get;
	void (*fn)(JavaVM *vm);
	_Atomic int32_t tid;
} created;

static bool is_created(void)
{
	jsize count = 0;
	JavaVM *vm;

	return created.get(&vm, 1, &count) == JNI_OK && count > 0;
}

static void *poll_created(void *unused)
{
	uint64_t end = clock_mono_ns() + CREATED_WAIT_NS;
	JavaVMAttachArgs args = {JNI_VERSION_1_6, (char *)"jhot-load", NULL};
	JNIEnv *jni;

	while (!is_created())
		if (clock_mono_ns() > end)
			return unused;
		else
			raw_sleep(CREATED_POLL_NS);
	if ((*created.vm)->AttachCurrentThreadAsDaemon(created.vm, (void **)&jni, &args) ==
		JNI_OK) {
		created.fn(created.vm);
		(*created.vm)->DetachCurrentThread(created.vm);
	}
	return unused;
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	(void)jni, (void)thread;
	(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, JVMTI_EVENT_VM_INIT, NULL);
	created.fn(created.vm);
}

static bool request_vm_init(JavaVM *vm)
{
	static const jvmtiEventCallbacks callbacks = {.VMInit = on_vm_init};
	jvmtiEnv *jvmti;

	return (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_1) == JNI_OK &&
	       (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks)) ==
		       JVMTI_ERROR_NONE &&
	       (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL) ==
		       JVMTI_ERROR_NONE;
}

bool jvm_when_created(JavaVM *vm, void (*fn)(JavaVM *vm))
{
	const struct spawn how = {
		.name = "jhot-load",
		.stack_bytes = CREATED_STACK,
		.body = poll_created,
		.tid = &created.tid,
	};
	Dl_info info;
	void *libjvm;

	if (!dladdr((void *)(uintptr_t)(*vm)->GetEnv, &info))
		return false;
	libjvm = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	created.vm = vm;
	created.fn = fn;
	created.get =
		libjvm ? (get_created *)(uintptr_t)dlsym(libjvm, "JNI_GetCreatedJavaVMs") : NULL;
	if (!created.get)
		return false;
	return is_created() ? request_vm_init(vm) : !spawn(&how);
}
