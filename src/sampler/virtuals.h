/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of virtual threads. The code that samples a virtual thread copies its name: a handler if it is mounted, a polling
 * agent thread if not; the entry is evicted when the thread has not been sampled for a while. Ids need no table because
 * they are derived from the thread's number; a thread without an entry is shown by its number alone.
 *
 * A window of the table is always searched completely, so that entries may be inserted and removed while handlers
 * search. Entries are written under a sequence lock: seq is odd during a write. In the session's memory; any thread,
 * unless stated otherwise; nothing blocks.
 */
#ifndef JHOT_SAMPLER_VIRTUALS_H
#define JHOT_SAMPLER_VIRTUALS_H

#include "walk/hotspot/java_thread.h"

#define VIRTUALS_MAX    4096u /* a power of two */
#define VIRTUALS_WINDOW 16u

struct virtuals_entry {
	_Atomic uint64_t number; /* Thread.threadId; 0: free */
	_Atomic uint32_t seq;
	_Atomic uint32_t seen;   /* value of virtuals.now when last seen */
	_Atomic int32_t carrier; /* tid of the carrier */
	bool named;              /* true once the name has been read */
	uint64_t name_word;      /* the reference to the String it was read from */
	struct java_name name;
};

struct virtuals {
	_Atomic uint32_t now;  /* number of publications */
	_Atomic uint32_t any;  /* true once a virtual thread was seen */
	uint32_t used;         /* publisher: entries in use at the last sweep */
	bool carrier_reported; /* publisher: true once the note on carriers has been sent */
	/* Why virtual threads without a carrier are not seen; NULL: they are seen. */
	_Atomic(const char *) unseen;
	struct virtuals_entry entries[VIRTUALS_MAX];
};

/* The entry of this number, or NULL. Signal-safe. */
static inline struct virtuals_entry *virtuals_find(struct virtuals *v, uint64_t number)
{
	for (uint32_t i = 0; i < VIRTUALS_WINDOW; i++) {
		struct virtuals_entry *e = &v->entries[((uint32_t)number + i) & (VIRTUALS_MAX - 1)];

		if (atomic_load_explicit(&e->number, memory_order_acquire) == number)
			return e;
	}
	return NULL;
}

/* Everything known about a virtual thread, by its id on the wire. */
struct virtuals_info {
	uint64_t number; /* its low 31 bits if there is no entry */
	int32_t carrier; /* 0: unknown */
	uint32_t bytes;  /* length of the name in UTF-8; 0: unnamed or unknown */
	char name[2 * JAVA_NAME_BYTES];
};
/* Looks up a virtual thread. Publisher. */
void virtuals_lookup(struct virtuals *v, uint32_t id, struct virtuals_info *out);
/* Ends a publication: frees the entries of virtual threads not seen lately. Publisher. */
void virtuals_tick(struct virtuals *v);

#endif
