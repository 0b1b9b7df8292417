/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that needs the JVM: names and starts of threads, JVMTI events, symbols of libjvm.
 *
 * Threads: handlers never call into this folder. jvm_prepare runs in Agent_OnAttach, on a Java thread. Later requests
 * to the JVM are VM calls, made by a dedicated thread of the session that may block without bound: it attaches as a
 * daemon only for the duration of a call, so that it appears in no thread dump and delays no exit. The publisher
 * requests VM calls and never enters the JVM itself.
 *
 * JVMTI is used up to JDK 18 only, for ThreadStart and ThreadEnd; by the fallback walker, which depends on it; and by
 * the alloc event while that is on. From JDK 19 on, requesting a JVMTI environment in a running JVM makes virtual
 * threads slower for the rest of the JVM's life, and needs the precautions of gate.c. There the publisher polls the
 * JVM's own list of threads instead: scan.h.
 */
#ifndef JHOT_SAMPLER_JVM_JVM_H
#define JHOT_SAMPLER_JVM_JVM_H

#include "sampler/sampler.h"
#include "sampler/text.h"

#include <jvmti.h>

/*
 * The offset from a thread's pointer to the word that holds the address of its JavaThread, in bytes. Non-Java threads
 * of the JVM use the same word, so its contents must be verified. 0: unknown.
 */
int64_t jvm_current_place(void);
/*
 * The offset from the calling thread's pointer to a value of 4 or 8 bytes in libc's descriptor of the thread, in bytes. A field has
 * the same offset in all threads that libc has created. 0: not found.
 */
int64_t jvm_descriptor_place(uint64_t value, unsigned bytes);
/*
 * In Agent_OnLoad: calls fn once, on a Java thread, when the JVM is initialized; the program's main may already run by then, for a
 * few milliseconds. False: it will not be called.
 */
bool jvm_when_created(JavaVM *vm, void (*fn)(JavaVM *vm));
/* Finds libjvm and the fields of java.lang.Thread, once per process. 0 or AGENT_NO_JVMTI. On a Java thread. */
int jvm_prepare(JavaVM *vm);
/* "OpenJDK 64-Bit Server VM 17.0.1+12", for the header. On a Java thread. */
void jvm_describe(char *out, size_t bytes);
/* True when the JVM reports thread starts; otherwise new threads must be polled for. */
bool jvm_reports_starts(void);

/*
 * Starts the VM-call thread and requests a first call. The thread owns a reference to the session's memory until it
 * has ended.
 */
void jvm_vm_calls_start(struct sampler *s);
/*
 * Requests a VM call: thread names, wanted JVMTI events, survivors. Returns the request's id: vm_calls.configured
 * reaches it once the JVM knows which events to report, vm_calls.done when the call is complete. Does not block.
 */
uint32_t jvm_vm_call_request(struct sampler *s);
/* Values of vm_calls.leave: end after a last VM call; end without one. */
#define JVM_LEAVE     1u
#define JVM_LEAVE_NOW 2u
/*
 * Ends the VM-call thread, after a last VM call unless the VM is exiting. Does not block; vm_calls.left becomes true.
 */
void jvm_vm_calls_end(struct sampler *s, bool vm_ends);

/*
 * Groups of events the JVM reports, as bits. jvm_events_request sets and clears groups, effective from the next VM call
 * on, and changes the sampling interval of allocations, in bytes, unless it is 0. Does not block.
 */
#define JVM_REPORTS_THREADS     1u
#define JVM_REPORTS_CLASSES     2u /* required by AsyncGetCallTrace */
#define JVM_REPORTS_ALLOCATIONS 4u
#define JVM_REPORTS_COLLECTIONS 8u
#define JVM_REPORTS_ALL         15u
void jvm_events_request(uint32_t set, uint32_t clear, uint32_t interval);
/* True when the JVM has been set to report all of these. */
bool jvm_events_are_set(uint32_t bits);
/* The heap-sampling interval set in the JVM last, in bytes. Any thread. */
uint32_t jvm_events_interval(void);
/* Creates the JVMTI environment at once. Only up to JDK 18, where it has no lasting cost. False: none. */
bool jvm_events_prepare(void);

/* engine/alloc/alloc.c: records a sampled object of this size, in bytes. In the JVM's callback. */
void alloc_arrived(struct sampler *s, JNIEnv *jni, jobject object, jclass class, uint64_t size);
/* How long after the last VM call the survivors must be checked, in ns; UINT64_MAX: never. Publisher. */
uint64_t alloc_round_after(struct sampler *s);

/*
 * The gate for attaching threads, in place from start to end of a session: gate.c. jvm_gate_install installs it,
 * jvm_gate_suspect then records the listed threads that may be attaching, jvm_gate_remove removes it. Publisher.
 */
void jvm_gate_install(struct sampler *s);
void jvm_gate_suspect(struct sampler *s);
void jvm_gate_remove(void);

/* The JavaThread of a JNI environment; 0 if unknown. */
uint64_t jvm_thread_of(JNIEnv *jni);

/* The address of a dynamic symbol of libjvm; 0 if there is none. A walk_tables.symbol. */
uint64_t jvm_symbol(void *ctx, const char *name);
/*
 * jvm_inside: an address in libjvm's code. jvm_library_base: the load address of its file; jvm_libc_base: of the
 * C library, 0: unknown.
 */
uint64_t jvm_inside(void);
uint64_t jvm_library_base(void);
uint64_t jvm_libc_base(void);

/* Enables the fallback walker if the JVM provides it. */
void jvm_agct_open(struct agct *agct);

/* --- classes ----------------------------------------------------------------------------------- */

/*
 * Looks up a class of the boot loader by its Java name ("java.lang.Thread") and returns a local reference. NULL if it
 * is not loaded, or if the heap is full. Loads and initializes nothing, calls no class loader, leaves no exception
 * pending. On a Java thread; may block like any call into the JVM.
 *
 * GetStaticFieldID, GetStaticMethodID, GetFieldID and GetMethodID initialize the class they are given: use jvm_class
 * only for classes that HotSpot initializes before it runs any agent, jvm_class_initialized for all others.
 */
jclass jvm_class(JNIEnv *jni, const char *name);
/* The same, but NULL unless the class is initialized. */
jclass jvm_class_initialized(JNIEnv *jni, const char *name);

/* --- waits.c ----------------------------------------------------------------------------------- */

/*
 * How often each thread has waited, as HotSpot always counts for ThreadInfo: for contended monitors; parked or in
 * Object.wait. jvm_wait_counts_request makes the next VM call search for the counters, once in the JVM's life.
 */
enum jvm_wait_count { JVM_ENTERS, JVM_PARKS, JVM_WAIT_COUNTS };
void jvm_wait_counts_request(struct sampler *s);
/* The offset in a JavaThread of the pointer to the counters; 0: not searched yet, < 0: not found. */
int32_t jvm_wait_counts(void);
/*
 * Offsets from that pointer to a count, and to the total time of these waits in ns, as far as HotSpot times them; both
 * are a jlong.
 */
uint64_t jvm_wait_count_at(enum jvm_wait_count which);
uint64_t jvm_wait_time_at(enum jvm_wait_count which);

/* Requests that HotSpot starts or stops timing waits, from the next VM call on. */
void jvm_wait_times_request(struct sampler *s, bool wanted);
/* 1: HotSpot times waits that began after the request; 0: it does not; < 0: it does not support it. */
int jvm_wait_times(void);

/* --- debug information ------------------------------------------------------------------------- */

/*
 * Debug information between safepoints, for the duration of a session. Without it HotSpot's compilers record the
 * inlined method of an instruction only at calls and safepoints, and all time in between is attributed to the frame of
 * the next one, usually the caller. It affects code compiled from then on. Publisher only.
 */

/* Sets the JVM's flag unless it is already set; reports its state on the status page. */
void debug_info_begin(struct sampler *s);
/* Restores the flag. */
void debug_info_end(struct sampler *s);

#endif
