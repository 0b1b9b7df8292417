/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a file, or of stdin, decompressed where it is gzip's, zstd's, xz's or lz4's: once, from the first to the last.
 *
 * Errors are ERR_INPUT and have the file's name. One thread.
 */
#ifndef JHOT_IMPORT_INPUT_H
#define JHOT_IMPORT_INPUT_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

#define INPUT_HEAD     4096         /* bytes that a look ahead may have */
#define INPUT_LINE_MAX (16u << 20)  /* bytes of a line */
#define INPUT_PIECE    (256u << 10) /* bytes that are read at once */

struct input;
struct input *input_open(const char *path, struct err *err); /* "-": stdin */
void input_close(struct input *in);

/* The next bytes, up to INPUT_HEAD, which are not taken: how many, -1 with an error. */
int input_peek(struct input *in, const unsigned char **head, struct err *err);
/* Exactly so many bytes: 1; 0 if the file ends before the first of them, -1 if it ends within, or cannot be read. */
int input_read(struct input *in, void *to, size_t bytes, struct err *err);
/* So many bytes at most, of those that there are: 0 at the end, -1 with an error. */
ssize_t input_some(struct input *in, void *to, size_t bytes, struct err *err);
bool input_is_cut(
	const struct input *in); /* the error was that the compressed data ends within a block */
/* The rest behind what out has, up to so many bytes; more are an error. */
int input_rest(struct input *in, struct buf *out, size_t limit, struct err *err);
/* The next line without its end (\n, \r\n), valid until the next call: 1, 0 at the end. */
int input_line(struct input *in, const char **line, size_t *len, struct err *err);

const char *input_name(const struct input *in); /* for sentences */
uint64_t input_offset(const struct input *in);  /* bytes taken, decompressed */
uint64_t input_lines(const struct input *in);   /* lines taken */
/* Of the file as it lies there: how many bytes were read of how many, 0: not known. */
void input_progress(const struct input *in, uint64_t *done, uint64_t *total);

#endif
