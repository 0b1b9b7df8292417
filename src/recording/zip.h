/* SPDX-License-Identifier: Apache-2.0 */
/* gzip as a stream: what is added can be unpacked up to the last flush, whatever becomes of the writer. One thread. */
#ifndef JHOT_RECORDING_ZIP_H
#define JHOT_RECORDING_ZIP_H

#include "base/buf.h"
#include "base/err.h"

struct zip_out;
struct zip_out *zip_out_new(void);
void zip_out_free(struct zip_out *z);
/* What of these bytes is ready, packed, is added to out; with a flush that is all of them, the last ends the stream. */
enum zip_flush { ZIP_GOES_ON, ZIP_FLUSH, ZIP_LAST };
void zip_out_add(struct zip_out *z, struct buf *out, const struct buf *plain, enum zip_flush flush);

struct zip_in;
struct zip_in *zip_in_open(const char *path, struct err *err);
void zip_in_close(struct zip_in *z);
/* The next unpacked bytes; 0: the end, or where the file was cut off; -1: it is damaged. */
ssize_t zip_in_read(void *z, void *bytes, size_t count, struct err *err);

#endif
