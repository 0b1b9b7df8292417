/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip as a stream. A flush makes everything added so far readable, whatever becomes of the writer; equal input gives equal
 * bytes: the header has neither time nor name. One thread.
 */
#ifndef JHOT_BASE_ZIP_H
#define JHOT_BASE_ZIP_H

#include "base/buf.h"

enum zip_flush {
	ZIP_GOES_ON, /* compresses what is convenient, and retains the rest */
	ZIP_FLUSH,   /* everything so far, to be continued */
	ZIP_LAST,    /* everything, and the end of the stream */
};

struct zip_out;
struct zip_out *zip_out_new(void);
void zip_out_free(struct zip_out *z);
/* Appends to `packed` what becomes ready of these bytes, at most 4 GiB of them. */
void zip_out_add(
	struct zip_out *z, struct buf *packed, const struct buf *plain, enum zip_flush flush);

#endif
