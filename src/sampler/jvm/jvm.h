/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What needs the JVM: names of threads, starts of threads, symbols of libjvm.
 *
 * Handlers never come here. jvm_prepare runs in Agent_OnAttach, on a Java thread. Whatever asks the JVM for something
 * afterwards is a visit, made by a thread of the session's own that may block: it attaches as a daemon only while it
 * asks, so that it is in nobody's thread dump and delays no exit. The publisher asks for visits and never enters the
 * JVM itself.
 *
 * JVMTI is used up to JDK 18 only, for ThreadStart and ThreadEnd; by the fallback walker, which cannot do
 * without; and by the event alloc, when it is switched on. From JDK 19 on, to ask a running JVM for a JVMTI
 * environment makes virtual threads slower for good, and needs the care of gate.c. There the publisher
 * looks at the JVM's own list of threads instead: scan.h.
 */
#ifndef JHOT_SAMPLER_JVM_JVM_H
#define JHOT_SAMPLER_JVM_JVM_H

#include "sampler/sampler.h"
#include "sampler/text.h"

#include <jvmti.h>

/*
 * Where each thread has the address of its JavaThread, as bytes from its thread pointer. So does a thread of the JVM's own, which
 * is none: what is found there is to be proved. 0: not known.
 */
int64_t jvm_current_place(void);
/* libjvm's handle and java.lang.Thread's fields, once for good. 0 or AGENT_NO_JVMTI. */
int jvm_prepare(JavaVM *vm);
/* "OpenJDK 64-Bit Server VM 17.0.1+12", for the header. */
void jvm_describe(char *out, size_t bytes);
/* Whether the JVM tells when threads start; otherwise they have to be looked for. */
bool jvm_tells_starts(void);

/* The visiting thread, with a first visit at once; it holds the session's memory until it has left. */
void jvm_visits_start(struct sampler *s);
/*
 * A visit: names, what is wanted of JVMTI, survivors. Its number is in visits.told as soon as the JVM
 * knows which events to report, and in visits.done when all of it is made.
 */
uint32_t jvm_visit_ask(struct sampler *s);
#define JVM_LEAVE     1u /* values of visits.leave: with a last visit */
#define JVM_LEAVE_NOW 2u
/* A last visit, or none where the JVM ends; visits.left tells. Nobody needs to wait for it. */
void jvm_visits_leave(struct sampler *s, bool vm_ends);

/* What the JVM is to tell of from its next visit on, as bits, and the interval of allocations in bytes if not 0. */
#define JVM_TELLS_THREADS     1u
#define JVM_TELLS_CLASSES     2u /* as AsyncGetCallTrace needs */
#define JVM_TELLS_ALLOCATIONS 4u
#define JVM_TELLS_COLLECTIONS 8u
#define JVM_TELLS_ALL         15u
void jvm_events_want(uint32_t set, uint32_t clear, uint32_t interval);
/* Has the JVM been told so? */
bool jvm_events_told(uint32_t bits);
/* The heap-sampling interval that was last set in the JVM, in bytes. Any thread. */
uint32_t jvm_events_interval(void);
/* Up to JDK 18, where it has no consequences: JVMTI from the beginning. */
bool jvm_events_prepare(void);

/* engine/alloc/alloc.c: an object of this size, in the JVM's callback. */
void alloc_arrived(struct sampler *s, JNIEnv *jni, jobject object, jclass class, uint64_t size);
/* How long after the last visit survivors are to be looked at, in ns; UINT64_MAX: there is no need. Publisher. */
uint64_t alloc_round_after(struct sampler *s);

/* A session has the gate from its beginning to its end: gate.c. */
void jvm_gate_put(struct sampler *s);
void jvm_gate_suspect(struct sampler *s); /* after it, when the threads are listed */
void jvm_gate_take_away(void);

/* The JavaThread whose environment this is; 0 if that cannot be told. */
uint64_t jvm_thread_of(JNIEnv *jni);

/* The address of a dynamic symbol of libjvm, 0 if there is none; walk_tables.symbol. */
uint64_t jvm_symbol(void *ctx, const char *name);
/* An address inside libjvm; where its file begins in memory. */
uint64_t jvm_inside(void);
uint64_t jvm_library_base(void);

/* The fallback walker, if the JVM has it. */
void jvm_agct_open(struct agct *agct);

/* --- classes.c --------------------------------------------------------------------------------- */

/*
 * A class of the boot loader by its name in Java ("java.lang.Thread"), as a local reference. NULL if it is not
 * loaded, or the heap is full. Loads and initialises nothing, calls no class loader, leaves no exception pending. On a
 * Java thread; may block as every call into the JVM does.
 *
 * GetStaticFieldID, GetStaticMethodID, GetFieldID and GetMethodID initialise the class that they are given: use jvm_class
 * only for classes that HotSpot initialises before it runs any agent, jvm_class_initialized for all others.
 */
jclass jvm_class(JNIEnv *jni, const char *name);
/* The same, and NULL unless the class is initialised. */
jclass jvm_class_initialized(JNIEnv *jni, const char *name);

/* --- wait_counts.c ----------------------------------------------------------------------------- */

/*
 * How often each thread has waited, as HotSpot counts for ThreadInfo, whether somebody asks or not: for monitors that
 * others held; parked or in Object.wait. Asked for, they are looked for at the next visit, once in the JVM's life.
 */
enum jvm_wait_count { JVM_ENTERS, JVM_PARKS, JVM_WAIT_COUNTS };
void jvm_wait_counts_ask(struct sampler *s);
/* Where in a JavaThread the pointer to them is; 0: not known yet, < 0: it has not been found. */
int32_t jvm_wait_counts(void);
/* From that pointer to this count, and to the time of these waits, in ns, as far as they are timed: a jlong each. */
uint64_t jvm_wait_count_at(enum jvm_wait_count which);
uint64_t jvm_wait_time_at(enum jvm_wait_count which);

/* --- wait_times.c ------------------------------------------------------------------------------ */

/* HotSpot times waits, or does no longer, from the next visit on. */
void jvm_wait_times_ask(struct sampler *s, bool wanted);
/* 1: it does, but not for waits that had begun before; 0: it does not; < 0: it cannot be asked to. */
int jvm_wait_times(void);

/* --- debug_info.c ------------------------------------------------------------------------------ */

/*
 * Debug information between safepoints, for as long as a session lasts. Without it HotSpot's compilers say only at calls
 * and safepoints which inlined method an instruction is of, and all time between goes to the frame of the next one, which
 * is mostly their caller's. It concerns code that is compiled from then on. Publisher only.
 */

/* Sets the JVM's flag where nobody has set it otherwise; how it is then goes to the status page. */
void debug_info_begin(struct sampler *s);
/* Gives it back as it was. */
void debug_info_end(struct sampler *s);

#endif
