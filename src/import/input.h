/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a file or of stdin, decompressed if they are gzip, zstd, xz or lz4; sequential.
 *
 * Errors are of kind ERR_INPUT, name the file, and are sticky. Functions block. One thread.
 */
#ifndef JHOT_IMPORT_INPUT_H
#define JHOT_IMPORT_INPUT_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

#define INPUT_HEAD     4096         /* bytes available to input_peek */
#define INPUT_LINE_MAX (16u << 20)  /* bytes of a line */
#define INPUT_PIECE    (256u << 10) /* bytes that are read at once */

struct input;
struct input *input_open(const char *path, struct err *err); /* "-": stdin */
void input_close(struct input *in);

/* The next bytes, up to INPUT_HEAD, without consuming them. Returns how many, or -1 with an error. */
int input_peek(struct input *in, const unsigned char **head, struct err *err);
/*
 * Reads exactly `bytes` bytes. Returns 1, 0 at the end of the file, or -1 with an error, also if
 * the file has fewer bytes.
 */
int input_read(struct input *in, void *to, size_t bytes, struct err *err);
/* Reads up to `bytes` bytes. Returns how many, 0 at the end, or -1 with an error. */
ssize_t input_some(struct input *in, void *to, size_t bytes, struct err *err);
bool input_is_truncated(const struct input *in); /* the error was truncated compressed data */
/* Appends the rest of the file to out; more than `limit` bytes are an error. */
int input_read_rest(struct input *in, struct buf *out, size_t limit, struct err *err);
/*
 * The next line without its end (\n, \r\n), valid until the next call. Returns 1, 0 at the end, or
 * -1 with an error.
 */
int input_line(struct input *in, const char **line, size_t *len, struct err *err);

const char *input_name(const struct input *in); /* for messages */
uint64_t input_offset(const struct input *in);  /* consumed bytes, decompressed */
uint64_t input_lines(const struct input *in);   /* consumed lines */
/* Bytes of the compressed file: read, and in total (0: unknown). */
void input_progress(const struct input *in, uint64_t *done, uint64_t *total);

#endif
