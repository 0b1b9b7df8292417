/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of a pprof file by the ids that samples refer to. Ids are arbitrary 64-bit numbers.
 * Private to the pprof reader. One thread.
 */
#ifndef JHOT_IMPORT_PPROF_H
#define JHOT_IMPORT_PPROF_H

#include "base/buf.h"
#include "base/hash.h"
#include "import/feed.h"
#include "import/message.h"

#define PPROF_BYTES ((size_t)512 << 20) /* the largest file, decompressed */
#define PPROF_MOST  (8u << 20)          /* functions, locations, strings, each */
#define PPROF_LINES 1024u               /* of a location */
#define PPROF_CHAIN 65536u              /* frames of a sample */
#define PPROF_TYPES 64

struct pprof_function {
	uint64_t name, system_name, file; /* strings */
};
struct pprof_location {
	struct message message;
	uint64_t mapping, address;
	uint32_t frame, frames; /* outermost first, in frames; frames 0: not resolved yet */
	uint32_t leaf; /* the innermost frame as a possible class, + 1; 0: not resolved yet */
};

/* Maps ids to indices. */
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
	uint64_t negative; /* negative values, which were skipped */
	uint32_t *frames;  /* of locations */
	uint32_t frame_count, frames_cap;
	/* The values of a sample. */
	struct pprof_type {
		uint64_t name, unit;
		int event;         /* whose weight it is; -1: the count of another one */
		uint64_t interval; /* weight of one sample according to the file; 0: unknown */
		uint64_t scale;    /* factor to the unit of the event */
		int count;         /* index of its count; -1: none */
	} types[PPROF_TYPES];
	int type_count;
	struct pprof_type period_type;
	uint64_t period, start_ns, duration_ns;
	uint32_t *chain; /* frames of the current sample, leaf first */
	uint32_t chain_cap;
};

int pprof_bad(const struct pprof *r, const unsigned char *at, const char *what, struct err *err);
/* A string by its index, "" if there is none. Valid until the next call. */
const char *pprof_text(struct pprof *r, uint64_t index);

/* pprof_tables.c: reads everything but the samples. */
int pprof_tables(struct pprof *r, struct err *err);
/* The frames of a location, outermost first. Returns their number, or -1 if there is no such location. */
int pprof_frames(struct pprof *r, uint64_t location, const uint32_t **frames);
/* The innermost frame of a location, as a possible class. */
uint32_t pprof_leaf(struct pprof *r, uint64_t location);
void pprof_done(struct pprof *r);

#endif
