/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fallback walker: HotSpot's own AsyncGetCallTrace, used when HotSpot's tables cannot be read.
 *
 * It is known to fail on many stacks and to have crashed JVMs, sees no native frames and does not report how a frame
 * was executed. It is therefore used only when walk_layout_read has failed (or with the option walker=agct), and the
 * status page says so. Its frames are jmethodIDs: a handler assigns each one of the agent's method ids (from
 * AGCT_FIRST_ID on), the VM-call thread looks up its names, the publisher sends them.
 *
 * A jmethodID exists only for classes whose methods have been requested: jvm_agct_names requests those of all loaded
 * classes, ClassPrepare those of later ones. The other walker avoids this cost.
 */
#ifndef JHOT_SAMPLER_JVM_WALKER_AGCT_H
#define JHOT_SAMPLER_JVM_WALKER_AGCT_H

#include "walk/hotspot/names.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AGCT_METHODS  16384u
#define AGCT_PROBES   32u
#define AGCT_FIRST_ID 65536u /* above all ids that names.h assigns to reasons and stubs */
#define AGCT_TEXT     (768u << 10)

struct agct_method {
	_Atomic uint64_t method; /* jmethodID; 0: free */
	_Atomic uint32_t named;
	uint32_t text_at;
	uint16_t class_bytes, name_bytes, signature_bytes;
	bool published;
};

struct agct {
	void (*call)(void *trace, int32_t depth, void *ucontext); /* NULL: not in use */
	int64_t env_offset;                                       /* JNIEnv* - JavaThread* */
	_Atomic uint32_t used;
	uint32_t text_used;
	struct agct_method methods[AGCT_METHODS];
	char text[AGCT_TEXT];
};

/*
 * Walks a Java thread in a signal handler (signal/agct.c). Writes packed frames, leaf first; returns their number, or
 * HotSpot's failure code <= 0.
 */
int sig_agct_walk(struct agct *agct, uint64_t java_thread, void *ucontext, void *buffer,
	uint32_t max, uint64_t *packed);

/* The next method that is named but not published; *cursor starts at 0. NULL at the end. Publisher. */
struct agct_method *agct_next(struct agct *agct, uint32_t *cursor, struct names_entry *out);

/* True when a frame's method is not published yet. */
static inline bool agct_unpublished(const struct agct *agct, uint32_t id)
{
	return id >= AGCT_FIRST_ID && !agct->methods[(id - AGCT_FIRST_ID) % AGCT_METHODS].published;
}

#endif
