/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a recording while it is written: chunks in, compressed bytes out to a file, or plain
 * bytes to a buffer.
 *
 * Errors are sticky: the first one is kept for out_check, and nothing is written afterwards.
 * Embedded; zero-initialize. Blocks on the disk. One thread.
 */
#ifndef JHOT_RECORDING_OUT_H
#define JHOT_RECORDING_OUT_H

#include "base/file.h"
#include "base/zip.h"
#include "recording/format.h"

struct out {
	struct file file;
	struct buf *stream;  /* the caller's; NULL: a file */
	struct zip_out *zip; /* of a file */
	struct buf packed, framed;
	struct buf chunk; /* scratch space for the content of a chunk; empty between chunks */
	int error;        /* errno of the first failure, 0: none */
};
/*
 * Creates the file, which does not have its name yet (base/file.h), and writes the header. Returns
 * 0, or -1 with an error.
 */
int out_open(struct out *o, const char *path, struct err *err);
/* Appends to a buffer of the caller instead; begins with the header. Nothing can fail. */
void out_open_stream(struct out *o, struct buf *stream);
/* Closes the file. keep: it stays under its current name; otherwise it is removed. */
void out_close(struct out *o, bool keep);

/* Writes a chunk and clears its content. out_write_nonempty writes nothing if the content is empty. */
void out_write(struct out *o, enum format_type type, struct buf *body);
void out_write_nonempty(struct out *o, enum format_type type, struct buf *body);
/* Writes a chunk of o->chunk followed by these numbers. */
#define OUT(o, type, ...)                                           \
	out_write_numbers(o, type, (const uint64_t[]){__VA_ARGS__}, \
		sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))
void out_write_numbers(struct out *o, enum format_type type, const uint64_t *numbers, size_t count);

/* Flushes all chunks to the file, so that they can be decompressed. ZIP_LAST: ends the stream. */
void out_flush(struct out *o, enum zip_flush flush);
/* 0, or -1 with a sentence about the first failure. */
int out_check(const struct out *o, struct err *err);

#endif
