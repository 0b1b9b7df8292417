/* SPDX-License-Identifier: Apache-2.0 */
/* zlib reads the file, and passes data that is not gzip through; zstd, xz and lz4 are decoded from its output. */
#include "import/input.h"

#include "import/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/*
 * Guards against decompression bombs: gzip's ratio is below 1,032; other formats have this limit
 * beyond RATIO_FROM.
 */
#define RATIO_MAX  1032
#define RATIO_FROM (64u << 20) /* bytes decompressed */

struct input {
	gzFile gz;
	char *name;
	uint64_t total;
	struct unpack *unpack; /* decodes the output of zlib; NULL: it is not zstd, xz or lz4 */
	char *packed;          /* its input */
	size_t packed_at, packed_end;
	bool begun, packed_ended, truncated;
	char *piece;
	size_t at, end; /* of piece: the bytes that are not consumed yet */
	bool ended;
	struct buf line; /* a line that spans several pieces */
	uint64_t offset, lines;
};

static unsigned long long input_decompressed(const struct input *in)
{
	return in->offset + in->end - in->at;
}

static int input_truncated(struct input *in, struct err *err)
{
	in->truncated = true;
	return err_set(err, ERR_INPUT,
		"%s is truncated: its compressed data ends within a block, after %llu decompressed "
		"bytes.",
		in->name, input_decompressed(in));
}

static int input_failed(struct input *in, struct err *err)
{
	int number = Z_OK;
	const char *text = gzerror(in->gz, &number);

	if (number == Z_ERRNO)
		return err_set_errno(err, ERR_INPUT, "Cannot read %s", in->name);
	if (number == Z_BUF_ERROR)
		return input_truncated(in, err);
	return err_set(err, ERR_INPUT, "%s is damaged: %s, after byte %llu of the compressed data.",
		in->name, text, input_decompressed(in));
}

struct input *input_open(const char *path, struct err *err)
{
	bool from_stdin = !strcmp(path, "-");
	int fd = from_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	struct input *in;
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		err_set_errno(err, ERR_INPUT, "Cannot open %s", path);
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	if (S_ISDIR(st.st_mode)) {
		err_set(err, ERR_INPUT, "%s is a folder, not a profile.", path);
		close(fd);
		return NULL;
	}
	in = xcalloc(1, sizeof(*in));
	in->name = xstrdup(from_stdin ? "stdin" : path);
	in->total = S_ISREG(st.st_mode) && st.st_size > 0 ? (uint64_t)st.st_size : 0;
	in->piece = xmalloc(INPUT_PIECE);
	in->gz = gzdopen(fd, "rb");
	if (!in->gz)
		xmalloc(SIZE_MAX / 2); /* fails only for lack of memory, which ends the program */
	gzbuffer(in->gz, INPUT_PIECE);
	return in;
}

void input_close(struct input *in)
{
	if (!in)
		return;
	gzclose(in->gz);
	unpack_free(in->unpack);
	free(in->packed);
	free(in->name);
	free(in->piece);
	buf_done(&in->line);
	free(in);
}

/* Reads from zlib. Returns how many bytes, 0 at the end, -1 with an error. */
static ssize_t input_zlib(struct input *in, char *to, size_t space, struct err *err)
{
	int got = gzread(in->gz, to, (unsigned)space), number = Z_OK;

	gzerror(in->gz, &number);
	if (got < 0 || (got == 0 && number != Z_OK && number != Z_STREAM_END))
		return input_failed(in, err);
	return got;
}

static ssize_t input_unpack(struct input *in, char *to, size_t space, struct err *err)
{
	size_t consumed;
	const char *why;
	ssize_t got;

	do {
		if (in->packed_at == in->packed_end && !in->packed_ended) {
			got = input_zlib(in, in->packed, INPUT_PIECE, err);
			if (got < 0)
				return -1;
			in->packed_at = 0;
			in->packed_end = (size_t)got;
			in->packed_ended = got == 0;
		}
		got = unpack_some(in->unpack, in->packed + in->packed_at,
			in->packed_end - in->packed_at, &consumed, in->packed_ended, to, space,
			&why);
		in->packed_at += consumed;
	} while (!got && (consumed || (in->packed_at == in->packed_end && !in->packed_ended)));
	if (got < 0)
		return err_set(err, ERR_INPUT,
			"%s is damaged: %s reports \"%s\", after byte %llu of the compressed data.",
			in->name, unpack_name(in->unpack), why, input_decompressed(in));
	if (!got && unpack_is_inside(in->unpack))
		return input_truncated(in, err);
	if (input_decompressed(in) > RATIO_FROM &&
		input_decompressed(in) / RATIO_MAX > (uint64_t)gzoffset(in->gz)) {
		err_set(err, ERR_INPUT,
			"%s expands to more than %d times its size, %llu bytes so far.", in->name,
			RATIO_MAX, input_decompressed(in));
		err_hint(err, "if that is intended: %s -dc FILE | jhot view -",
			unpack_name(in->unpack));
		return -1;
	}
	return got;
}

/* Appends input to the bytes that are not consumed yet. Returns -1 with an error, which later calls repeat. */
static int input_fill(struct input *in, struct err *err)
{
	char *to = in->piece;
	ssize_t got;

	if (in->ended)
		return 0;
	memmove(in->piece, in->piece + in->at, in->end - in->at);
	in->end -= in->at;
	in->at = 0;
	to += in->end;
	if (!in->begun) {
		in->begun = true;
		got = input_zlib(in, to, INPUT_PIECE, err);
		in->unpack = got > 0 ? unpack_new(to, (size_t)got) : NULL;
		if (in->unpack) {
			in->packed = in->piece;
			in->packed_end = (size_t)got;
			to = in->piece = xmalloc(INPUT_PIECE);
		}
	} else if (!in->unpack) {
		got = input_zlib(in, to, INPUT_PIECE - in->end, err);
	}
	if (in->unpack)
		got = input_unpack(in, to, INPUT_PIECE - in->end, err);
	if (got < 0)
		return -1;
	in->end += (size_t)got;
	in->ended = got == 0;
	return 0;
}

static void input_consume(struct input *in, size_t bytes)
{
	in->at += bytes;
	in->offset += bytes;
}

int input_peek(struct input *in, const unsigned char **head, struct err *err)
{
	while (in->end - in->at < INPUT_HEAD && !in->ended)
		if (input_fill(in, err)) {
			if (in->end == in->at)
				return -1;
			break; /* report it when these bytes have been consumed */
		}
	size_t left = in->end - in->at;
	*head = (const unsigned char *)in->piece + in->at;
	return (int)(left < INPUT_HEAD ? left : INPUT_HEAD);
}

int input_read(struct input *in, void *to, size_t bytes, struct err *err)
{
	size_t done = 0;

	while (done < bytes) {
		if (in->at == in->end && input_fill(in, err))
			return -1;
		size_t have = in->end - in->at < bytes - done ? in->end - in->at : bytes - done;
		memcpy((char *)to + done, in->piece + in->at, have);
		input_consume(in, have);
		done += have;
		if (!have && in->ended)
			break;
	}
	if (done == bytes)
		return 1;
	return done ? err_set(err, ERR_INPUT, "%s is truncated: it ends at byte %llu.", in->name,
			      (unsigned long long)in->offset)
		    : 0;
}

ssize_t input_some(struct input *in, void *to, size_t bytes, struct err *err)
{
	if (in->at == in->end && input_fill(in, err))
		return -1;
	size_t have = in->end - in->at < bytes ? in->end - in->at : bytes;
	memcpy(to, in->piece + in->at, have);
	input_consume(in, have);
	return (ssize_t)have;
}

bool input_is_truncated(const struct input *in)
{
	return in->truncated;
}

int input_read_rest(struct input *in, struct buf *out, size_t limit, struct err *err)
{
	do {
		if (in->end - in->at > limit - out->len)
			return err_set(err, ERR_INPUT,
				"%s is too large: more than %zu MiB decompressed.", in->name,
				limit >> 20);
		buf_add(out, in->piece + in->at, in->end - in->at);
		input_consume(in, in->end - in->at);
		if (input_fill(in, err))
			return -1;
	} while (in->end > in->at);
	return 0;
}

int input_line(struct input *in, const char **line, size_t *len, struct err *err)
{
	const char *from = in->piece + in->at, *end = memchr(from, '\n', in->end - in->at);

	if (end) { /* the common case: the whole line is in this piece */
		*line = from;
		*len = (size_t)(end - from);
		input_consume(in, *len + 1);
	} else {
		buf_clear(&in->line);
		while (!end) {
			buf_add(&in->line, from, in->end - in->at);
			input_consume(in, in->end - in->at);
			if (in->line.len > INPUT_LINE_MAX)
				return err_set(err, ERR_INPUT,
					"%s: line %llu is longer than %u MiB.", in->name,
					(unsigned long long)in->lines + 1, INPUT_LINE_MAX >> 20);
			if (input_fill(in, err))
				return -1;
			if (in->at == in->end)
				break;
			from = in->piece + in->at;
			end = memchr(from, '\n', in->end - in->at);
		}
		if (end) {
			buf_add(&in->line, from, (size_t)(end - from));
			input_consume(in, (size_t)(end - from) + 1);
		}
		*line = buf_str(&in->line);
		*len = in->line.len;
		if (!end && !*len)
			return 0;
	}
	if (*len && (*line)[*len - 1] == '\r')
		--*len;
	in->lines++;
	return 1;
}

const char *input_name(const struct input *in)
{
	return in->name;
}

uint64_t input_offset(const struct input *in)
{
	return in->offset;
}

uint64_t input_lines(const struct input *in)
{
	return in->lines;
}

void input_progress(const struct input *in, uint64_t *done, uint64_t *total)
{
	z_off_t at = gzoffset(in->gz);

	*done = at > 0 ? (uint64_t)at : 0;
	*total = in->total;
}
