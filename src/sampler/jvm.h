/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What needs the JVM: JVMTI events, names of threads, symbols of libjvm.
 *
 * Handlers never come here. jvm_prepare runs in Agent_OnAttach, on a Java thread; the callbacks
 * run on the threads they are about. Names of threads that were there before, and new names, are
 * asked for by a thread of its own that may block: it attaches as a daemon only while it asks, so
 * that it is in nobody's thread dump and delays no exit, and switches the events off in the end.
 */
#ifndef JHOT_SAMPLER_JVM_H
#define JHOT_SAMPLER_JVM_H

#include "sampler/sampler.h"

#include <jvmti.h>

/* The JVMTI environment and libjvm's handle, once for good. 0 or AGENT_NO_JVMTI. */
int jvm_prepare(JavaVM *vm);
/* "OpenJDK 64-Bit Server VM 17.0.1+12", for the header. */
void jvm_describe(char *out, size_t bytes);

/* The address of a dynamic symbol of libjvm, 0 if there is none; walk_tables.symbol. */
uint64_t jvm_symbol(void *ctx, const char *name);
/* An address inside libjvm. */
uint64_t jvm_inside(void);

/* The naming thread: 0 or -errno. One round of names now, and one more whenever it is asked. */
int jvm_names_start(struct sampler *s);
void jvm_names_ask(struct sampler *s);
#define JVM_NAMES_LEAVE     1u /* values of sampler.names_leave */
#define JVM_NAMES_LEAVE_NOW 2u
/* Events off, the thread joined. vm_ends: the JVM is not asked for anything any more. */
void jvm_names_stop(struct sampler *s, bool vm_ends);

#endif
