/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JVMTI support of the fallback walker: creates jmethodIDs for all methods, and looks up the names of those in stacks.
 */
#include "sampler/jvm/own.h"

#include <string.h>

/* Requesting the methods of a class creates their jmethodIDs. */
static void methods_of(jvmtiEnv *jvmti, jclass class)
{
	jmethodID *methods = NULL;
	jint count = 0;

	if ((*jvmti)->GetClassMethods(jvmti, class, &count, &methods) == JVMTI_ERROR_NONE)
		(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
}

void JNICALL jvm_on_class_load(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class)
{
	/* AsyncGetCallTrace only works while this event has a listener. */
}

void JNICALL jvm_on_class_prepare(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class)
{
	methods_of(jvmti, class);
}

static void methods_of_all(jvmtiEnv *jvmti, JNIEnv *jni)
{
	jclass *classes = NULL;
	jint count = 0;

	if ((*jvmti)->GetLoadedClasses(jvmti, &count, &classes) != JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < count; i++) {
		methods_of(jvmti, classes[i]);
		(*jni)->DeleteLocalRef(jni, classes[i]);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
}

static uint16_t text_store(struct agct *agct, const char *text, size_t bytes)
{
	if (bytes > UINT16_MAX || bytes > AGCT_TEXT - agct->text_used)
		return 0;
	memcpy(agct->text + agct->text_used, text, bytes);
	agct->text_used += (uint32_t)bytes;
	return (uint16_t)bytes;
}

/* Stores the names of m. class_name: without 'L' and ';'. */
static void agct_named(struct agct *agct, struct agct_method *m, const char *class_name,
	size_t class_bytes, const char *name, const char *signature)
{
	m->text_at = agct->text_used;
	m->class_bytes = text_store(agct, class_name, class_bytes);
	m->name_bytes = text_store(agct, name, strlen(name));
	m->signature_bytes = text_store(agct, signature, strlen(signature));
	atomic_store_explicit(&m->named, 1, memory_order_release);
}

static void method_name(struct agct *agct, jvmtiEnv *jvmti, JNIEnv *jni, struct agct_method *m)
{
	jmethodID id = (jmethodID)(uintptr_t)atomic_load(&m->method);
	char *class_name = NULL, *name = NULL, *signature = NULL;
	jclass class = NULL;
	size_t bytes;

	if ((*jvmti)->GetMethodDeclaringClass(jvmti, id, &class) == JVMTI_ERROR_NONE &&
		(*jvmti)->GetClassSignature(jvmti, class, &class_name, NULL) == JVMTI_ERROR_NONE &&
		(*jvmti)->GetMethodName(jvmti, id, &name, &signature, NULL) == JVMTI_ERROR_NONE) {
		bytes = strlen(class_name);
		agct_named(agct, m, class_name + 1, bytes > 2 ? bytes - 2 : 0, name, signature);
	} else {
		agct_named(agct, m, "", 0, "[unloaded]", "");
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)class_name);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	(*jni)->DeleteLocalRef(jni, class);
}

void jvm_agct_names(struct agct *agct, jvmtiEnv *jvmti, JNIEnv *jni, bool first)
{
	if (first)
		methods_of_all(jvmti, jni);
	for (uint32_t i = 0; i < AGCT_METHODS; i++) {
		struct agct_method *m = &agct->methods[i];

		if (atomic_load(&m->method) && !atomic_load(&m->named))
			method_name(agct, jvmti, jni, m);
	}
}

/* --- the publisher's side ---------------------------------------------------------------------- */

struct agct_method *agct_next(struct agct *agct, uint32_t *cursor, struct names_entry *out)
{
	for (; agct->call && *cursor < AGCT_METHODS; ++*cursor) {
		struct agct_method *m = &agct->methods[*cursor];
		const char *text = agct->text + m->text_at;

		if (m->published || !atomic_load_explicit(&m->named, memory_order_acquire))
			continue;
		*out = (struct names_entry){.id = AGCT_FIRST_ID + *cursor,
			.class_name = text,
			.name = text + m->class_bytes,
			.signature = text + m->class_bytes + m->name_bytes,
			.class_bytes = m->class_bytes,
			.name_bytes = m->name_bytes,
			.signature_bytes = m->signature_bytes};
		return m;
	}
	return NULL;
}
