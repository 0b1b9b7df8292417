/* SPDX-License-Identifier: Apache-2.0 */
/* Compressing by zlib, with a header that has no time and no name in it. */
#include "export/zip.h"

#include <limits.h>
#include <string.h>
#include <zlib.h>

#define ZIP_GZIP  (15 + 16) /* zlib's for the largest window with a header of gzip */
#define ZIP_STATE 8         /* zlib's own default for its memory */
#define ZIP_CHUNK (1u << 20)

/* zlib counts in unsigned int, so all goes through it in pieces. */
static void zip_pieces(z_stream *z, struct buf *out, const struct buf *plain)
{
	size_t taken = 0;
	int rc = Z_OK;

	while (rc == Z_OK || rc == Z_BUF_ERROR) {
		size_t piece = plain->len - taken < ZIP_CHUNK ? plain->len - taken : ZIP_CHUNK;

		if (!z->avail_in && piece) {
			z->next_in = (Bytef *)plain->data + taken;
			z->avail_in = (uInt)piece;
			taken += piece;
		}
		buf_reserve(out, ZIP_CHUNK);
		z->next_out = (Bytef *)out->data + out->len;
		z->avail_out = ZIP_CHUNK;
		rc = deflate(z, taken < plain->len ? Z_NO_FLUSH : Z_FINISH);
		out->len += ZIP_CHUNK - z->avail_out;
	}
}

void zip_add(struct buf *out, const struct buf *plain)
{
	z_stream z = {0};

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, ZIP_GZIP, ZIP_STATE,
		    Z_DEFAULT_STRATEGY) != Z_OK)
		xmalloc(SIZE_MAX / 2); /* the one reason: no memory, which ends the program */
	zip_pieces(&z, out, plain);
	deflateEnd(&z);
	buf_reserve(out, 1);
	out->data[out->len] = '\0';
}
