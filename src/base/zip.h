/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gzip compressor for streams. After a flush, everything added so far can be decompressed even if the writer is killed. The
 * output is deterministic: the header contains neither time nor name. CPU-bound, does no I/O. One thread.
 */
#ifndef JHOT_BASE_ZIP_H
#define JHOT_BASE_ZIP_H

#include "base/buf.h"

enum zip_flush {
	ZIP_GOES_ON, /* may retain data for better compression */
	ZIP_FLUSH,   /* outputs everything so far; the stream continues */
	ZIP_LAST,    /* outputs everything and ends the stream */
};

struct zip_out;
struct zip_out *zip_out_new(void);
void zip_out_free(struct zip_out *z);
/* Compresses `plain`, at most 4 GiB, and appends the available output to `packed`. */
void zip_out_add(
	struct zip_out *z, struct buf *packed, const struct buf *plain, enum zip_flush flush);

#endif
