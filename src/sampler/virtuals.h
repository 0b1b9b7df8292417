/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What virtual threads are called: copied by the handler that sees one mounted, since nobody else ever gets hold of
 * it, and kept until it has not been seen for a while. Their ids need no table, they are made of their numbers; one
 * that finds no space is only called by its number.
 *
 * A window of the table is always searched whole, so that entries come and go while handlers look. An entry is
 * written under an odd seq.
 */
#ifndef JHOT_SAMPLER_VIRTUALS_H
#define JHOT_SAMPLER_VIRTUALS_H

#include "walk/hotspot/java_thread.h"

#define VIRTUALS_MAX    4096u /* a power of two */
#define VIRTUALS_WINDOW 16u

struct virtuals_entry {
	_Atomic uint64_t number; /* Thread.threadId, 0: free */
	_Atomic uint32_t seq;
	_Atomic uint32_t seen;   /* virtuals.now then */
	_Atomic int32_t carrier; /* its tid */
	bool named;              /* the name could be read */
	uint64_t name_word;      /* where it was */
	struct java_name name;
};

struct virtuals {
	_Atomic uint32_t now;         /* publications so far */
	_Atomic uint32_t any;         /* one was seen */
	uint32_t used;                /* at the last sweep; the publisher's own */
	bool carrier_said;            /* likewise: what cannot be told of carriers */
	_Atomic(const char *) unseen; /* why those without one are not seen; NULL: they are */
	struct virtuals_entry entries[VIRTUALS_MAX];
};

/* The entry of this number, NULL if there is none. Signal-safe. */
static inline struct virtuals_entry *virtuals_find(struct virtuals *v, uint64_t number)
{
	for (uint32_t i = 0; i < VIRTUALS_WINDOW; i++) {
		struct virtuals_entry *e = &v->entries[((uint32_t)number + i) & (VIRTUALS_MAX - 1)];

		if (atomic_load_explicit(&e->number, memory_order_acquire) == number)
			return e;
	}
	return NULL;
}

/* What is known of a virtual thread by its id on the wire. */
struct virtuals_told {
	uint64_t number; /* its low 31 bits where there is no entry */
	int32_t carrier; /* 0: not known */
	uint32_t bytes;  /* of the name, in UTF-8; 0: it has none, or it is not known */
	char name[2 * JAVA_NAME_BYTES];
};
/* Publisher. */
void virtuals_tell(struct virtuals *v, uint32_t id, struct virtuals_told *out);
/* A publication is over: entries of virtual threads that were not seen lately become free. Publisher. */
void virtuals_tick(struct virtuals *v);

#endif
