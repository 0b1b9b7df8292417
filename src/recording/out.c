/* SPDX-License-Identifier: Apache-2.0 */
/* Framing, compression, writing. */
#include "recording/out.h"

#include <endian.h>
#include <errno.h>

#define BUFFER 65536u /* bytes of one write */

static void out_pack(struct out *o, const struct buf *plain, enum zip_flush flush)
{
	if (o->stream) {
		buf_add(o->stream, buf_str(plain), plain->len);
		return;
	}
	zip_out_add(o->zip, &o->packed, plain, flush);
	if (flush == ZIP_GOES_ON && o->packed.len < BUFFER)
		return;
	if (o->file.path && !o->error && o->packed.len &&
		file_write(o->file.fd, o->packed.data, o->packed.len))
		o->error = errno ? errno : EIO;
	buf_clear(&o->packed);
}

static void out_head(struct out *o)
{
	const struct format_head head = {.magic = FORMAT_MAGIC,
		.major = htole16(FORMAT_MAJOR),
		.minor = htole16(FORMAT_MINOR)};

	buf_add(&o->framed, &head, sizeof(head));
	out_pack(o, &o->framed, ZIP_GOES_ON);
}

int out_open(struct out *o, const char *path, struct err *err)
{
	if (file_create(&o->file, path, err))
		return -1;
	o->zip = zip_out_new();
	out_head(o);
	return 0;
}

void out_open_stream(struct out *o, struct buf *stream)
{
	o->stream = stream;
	out_head(o);
}

void out_close(struct out *o, bool keep)
{
	if (keep)
		file_close_uncommitted(&o->file);
	else
		file_abandon(&o->file);
	zip_out_free(o->zip);
	buf_done(&o->packed);
	buf_done(&o->framed);
	buf_done(&o->chunk);
}

void out_write(struct out *o, enum format_type type, struct buf *body)
{
	struct format_chunk head = {htole32((uint32_t)body->len), htole32(type)};

	buf_clear(&o->framed);
	buf_add(&o->framed, &head, sizeof(head));
	buf_add(&o->framed, buf_str(body), body->len);
	out_pack(o, &o->framed, ZIP_GOES_ON);
	buf_clear(body);
}

void out_write_nonempty(struct out *o, enum format_type type, struct buf *body)
{
	if (body->len)
		out_write(o, type, body);
}

void out_write_numbers(struct out *o, enum format_type type, const uint64_t *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		format_add(&o->chunk, numbers[i]);
	out_write(o, type, &o->chunk);
}

void out_flush(struct out *o, enum zip_flush flush)
{
	const struct buf nothing = {0};

	out_pack(o, &nothing, flush);
}

int out_check(const struct out *o, struct err *err)
{
	if (!o->error)
		return 0;
	errno = o->error;
	err_set_errno(err, ERR_OUTPUT, "Cannot write recording %s", o->file.path);
	err_hint(err, "read the part that was written: jhot view %s",
		o->file.part ? o->file.part : o->file.path);
	return -1;
}
