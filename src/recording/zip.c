/* SPDX-License-Identifier: Apache-2.0 */
/* By zlib, with a header that has no time and no name in it. */
#include "recording/zip.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#define ZIP_GZIP  (15 + 16) /* zlib's for the largest window with a header of gzip */
#define ZIP_STATE 8         /* zlib's own default for its memory */
#define ZIP_PIECE (1u << 16)

struct zip_out {
	z_stream z;
};

struct zip_out *zip_out_new(void)
{
	struct zip_out *out = xcalloc(1, sizeof(*out));

	if (deflateInit2(&out->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, ZIP_GZIP, ZIP_STATE,
		    Z_DEFAULT_STRATEGY) != Z_OK)
		xmalloc(SIZE_MAX / 2); /* the one reason: no memory, which ends the program */
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
	z->avail_in = (uInt)plain->len; /* of a chunk, which has a limit */
	do {
		buf_reserve(packed, ZIP_PIECE);
		z->next_out = (Bytef *)packed->data + packed->len;
		z->avail_out = ZIP_PIECE;
		deflate(z, modes[flush]);
		packed->len += ZIP_PIECE - z->avail_out;
	} while (!z->avail_out);
}

/* --- unpacking --------------------------------------------------------------------------------------- */

struct zip_in {
	gzFile file;
	char *path;
};

struct zip_in *zip_in_open(const char *path, struct err *err)
{
	struct zip_in *in;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	gzFile file = fd < 0 ? NULL : gzdopen(fd, "rb");

	if (!file) {
		err_set_errno(err, ERR_INPUT, "The recording %s cannot be opened", path);
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	gzbuffer(file, ZIP_PIECE);
	in = xcalloc(1, sizeof(*in));
	in->file = file;
	in->path = xstrdup(path);
	return in;
}

void zip_in_close(struct zip_in *in)
{
	if (!in)
		return;
	gzclose(in->file);
	free(in->path);
	free(in);
}

ssize_t zip_in_read(void *ctx, void *bytes, size_t count, struct err *err)
{
	struct zip_in *in = ctx;
	int n = gzread(in->file, bytes, count < ZIP_PIECE ? (unsigned)count : ZIP_PIECE), why;
	const char *text;

	if (n >= 0)
		return n;
	text = gzerror(in->file, &why);
	if (why == Z_ERRNO)
		return err_set_errno(err, ERR_INPUT, "The recording %s cannot be read", in->path);
	return err_set(err, ERR_INPUT,
		"The recording %s cannot be unpacked near its byte %lld: %s.", in->path,
		(long long)gzoffset(in->file), text);
}
