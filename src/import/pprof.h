/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a pprof file, by the ids that samples have. For the reader alone. */
#ifndef JHOT_IMPORT_PPROF_H
#define JHOT_IMPORT_PPROF_H

#include "base/buf.h"
#include "base/hash.h"
#include "import/feed.h"
#include "import/message.h"

#define PPROF_BYTES ((size_t)512 << 20) /* of a file, decompressed */
#define PPROF_MOST  (8u << 20)          /* functions, locations, strings */
#define PPROF_LINES 1024u               /* of a location */
#define PPROF_CHAIN 65536u              /* frames of a sample */
#define PPROF_TYPES 64

struct pprof_function {
	uint64_t name, system_name, file; /* strings */
};
struct pprof_location {
	struct message message;
	uint64_t mapping, address;
	uint32_t frame, frames; /* outermost first, in frames; frames 0: not asked yet */
	uint32_t leaf; /* the innermost one where it may be a class, + 1; 0: not asked yet */
};

/* Entries by ids, which may be any numbers. */
struct pprof_ids {
	struct hash_index index;
	uint32_t count, cap;
};

struct pprof {
	struct import *im;
	struct buf bytes;
	struct pprof_string {
		const char *at;
		size_t len;
	} * strings;
	uint32_t string_count, strings_cap;
	struct pprof_ids function_ids, location_ids, mapping_ids;
	struct pprof_function *functions;
	struct pprof_location *locations;
	struct pprof_mapping {
		uint64_t start, offset, file; /* file: a string */
	} * mappings;
	uint64_t negative; /* values below 0, which were left out */
	uint32_t *frames;  /* of locations */
	uint32_t frame_count, frames_cap;
	/* What the values of a sample are. */
	struct pprof_type {
		uint64_t name, unit;
		int event;         /* whose weight it is; -1: another's count */
		uint64_t interval; /* what the file says that one sample stands for; 0: nothing */
		uint64_t scale;    /* to the unit of the event */
		int count;         /* where the count is; -1: there is none */
	} types[PPROF_TYPES];
	int type_count;
	struct pprof_type period_type;
	uint64_t period, start_ns, duration_ns;
	uint32_t *chain; /* frames of the sample at hand, leaf first */
	uint32_t chain_cap;
};

int pprof_bad(const struct pprof *r, const unsigned char *at, const char *what, struct err *err);
/* Never NULL; valid until the next call. */
const char *pprof_text(struct pprof *r, uint64_t number);

/* pprof_tables.c: all but the samples. */
int pprof_tables(struct pprof *r, struct err *err);
/* Frames of a location, outermost first: how many; -1: there is no such location. */
int pprof_frames(struct pprof *r, uint64_t location, const uint32_t **frames);
/* The innermost one, where it may be a class. */
uint32_t pprof_leaf(struct pprof *r, uint64_t location);
void pprof_done(struct pprof *r);

#endif
