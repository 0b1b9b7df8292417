/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording being read, shared by reader.c (bytes, chunks, lifetime) and chunks.c (the content of
 * each type of chunk).
 *
 *   input ──▶ fill ──▶ body of one chunk ──▶ chunks_read ──▶ profile, vitals
 *
 * Private to this folder and its tests. One thread.
 */
#ifndef JHOT_RECORDING_READER_H
#define JHOT_RECORDING_READER_H

#include "recording/fields.h"
#include "recording/format.h"
#include "recording/recording.h"

#define TEXTS_MAX 256 /* bytes of the host, and of each label */

/* The profile's ids, by the file's. */
struct id_list {
	uint32_t *list, count, cap;
};

struct recording {
	struct unzip *zip; /* NULL: input belongs to the caller */
	recording_input *input;
	void *input_ctx;
	struct profile *profile;
	uint64_t memory; /* limit of the profile, bytes */
	uint64_t offset; /* uncompressed, of the current chunk */
	uint64_t next;
	struct buf body;
	struct id_list methods, frames, stacks, threads;
	struct fields_known fields;
	struct vitals vitals;
	uint32_t second;  /* the current one */
	uint32_t pending; /* the next one, before which reading stopped; PROFILE_NONE: none */
	bool timed;       /* a second has begun */
	bool ended, over; /* ended: CHUNK_END was read; over: no more can be read */
	bool grows;       /* the input is a stream (recording_grows) */
	bool starved;     /* which had no further chunk at the last attempt */
	uint64_t duration_ns;
	char host[TEXTS_MAX], *labels[RECORDING_LABELS];
	int label_count;
	char note[160];
};

/*
 * Reads r->body as a chunk of this type into the profile. Returns false if it is malformed. Unknown
 * types are ignored.
 */
bool chunks_read(struct recording *r, uint32_t type);
bool chunks_known(uint32_t type);

/* A gzip file, decompressed. */
struct unzip *unzip_open(const char *path, struct err *err);
void unzip_close(struct unzip *z);
/* A recording_input: the next bytes; 0 at the end, also of a truncated file; -1 if it is damaged. */
ssize_t unzip_read(void *z, void *bytes, size_t count, struct err *err);

/* The content of the chunks with measured calls. */
void chunks_read_measured(struct recording *r, struct format_cursor *c);
void chunks_read_calls(struct recording *r, struct format_cursor *c);
void chunks_read_entries(struct recording *r, struct format_cursor *c);

#endif
