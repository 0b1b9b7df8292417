/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share: found once by jvm_prepare, and valid until the JVM ends. */
#ifndef JHOT_SAMPLER_JVM_OWN_H
#define JHOT_SAMPLER_JVM_OWN_H

#include "sampler/jvm/jvm.h"

struct jvm {
	JavaVM *vm;
	int64_t env_offset; /* JNIEnv* - JavaThread*; 0: not known */
	int64_t current_place; /* of the running JavaThread's address, from the thread pointer; 0: not known */
	void *libjvm;
	uint64_t base; /* of libjvm */
	jint jni_version;
	bool tells_starts;
	jclass thread;
	jmethodID get_threads; /* static Thread[] getThreads(), private, JDK 8 to 28 */
	jfieldID eetop, tid, name;
	jobject unsafe;            /* JDK's Unsafe; NULL: not found, neither are its methods */
	jmethodID initialized_not; /* boolean shouldBeInitialized(Class) */
	jmethodID park;            /* void park(boolean isAbsolute, long ns) */
};

extern struct jvm jvm;

/* classes.c: once, in jvm_prepare, when jvm.libjvm is set. */
void jvm_classes_prepare(JNIEnv *jni);

/* jvm_java_thread: the JavaThread behind a java.lang.Thread, 0 if it has none. */
uint64_t jvm_java_thread(JNIEnv *jni, jobject thread);
/* jvm_name: read what a thread is called and remember it in its slot. */
void jvm_name(struct sampler *s, JNIEnv *jni, jobject thread, struct thread_slot *slot);

/* sets.c: Java's sets of virtual threads are read by Java; threads: those that may own scopes. */
void jvm_sets_touch(JNIEnv *jni, jobjectArray threads, jsize count);

/* wait_counts.c: looks for them once; on a visit. */
void jvm_wait_counts_visit(struct sampler *s, JNIEnv *jni);
/* wait_times.c: on a visit. */
void jvm_wait_times_visit(struct sampler *s, JNIEnv *jni);

/* --- events.c: on a visit -------------------------------------------------------------------- */

/* Tells the JVM what is wanted of it since the last visit; what it refuses is not wanted any more. */
void jvm_events_visit(struct sampler *s, JNIEnv *jni);
/* JVMTI while nobody may be attaching himself: gate.c. 0 or -errno with a sentence. */
int jvm_gate_open_jvmti(struct sampler *s, jvmtiEnv **out, struct text *why);

/* stubs.c: once in a session, with the environment whose callback is jvm_on_code. */
void jvm_stubs_name(struct sampler *s, jvmtiEnv *jvmti);
void JNICALL jvm_on_code(jvmtiEnv *jvmti, const char *name, const void *address, jint bytes);

/* agct.c: what the fallback walker needs. */
void jvm_agct_names(struct agct *agct, jvmtiEnv *jvmti, JNIEnv *jni, bool first);
void JNICALL jvm_on_class_load(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class);
void JNICALL jvm_on_class_prepare(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class);

#endif
