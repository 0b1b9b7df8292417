/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decompression of zstd, xz and lz4, which are recognised by their magic numbers. Concatenated frames are read as one
 * stream. (input.c reads gzip, by zlib.)
 *
 * A decoder allocates up to UNPACK_MEMORY; files that need more are refused. One thread.
 */
#ifndef JHOT_IMPORT_UNPACK_H
#define JHOT_IMPORT_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define UNPACK_MEMORY_LOG 27 /* zstd up to --ultra -22, xz up to -9 */
#define UNPACK_MEMORY     (1ull << UNPACK_MEMORY_LOG)

struct unpack;
struct unpack *unpack_new(const void *head, size_t bytes); /* NULL: it is none of these formats */
void unpack_free(struct unpack *u);
const char *unpack_name(
	const struct unpack *u); /* of the format, and of the program that unpacks it */

/*
 * Decodes some of from[bytes] into to[space]: how many bytes were written, -1 with a reason. *taken: the input that was
 * consumed. last: no input follows it. 0 without an error: it needs more input, or all is decoded.
 */
ssize_t unpack_some(struct unpack *u, const void *from, size_t bytes, size_t *taken, bool last,
	void *to, size_t space, const char **why);
bool unpack_is_inside(const struct unpack *u); /* a frame has begun and not ended */

#endif
