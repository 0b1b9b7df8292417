/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HotSpot times the waits it counts (wait_counts.c) only on request: "thread contention monitoring", which
 * java.lang.management turns on through libjvm's function table for that purpose (jmm.h). The index of SetBoolAttribute
 * depends on the version the table reports:
 *
 *   0x2001vvvv  JDK 8, 9: function 15      0x20020000  10 to 13: 13      0x20030000  14 to 20: 14
 *   0x20040000  21 to 25: 15               0x20050000  26 to 28: 15
 *
 * It is turned off again if it was off before, unless the program has turned it on meanwhile: java.lang.management
 * keeps that in a field of its own and is asked if it has been loaded.
 */
#include "sampler/jvm/own.h"

#define TIMES_ATTRIBUTE 23 /* JMM_THREAD_CONTENTION_MONITORING */
#define VERSION_AT      2u

typedef jint times_version(JNIEnv *jni);
typedef jboolean times_set(JNIEnv *jni, jint attribute, jboolean on);
typedef void *times_table(jint version);

static _Atomic int timing; /* the value of jvm_wait_times */
static bool set_by_agent;  /* VM-call thread: true when it was off before */

int jvm_wait_times(void)
{
	return atomic_load(&timing);
}

void jvm_wait_times_request(struct sampler *s, bool wanted)
{
	atomic_store(&s->vm_calls.times, wanted);
	jvm_vm_call_request(s);
}

/* SetBoolAttribute; NULL: this version is unknown. A caller must request the table by its version. */
static times_set *times_function(JNIEnv *jni)
{
	static const struct {
		jint version;
		uint32_t at;
	} rows[] = {{0x20010000, 15}, {0x20020000, 13}, {0x20030000, 14}, {0x20040000, 15},
		{0x20050000, 15}};
	times_table *table_of = (times_table *)(uintptr_t)jvm_symbol(NULL, "JVM_GetManagement");

	for (size_t i = 0; table_of && i < sizeof(rows) / sizeof(rows[0]); i++) {
		void *const *table = table_of(rows[i].version);

		if (table && (*(times_version *const *)&table[VERSION_AT])(jni) >> 16 ==
				     rows[i].version >> 16)
			return *(times_set *const *)&table[rows[i].at];
	}
	return NULL;
}

/*
 * True when the program has turned it on, through a bean whose class is then initialised, as is the bean's factory.
 */
static bool set_by_program(JNIEnv *jni)
{
	jclass factory =
		jvm_class_initialized(jni, "sun.management.ThreadImpl")
			? jvm_class_initialized(jni, "java.lang.management.ManagementFactory")
			: NULL;
	jmethodID get = factory ? (*jni)->GetStaticMethodID(jni, factory, "getThreadMXBean",
					  "()Ljava/lang/management/ThreadMXBean;")
				: NULL;
	jobject bean = get ? (*jni)->CallStaticObjectMethod(jni, factory, get) : NULL;
	jmethodID on = bean ? (*jni)->GetMethodID(jni, (*jni)->GetObjectClass(jni, bean),
				      "isThreadContentionMonitoringEnabled", "()Z")
			    : NULL;

	return on && (*jni)->CallBooleanMethod(jni, bean, on);
}

void jvm_wait_times_apply(struct sampler *s, JNIEnv *jni)
{
	bool wanted = atomic_load(&s->vm_calls.times) != 0;
	times_set *to;

	if ((!wanted && atomic_load(&timing) <= 0) || (*jni)->PushLocalFrame(jni, 8)) {
		(*jni)->ExceptionClear(jni);
		return;
	}
	to = times_function(jni);
	/* Again, in case the program has turned it off. */
	if (wanted && to && !to(jni, TIMES_ATTRIBUTE, JNI_TRUE))
		set_by_agent = true;
	if (!wanted && to && set_by_agent && !set_by_program(jni))
		to(jni, TIMES_ATTRIBUTE, JNI_FALSE);
	set_by_agent = set_by_agent && wanted;
	(*jni)->ExceptionClear(jni);
	(*jni)->PopLocalFrame(jni, NULL);
	atomic_store(&timing, to ? wanted : -1);
}
