/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes Java itself read its sets of virtual threads. A concurrently relocating collector (ZGC) may leave a reference
 * pointing to an object's former address until it is used: Java's own loads repair it. Direct loads cannot, but find
 * the sets again afterwards. Used in a VM call, and only when the sets were not found.
 */
#include "sampler/jvm/own.h"

#define SETS_MAX         256 /* containers at a time */
#define LOCAL_REFERENCES 32

struct touch {
	JNIEnv *jni;
	jmethodID contains, to_array;
	/* NULL: not initialized, so no object of the class has a set. */
	jclass reference, executor, shared, scope, flock_container, flock;
};

/* NULL when `of` is no instance of the class, or one of them is NULL. */
static jobject field_of(JNIEnv *jni, jobject of, jclass class, const char *name, const char *type)
{
	jfieldID field;

	if (!of || !class || !(*jni)->IsInstanceOf(jni, of, class))
		return NULL;
	field = (*jni)->GetFieldID(jni, class, name, type);
	(*jni)->ExceptionClear(jni);
	return field ? (*jni)->GetObjectField(jni, of, field) : NULL;
}

/* Queries the set for an object it does not contain, which makes it load its map and its table. */
static void set_touch(const struct touch *t, jobject set)
{
	JNIEnv *jni = t->jni;

	if (set)
		(*jni)->CallBooleanMethod(jni, set, t->contains, jvm.thread);
	(*jni)->ExceptionClear(jni);
	(*jni)->DeleteLocalRef(jni, set);
}

static jobject static_set(JNIEnv *jni, const char *class_name, const char *name)
{
	jclass class = jvm_class_initialized(jni, class_name);
	jfieldID field =
		class ? (*jni)->GetStaticFieldID(jni, class, name, "Ljava/util/Set;") : NULL;
	jobject set;

	(*jni)->ExceptionClear(jni);
	set = field ? (*jni)->GetStaticObjectField(jni, class, field) : NULL;
	(*jni)->DeleteLocalRef(jni, class);
	return set;
}

static void registry_touch(const struct touch *t, jobject registry)
{
	static const char set[] = "Ljava/util/Set;";
	JNIEnv *jni = t->jni;
	jobjectArray all = registry ? (*jni)->CallObjectMethod(jni, registry, t->to_array) : NULL;
	jsize count;

	(*jni)->ExceptionClear(jni);
	count = all ? (*jni)->GetArrayLength(jni, all) : 0;
	for (jsize i = 0; i < count && i < SETS_MAX; i++) {
		jobject reference = (*jni)->GetObjectArrayElement(jni, all, i);
		jobject container =
			field_of(jni, reference, t->reference, "referent", "Ljava/lang/Object;");

		set_touch(t, field_of(jni, container, t->executor, "threads", set));
		set_touch(t, field_of(jni, container, t->shared, "virtualThreads", set));
		(*jni)->DeleteLocalRef(jni, container);
		(*jni)->DeleteLocalRef(jni, reference);
	}
	(*jni)->DeleteLocalRef(jni, all);
	set_touch(t, registry);
}

static void scopes_touch(const struct touch *t, jobject thread)
{
	static const char scope_type[] = "Ljdk/internal/vm/StackableScope;";
	JNIEnv *jni = t->jni;
	jobject scope = field_of(jni, thread, jvm.thread, "headStackableScopes", scope_type);

	for (int i = 0; scope && i < SETS_MAX; i++) {
		jobject flock = field_of(
			jni, scope, t->flock_container, "flock", "Ljdk/internal/misc/ThreadFlock;");
		jobject outer = field_of(jni, scope, t->scope, "previous", scope_type);

		set_touch(t, field_of(jni, flock, t->flock, "threads", "Ljava/util/Set;"));
		(*jni)->DeleteLocalRef(jni, flock);
		(*jni)->DeleteLocalRef(jni, scope);
		scope = outer;
	}
	(*jni)->DeleteLocalRef(jni, scope);
}

/* In a VM call; the caller provides a frame of local references. */
static void all_touch(JNIEnv *jni, jobjectArray threads, jsize count)
{
	jclass set = jvm_class_initialized(jni, "java.util.Set");
	struct touch t = {.jni = jni,
		.reference = jvm_class_initialized(jni, "java.lang.ref.Reference"),
		.executor =
			jvm_class_initialized(jni, "java.util.concurrent.ThreadPerTaskExecutor"),
		.shared = jvm_class_initialized(jni, "jdk.internal.vm.SharedThreadContainer"),
		.scope = jvm_class_initialized(jni, "jdk.internal.vm.StackableScope"),
		.flock_container = jvm_class_initialized(
			jni, "jdk.internal.misc.ThreadFlock$ThreadContainerImpl"),
		.flock = jvm_class_initialized(jni, "jdk.internal.misc.ThreadFlock")};

	if (!set)
		return;
	t.contains = (*jni)->GetMethodID(jni, set, "contains", "(Ljava/lang/Object;)Z");
	t.to_array = (*jni)->GetMethodID(jni, set, "toArray", "()[Ljava/lang/Object;");
	set_touch(
		&t, static_set(jni,
			    "jdk.internal.vm.ThreadContainers$RootContainer$TrackingRootContainer",
			    "VTHREADS"));
	registry_touch(
		&t, static_set(jni, "jdk.internal.vm.ThreadContainers", "CONTAINER_REGISTRY"));
	for (jsize i = 0; i < count; i++) {
		jobject thread = (*jni)->GetObjectArrayElement(jni, threads, i);

		scopes_touch(&t, thread);
		(*jni)->DeleteLocalRef(jni, thread);
	}
}

void jvm_sets_touch(JNIEnv *jni, jobjectArray threads, jsize count)
{
	if ((*jni)->PushLocalFrame(jni, LOCAL_REFERENCES) == 0) {
		all_touch(jni, threads, count);
		(*jni)->PopLocalFrame(jni, NULL);
	}
	(*jni)->ExceptionClear(jni); /* the heap is full */
}
