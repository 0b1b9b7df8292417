/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of this folder. `jvm` is filled in once, by jvm_prepare, and stays valid until the JVM ends. */
#ifndef JHOT_SAMPLER_JVM_OWN_H
#define JHOT_SAMPLER_JVM_OWN_H

#include "sampler/jvm/jvm.h"

struct jvm {
	JavaVM *vm;
	int64_t env_offset; /* JNIEnv* - JavaThread*; 0: unknown */
	/* Offset from the thread pointer to the address of the running JavaThread; 0: unknown. */
	int64_t current_place;
	void *libjvm;
	uint64_t base;      /* load address of libjvm */
	uint64_t libc_base; /* of the C library; 0: unknown */
	jint jni_version;
	bool reports_starts;
	jclass thread;
	jmethodID get_threads; /* static Thread[] getThreads(), private, JDK 8 to 28 */
	jfieldID eetop, tid, name;
	jobject unsafe;            /* the JDK's Unsafe; NULL: not found, nor its methods */
	jmethodID initialized_not; /* boolean shouldBeInitialized(Class) */
	jmethodID park;            /* void park(boolean isAbsolute, long ns) */
};

extern struct jvm jvm;

/* The JavaThread of a java.lang.Thread; 0 if it has none. */
uint64_t jvm_java_thread(JNIEnv *jni, jobject thread);
/* Reads a thread's name and records it in its slot. */
void jvm_name(struct sampler *s, JNIEnv *jni, jobject thread, struct thread_slot *slot);

/* sets.c: makes Java read its sets of virtual threads. threads: those that may own scopes. */
void jvm_sets_touch(JNIEnv *jni, jobjectArray threads, jsize count);

/* waits.c: searches for the counters; applies the last request for timing. In a VM call. */
void jvm_wait_counts_find(struct sampler *s, JNIEnv *jni);
void jvm_wait_times_apply(struct sampler *s, JNIEnv *jni);

/* --- events.c: in a VM call ------------------------------------------------------------------ */

/* Sets the wanted events in the JVM; events that it refuses are no longer wanted. */
void jvm_events_apply(struct sampler *s, JNIEnv *jni);
/* Creates a JVMTI environment while no thread can be attaching: gate.c. 0, or -errno with a sentence. */
int jvm_gate_open_jvmti(struct sampler *s, jvmtiEnv **out, struct text *why);

/* agct.c: JVMTI support of the fallback walker. */
void jvm_agct_names(struct agct *agct, jvmtiEnv *jvmti, JNIEnv *jni, bool first);
void JNICALL jvm_on_class_load(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class);
void JNICALL jvm_on_class_prepare(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class);

#endif
