/* SPDX-License-Identifier: Apache-2.0 */
/* A file that is being read, shared by the files that do it: its bytes (reader.c), what its chunks say (chunks.c). */
#ifndef JHOT_RECORDING_READER_H
#define JHOT_RECORDING_READER_H

#include "recording/fields.h"
#include "recording/format.h"
#include "recording/recording.h"
#include "recording/zip.h"

#define TEXTS_MAX 256 /* host and labels: bytes of each */

/* The profile's numbers, by the file's. */
struct numbers {
	uint32_t *list, count, cap;
};

struct recording {
	struct zip_in *zip; /* NULL: what gives the bytes is not ours */
	recording_input *input;
	void *input_ctx;
	struct profile *profile;
	uint64_t offset; /* of the chunk that is read, unpacked */
	uint64_t next;
	struct buf body;
	struct numbers methods, frames, stacks, threads;
	struct fields_known fields;
	struct vitals vitals;
	uint32_t second;  /* to which what is read belongs */
	uint32_t pending; /* the one that has begun but was not wanted yet; PROFILE_NONE: none */
	bool timed;       /* the first has begun */
	bool ended, over;
	uint64_t duration_ns;
	char host[TEXTS_MAX], *labels[RECORDING_LABELS];
	int label_count;
	char note[160];
};

/*
 * chunks.c: takes in what is in the body of a chunk of this type. false: it says what cannot be. What is of a type that is
 * not known is passed over.
 */
bool chunks_take(struct recording *r, uint32_t type);
bool chunks_known(uint32_t type);

#endif
