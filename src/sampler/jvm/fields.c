/* SPDX-License-Identifier: Apache-2.0 */
/* Where the fields of java.lang.Thread and its like are that are read from outside of Java. */
#include "sampler/jvm/jvm.h"

#include <string.h>

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

/* field_find: one that is not there leaves what is known. */
static void field_find(JNIEnv *jni, jclass class, const char *name, const char *type, size_t member)
{
	jfieldID id = class ? (*jni)->GetFieldID(jni, class, name, type) : NULL;

	(*jni)->ExceptionClear(jni);
	for (unsigned coding = 0; id && coding < JVM_FIELD_CODINGS; coding++)
		*(int32_t *)(void *)((char *)&fields_found[coding] + member) =
			field_offset(id, coding);
}

void jvm_fields_find(JNIEnv *jni, jclass thread)
{
	jclass owned =
		(*jni)->FindClass(jni, "java/util/concurrent/locks/AbstractOwnableSynchronizer");
	jclass string, holder;

	(*jni)->ExceptionClear(jni);
	string = (*jni)->FindClass(jni, "java/lang/String");
	(*jni)->ExceptionClear(jni);
	holder = (*jni)->FindClass(jni, "java/lang/Thread$FieldHolder");
	(*jni)->ExceptionClear(jni);
	memset(fields_found, 0xff, sizeof(fields_found));
	field_find(jni, thread, "name", "Ljava/lang/String;",
		offsetof(struct jvm_fields, thread_name));
	field_find(jni, thread, "tid", "J", offsetof(struct jvm_fields, thread_tid));
	field_find(jni, thread, "threadStatus", "I", offsetof(struct jvm_fields, thread_status));
	field_find(jni, thread, "holder", "Ljava/lang/Thread$FieldHolder;",
		offsetof(struct jvm_fields, thread_holder));
	field_find(jni, holder, "threadStatus", "I", offsetof(struct jvm_fields, thread_status));
	field_find(jni, string, "value", "[C", offsetof(struct jvm_fields, text_value));
	field_find(jni, string, "value", "[B", offsetof(struct jvm_fields, text_value));
	field_find(jni, string, "coder", "B", offsetof(struct jvm_fields, text_coder));
	field_find(jni, thread, "eetop", "J", offsetof(struct jvm_fields, eetop));
	field_find(jni, thread, "parkBlocker", "Ljava/lang/Object;",
		offsetof(struct jvm_fields, park_blocker));
	field_find(jni, owned, "exclusiveOwnerThread", "Ljava/lang/Thread;",
		offsetof(struct jvm_fields, lock_owner));
	(*jni)->DeleteLocalRef(jni, holder);
	(*jni)->DeleteLocalRef(jni, string);
	(*jni)->DeleteLocalRef(jni, owned);
}
