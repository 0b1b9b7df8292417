/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording's file while it is written: chunks in, packed bytes out.
 *
 * The first failure is kept, and nothing more is written then. One thread.
 */
#ifndef JHOT_RECORDING_OUT_H
#define JHOT_RECORDING_OUT_H

#include "base/file.h"
#include "recording/format.h"
#include "recording/zip.h"

struct out {
	struct file file;
	struct zip_out *zip;
	struct buf packed, framed;
	struct buf chunk; /* for whoever fills the body of one */
	int error;        /* errno of the first failure */
};
/* Zero-initialised. The head is in it then; nothing is to be seen of the file yet. */
int out_open(struct out *o, const char *path, struct err *err);
/* leave: the file stays with what is in it, if it has appeared. */
void out_close(struct out *o, bool leave);

/* A chunk; empties its body. out_some: none, if the body is empty. */
void out_put(struct out *o, enum format_type type, struct buf *body);
void out_some(struct out *o, enum format_type type, struct buf *body);
/* A chunk of these numbers, behind what is in o->chunk. */
#define OUT(o, type, ...)                                     \
	out_numbers(o, type, (const uint64_t[]){__VA_ARGS__}, \
		sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))
void out_numbers(struct out *o, enum format_type type, const uint64_t *numbers, size_t count);

/* What is there goes to the disk: it can be unpacked from there; ZIP_LAST: it is all. */
void out_flush(struct out *o, enum zip_flush flush);
/* 0, or -1 with what went wrong. */
int out_check(const struct out *o, struct err *err);

#endif
