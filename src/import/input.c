/* SPDX-License-Identifier: Apache-2.0 */
/* Reading by zlib, which passes through what is not compressed. */
#include "import/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

struct input {
	gzFile gz;
	char *name;
	uint64_t total;
	char *piece;
	size_t at, end; /* of piece: what is not taken yet */
	bool ended;
	struct buf line; /* one that lies in several pieces */
	uint64_t offset, lines;
};

static int input_failed(const struct input *in, struct err *err)
{
	int number = Z_OK;
	const char *text = gzerror(in->gz, &number);
	unsigned long long at = (unsigned long long)(in->offset + in->end - in->at);

	if (number == Z_ERRNO)
		return err_set_errno(err, ERR_INPUT, "%s cannot be read", in->name);
	if (number == Z_BUF_ERROR)
		return err_set(err, ERR_INPUT,
			"%s is cut off: its compressed data ends within a block, %llu bytes "
			"decompressed.",
			in->name, at);
	return err_set(err, ERR_INPUT, "%s is damaged: %s, behind byte %llu of what is compressed.",
		in->name, text, at);
}

struct input *input_open(const char *path, struct err *err)
{
	bool from_stdin = !strcmp(path, "-");
	int fd = from_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	struct input *in;
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		err_set_errno(err, ERR_INPUT, "%s cannot be opened", path);
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
		xmalloc(SIZE_MAX / 2); /* the one reason: no memory, which ends the program */
	gzbuffer(in->gz, INPUT_PIECE);
	return in;
}

void input_close(struct input *in)
{
	if (!in)
		return;
	gzclose(in->gz);
	free(in->name);
	free(in->piece);
	buf_done(&in->line);
	free(in);
}

/* Space for more is behind what is not taken yet. -1: an error. */
static int input_fill(struct input *in, struct err *err)
{
	int got, number = Z_OK;

	if (in->ended)
		return 0;
	memmove(in->piece, in->piece + in->at, in->end - in->at);
	in->end -= in->at;
	in->at = 0;
	got = gzread(in->gz, in->piece + in->end, (unsigned)(INPUT_PIECE - in->end));
	if (got < 0)
		return input_failed(in, err);
	in->end += (size_t)got;
	in->ended = got == 0;
	gzerror(in->gz, &number);
	if (in->ended && number != Z_OK && number != Z_STREAM_END) {
		in->ended = false; /* who asks again is told again */
		return input_failed(in, err);
	}
	return 0;
}

static void input_take(struct input *in, size_t bytes)
{
	in->at += bytes;
	in->offset += bytes;
}

int input_peek(struct input *in, const unsigned char **head, struct err *err)
{
	size_t left;

	while (in->end - in->at < INPUT_HEAD && !in->ended)
		if (input_fill(in, err)) {
			if (in->end == in->at)
				return -1;
			break; /* what there is can be looked at; who reads on is told */
		}
	left = in->end - in->at;
	*head = (const unsigned char *)in->piece + in->at;
	return (int)(left < INPUT_HEAD ? left : INPUT_HEAD);
}

int input_read(struct input *in, void *to, size_t bytes, struct err *err)
{
	size_t have, done = 0;

	while (done < bytes) {
		if (in->at == in->end && input_fill(in, err))
			return -1;
		have = in->end - in->at < bytes - done ? in->end - in->at : bytes - done;
		memcpy((char *)to + done, in->piece + in->at, have);
		input_take(in, have);
		done += have;
		if (!have && in->ended)
			break;
	}
	if (done == bytes)
		return 1;
	return done ? err_set(err, ERR_INPUT, "%s is cut off: it ends at byte %llu.", in->name,
			      (unsigned long long)in->offset)
		    : 0;
}

ssize_t input_some(struct input *in, void *to, size_t bytes, struct err *err)
{
	size_t have;

	if (in->at == in->end && input_fill(in, err))
		return -1;
	have = in->end - in->at < bytes ? in->end - in->at : bytes;
	memcpy(to, in->piece + in->at, have);
	input_take(in, have);
	return (ssize_t)have;
}

bool input_is_cut(const struct input *in)
{
	int number = Z_OK;

	gzerror(in->gz, &number);
	return number == Z_BUF_ERROR;
}

int input_rest(struct input *in, struct buf *out, size_t limit, struct err *err)
{
	do {
		if (in->end - in->at > limit - out->len)
			return err_set(err, ERR_INPUT,
				"%s is too large: more than %zu MiB decompressed.", in->name,
				limit >> 20);
		buf_add(out, in->piece + in->at, in->end - in->at);
		input_take(in, in->end - in->at);
		if (input_fill(in, err))
			return -1;
	} while (in->end > in->at);
	return 0;
}

/* Adds what the piece has of the line at hand; true: its end was there. */
static bool input_line_part(struct input *in)
{
	const char *from = in->piece + in->at, *end = memchr(from, '\n', in->end - in->at);
	size_t len = end ? (size_t)(end - from) : in->end - in->at;

	buf_add(&in->line, from, len);
	input_take(in, len + (end ? 1 : 0));
	return end;
}

int input_line(struct input *in, const char **line, size_t *len, struct err *err)
{
	const char *end = memchr(in->piece + in->at, '\n', in->end - in->at);

	buf_clear(&in->line);
	if (end) { /* as nearly always: it lies in the piece as a whole */
		*line = in->piece + in->at;
		*len = (size_t)(end - *line);
		input_take(in, *len + 1);
	} else {
		while (!input_line_part(in)) {
			if (in->line.len > INPUT_LINE_MAX)
				return err_set(err, ERR_INPUT,
					"%s: line %llu is longer than %u MiB.", in->name,
					(unsigned long long)in->lines + 1, INPUT_LINE_MAX >> 20);
			if (input_fill(in, err))
				return -1;
			if (in->ended && in->at == in->end)
				break;
		}
		*line = buf_str(&in->line);
		*len = in->line.len;
		if (!*len && in->ended && in->at == in->end)
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
