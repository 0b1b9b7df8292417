// SPDX-License-Identifier: Apache-2.0
// Another JVMTI agent in the same JVM, attached again for each of its options:
//
//   count         enables SampledObjectAlloc at the interval that the JVM has
//   count=FILE    disables it again and writes the number of events so far
//   classes=FILE  writes the name of every class that is initialized

#include <jvmti.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static jvmtiEnv *jvmti;
static atomic_long count;

static void JNICALL on_allocated(
	jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object, jclass class, jlong size)
{
	(void)env, (void)jni, (void)thread, (void)object, (void)class, (void)size;
	atomic_fetch_add(&count, 1);
}

static int mode(jvmtiEventMode mode)
{
	return (*jvmti)->SetEventNotificationMode(
		jvmti, mode, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL);
}

static int count_begin(void)
{
	const jvmtiCapabilities capabilities = {.can_generate_sampled_object_alloc_events = 1};
	const jvmtiEventCallbacks callbacks = {.SampledObjectAlloc = on_allocated};

	atomic_store(&count, 0);
	if ((*jvmti)->AddCapabilities(jvmti, &capabilities) ||
		(*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks)))
		return 1;
	return mode(JVMTI_ENABLE);
}

static int count_end(FILE *out)
{
	const jvmtiCapabilities capabilities = {.can_generate_sampled_object_alloc_events = 1};

	fprintf(out, "%ld\n", atomic_load(&count));
	return mode(JVMTI_DISABLE) || (*jvmti)->RelinquishCapabilities(jvmti, &capabilities);
}

static int classes(JNIEnv *jni, FILE *out)
{
	jclass *all;
	jint all_count, status;
	char *name;

	if ((*jvmti)->GetLoadedClasses(jvmti, &all_count, &all))
		return 1;
	for (jint i = 0; i < all_count; i++) {
		if (!(*jvmti)->GetClassStatus(jvmti, all[i], &status) &&
			status & JVMTI_CLASS_STATUS_INITIALIZED &&
			!(*jvmti)->GetClassSignature(jvmti, all[i], &name, NULL)) {
			fprintf(out, "%s\n", name);
			(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
		}
		(*jni)->DeleteLocalRef(jni, all[i]);
	}
	return (*jvmti)->Deallocate(jvmti, (unsigned char *)all) != JVMTI_ERROR_NONE;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	char *file = strchr(options, '=');
	FILE *out = file ? fopen(file + 1, "w") : NULL;
	JNIEnv *jni;
	int failed;

	(void)reserved;
	if (file && !out)
		return 1;
	if ((*vm)->GetEnv(vm, (void **)&jni, JNI_VERSION_1_6) ||
		(!jvmti && (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_1)))
		return 1;
	if (!out)
		return count_begin();
	failed = options[1] == 'l' ? classes(jni, out) : count_end(out);
	return fclose(out) || failed;
}
