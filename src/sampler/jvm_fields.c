/* SPDX-License-Identifier: Apache-2.0 */
/* Where the fields of java.lang.Thread are that are read from outside of Java. */
#include "sampler/jvm.h"

static struct jvm_fields fields_found[JVM_FIELD_CODINGS];

const struct jvm_fields *jvm_fields(unsigned coding)
{
	return &fields_found[coding];
}

/*
 * field_offset: a jfieldID of an instance's field is its offset above two bits of flags (jfieldIDWorkaround in
 * HotSpot's jfieldIDWorkaround.hpp), since JDK 28 above three. Bit 1 says that it is an instance's, bit 0 that
 * a hash of the class follows seven bits of offset.
 */
static int32_t field_offset(jfieldID id, unsigned coding)
{
	uint64_t bits = (uint64_t)(uintptr_t)id;

	if ((bits & 3) != 2)
		return -1;
	return (int32_t)(bits >> (2 + coding) & 0xffff);
}

static void field_find(JNIEnv *jni, jclass class, const char *name, const char *type, size_t member)
{
	jfieldID id = class ? (*jni)->GetFieldID(jni, class, name, type) : NULL;

	(*jni)->ExceptionClear(jni);
	for (unsigned coding = 0; coding < JVM_FIELD_CODINGS; coding++)
		*(int32_t *)(void *)((char *)&fields_found[coding] + member) =
			id ? field_offset(id, coding) : -1;
}

void jvm_fields_find(JNIEnv *jni, jclass thread)
{
	jclass owned =
		(*jni)->FindClass(jni, "java/util/concurrent/locks/AbstractOwnableSynchronizer");

	(*jni)->ExceptionClear(jni);
	field_find(jni, thread, "name", "Ljava/lang/String;",
		offsetof(struct jvm_fields, thread_name));
	field_find(jni, thread, "eetop", "J", offsetof(struct jvm_fields, eetop));
	field_find(jni, thread, "parkBlocker", "Ljava/lang/Object;",
		offsetof(struct jvm_fields, park_blocker));
	field_find(jni, owned, "exclusiveOwnerThread", "Ljava/lang/Thread;",
		offsetof(struct jvm_fields, lock_owner));
	(*jni)->DeleteLocalRef(jni, owned);
}
