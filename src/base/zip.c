/* SPDX-License-Identifier: Apache-2.0 */
/* Compression by zlib. */
#include "base/zip.h"

#include <stdlib.h>
#include <zlib.h>

#define ZIP_GZIP  (15 + 16) /* zlib: the largest window, and a gzip header */
#define ZIP_STATE 8         /* zlib's default memLevel */
#define ZIP_PIECE (1u << 16)

struct zip_out {
	z_stream z;
};

struct zip_out *zip_out_new(void)
{
	struct zip_out *out = xcalloc(1, sizeof(*out));

	if (deflateInit2(&out->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, ZIP_GZIP, ZIP_STATE,
		    Z_DEFAULT_STRATEGY) != Z_OK)
		xmalloc(SIZE_MAX / 2); /* fails only for lack of memory, which ends the program */
	return out;
}

void zip_out_free(struct zip_out *z)
{
	if (!z)
		return;
	deflateEnd(&z->z);
	free(z);
}

void zip_out_add(
	struct zip_out *out, struct buf *packed, const struct buf *plain, enum zip_flush flush)
{
	static const int modes[] = {Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH};
	z_stream *z = &out->z;

	z->next_in = (Bytef *)plain->data;
	z->avail_in = (uInt)plain->len;
	do {
		buf_reserve(packed, ZIP_PIECE);
		z->next_out = (Bytef *)packed->data + packed->len;
		z->avail_out = ZIP_PIECE;
		deflate(z, modes[flush]);
		packed->len += ZIP_PIECE - z->avail_out;
	} while (!z->avail_out);
}
