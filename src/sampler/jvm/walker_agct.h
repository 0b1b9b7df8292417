/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fallback walker: HotSpot's own AsyncGetCallTrace, where its tables cannot be read.
 *
 * It is known to fail on many stacks and to have crashed JVMs, sees no native frames and does not tell
 * how a frame ran; so it is used only where walk_layout_read has failed (or by the option walker=agct),
 * and the status page says so. Its frames hold jmethodIDs: a handler gives each a method id of the
 * agent's (from AGCT_FIRST_ID on), the naming thread finds its names, the publisher sends them.
 *
 * jmethodIDs exist only for classes whose methods somebody has asked for: jvm_agct_names asks for all there
 * are, ClassPrepare for those to come. This is what the other walker is there to avoid.
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
#define AGCT_FIRST_ID 65536u /* above all ids that names.h gives for reasons and stubs */
#define AGCT_TEXT     (768u << 10)

struct agct_method {
	_Atomic uint64_t method; /* jmethodID, 0: free */
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
 * Handler (signal/agct.c): packed frames of a Java thread, leaf first; their number, or HotSpot's
 * reason <= 0.
 */
int sig_agct_walk(struct agct *agct, uint64_t java_thread, void *ucontext, void *buffer,
	uint32_t max, uint64_t *packed);

/* The next method that has a name and is not published; *cursor begins at 0. Publisher. */
struct agct_method *agct_next(struct agct *agct, uint32_t *cursor, struct names_entry *out);

/* Does a frame name a method that is not published yet? */
static inline bool agct_unpublished(const struct agct *agct, uint32_t id)
{
	return id >= AGCT_FIRST_ID && !agct->methods[(id - AGCT_FIRST_ID) % AGCT_METHODS].published;
}

#endif
