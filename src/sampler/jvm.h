/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What needs the JVM: names of threads, starts of threads, symbols of libjvm.
 *
 * Handlers never come here. jvm_prepare runs in Agent_OnAttach, on a Java thread. Names are asked for
 * through JNI by a thread of its own that may block: it attaches as a daemon only while it asks, so
 * that it is in nobody's thread dump and delays no exit.
 *
 * JVMTI is used up to JDK 18 only, for ThreadStart and ThreadEnd; by the fallback walker, which cannot do
 * without; and by the event alloc, when it is switched on. From JDK 19 on, to ask a running JVM for a JVMTI
 * environment makes virtual threads slower for good, and needs the care of jvm_gate.c. There the publisher
 * looks at the JVM's own list of threads every few milliseconds instead.
 */
#ifndef JHOT_SAMPLER_JVM_H
#define JHOT_SAMPLER_JVM_H

#include "sampler/sampler.h"

#include "sampler/text.h"

#include <jvmti.h>

/* libjvm's handle and java.lang.Thread's fields, once for good. 0 or AGENT_NO_JVMTI. */
int jvm_prepare(JavaVM *vm);
/* "OpenJDK 64-Bit Server VM 17.0.1+12", for the header. */
void jvm_describe(char *out, size_t bytes);
/* Whether the JVM tells when threads start; otherwise they have to be looked for. */
bool jvm_tells_starts(void);

/*
 * jvm_do: run(s, jni, arg) on the naming thread, attached to the JVM, and wait until it is done. false: it was not
 * run, since the JVM does not let threads in, or there is no such thread. Publisher only.
 */
typedef void jvm_job_fn(struct sampler *s, JNIEnv *jni, void *arg);
bool jvm_do(struct sampler *s, jvm_job_fn *run, void *arg);

/* engine_alloc.c: of the objects that are watched, which have survived? On the naming thread. */
void alloc_round(struct sampler *s, JNIEnv *jni);
/* How long after the last time that is to be looked at, in ns; UINT64_MAX: there is no need. Publisher. */
uint64_t alloc_round_after(void);

/* A JVMTI environment of its own, inside jvm_do. 0 or -errno with a sentence (jvm_gate.c says why not). */
int jvm_jvmti_open(struct sampler *s, jvmtiEnv **out, struct text *why);
/* A session has the gate from its beginning to its end: jvm_gate.c. */
void jvm_gate_put(struct sampler *s);
void jvm_gate_suspect(struct sampler *s); /* after it, when the threads are listed */
void jvm_gate_take_away(void);

JavaVM *jvm_vm(void);

/*
 * Offsets of fields in java.lang.Thread and AbstractOwnableSynchronizer; < 0: not known. They come from jfieldIDs,
 * which JVMs code in one of two ways: whoever uses them has the proof which, a java.lang.String where a
 * thread's name should be.
 */
#define JVM_FIELD_CODINGS 2u
struct jvm_fields {
	int32_t thread_name, eetop, park_blocker, lock_owner;
};
const struct jvm_fields *jvm_fields(unsigned coding);
void jvm_fields_find(JNIEnv *jni, jclass thread);
/* The JavaThread whose environment this is; 0 if that cannot be told. */
uint64_t jvm_thread_of(JNIEnv *jni);

/* The address of a dynamic symbol of libjvm, 0 if there is none; walk_tables.symbol. */
uint64_t jvm_symbol(void *ctx, const char *name);
/* An address inside libjvm. */
uint64_t jvm_inside(void);

/*
 * The fallback walker, if the JVM has it, and what it needs of JVMTI (jvm_agct.c): jmethodIDs for all
 * methods, first time and class by class, and the names of the methods it met.
 */
void jvm_agct_open(struct agct *agct);
void jvm_agct_names(struct agct *agct, jvmtiEnv *jvmti, JNIEnv *jni, bool first);
void JNICALL jvm_on_class_load(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class);
void JNICALL jvm_on_class_prepare(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class);

/* The names of single stubs (jvm_stubs.c), by an environment whose callback of DynamicCodeGenerated is this one. */
void JNICALL jvm_on_code(jvmtiEnv *jvmti, const char *name, const void *address, jint bytes);
void jvm_stubs_name(struct sampler *s, jvmtiEnv *jvmti); /* on the naming thread */

/* The naming thread: 0 or -errno. A round of names now, and another whenever it is asked. */
int jvm_names_start(struct sampler *s);
void jvm_names_ask(struct sampler *s);
#define JVM_NAMES_LEAVE     1u /* values of sampler.names_leave */
#define JVM_NAMES_LEAVE_NOW 2u
/* Events off, the thread joined. vm_ends: the JVM is not asked for anything any more. */
void jvm_names_stop(struct sampler *s, bool vm_ends);

#endif
