/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streaming decompression of zstd, xz and lz4, detected by magic number. Concatenated frames are
 * read as one stream. (gzip: input.c.)
 *
 * A decoder allocates up to UNPACK_MEMORY; files that need more are rejected. One thread.
 */
#ifndef JHOT_IMPORT_UNPACK_H
#define JHOT_IMPORT_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define UNPACK_MEMORY_LOG 27 /* zstd up to --ultra -22, xz up to -9 */
#define UNPACK_MEMORY     (1ull << UNPACK_MEMORY_LOG)

struct unpack;
struct unpack *unpack_new(const void *head, size_t bytes); /* NULL: none of these formats */
void unpack_free(struct unpack *u);
/* The name of the format, which is also that of the program that unpacks it. */
const char *unpack_name(const struct unpack *u);

/*
 * Decodes from[bytes] into to[space]. Returns the number of bytes written, 0 if it needs more input
 * or everything is decoded, -1 with a reason. *consumed: bytes of input consumed. last: no more
 * input follows.
 */
ssize_t unpack_some(struct unpack *u, const void *from, size_t bytes, size_t *consumed, bool last,
	void *to, size_t space, const char **why);
bool unpack_is_inside(const struct unpack *u); /* a frame has begun and not ended */

#endif
