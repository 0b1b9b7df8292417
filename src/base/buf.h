/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growable byte buffer, always NUL-terminated; and allocation that never returns NULL.
 *
 * Embedded: zero-initialize, fill, buf_done. The buffer owns its bytes until buf_steal. Out of memory, the process exits with a
 * message, so this is for the front end only and never linked into the agent. One thread per buffer. Appending is amortized
 * O(1) per byte.
 */
#ifndef JHOT_BASE_BUF_H
#define JHOT_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf {
	char *data; /* NULL while empty */
	size_t len; /* bytes, without the terminating NUL */
	size_t cap;
};

void buf_done(struct buf *b);
void buf_clear(struct buf *b);
void buf_reserve(struct buf *b, size_t more); /* makes space for this many more bytes */
void buf_add(struct buf *b, const void *bytes, size_t len);
void buf_adds(struct buf *b, const char *s);
void buf_addc(struct buf *b, char c);
/* Appends the result of one read(2) of up to `most` bytes. Returns their number, 0 at the end, -1 with errno. */
ssize_t buf_read(struct buf *b, int fd, size_t most);
/* Reads a whole file into an empty buffer. 0, -errno, or -EFBIG with at least the first `limit` bytes. */
int buf_read_all(struct buf *b, int fd, size_t limit);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *buf_str(const struct buf *b); /* "" while empty; valid until the next change */
/* Returns the bytes, which the caller must free; "" if empty, never NULL. b is empty afterwards. */
char *buf_steal(struct buf *b);

/* The plural ending for n: "%u thread%s". */
static inline const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* Out of memory, these exit with a message; the agent then ends its session because the lease expires. */
void *xmalloc(size_t size);
/* Registers a handler that runs before that message, e.g. to restore the terminal. NULL: none. */
void buf_on_no_memory(void (*fn)(void));
void *xcalloc(size_t count, size_t size);
void *xreallocarray(void *p, size_t count, size_t size);
/* Grows an array of *cap entries, if necessary, so that it has space for entry `count`; updates *cap. */
void *xgrow(void *p, size_t count, uint32_t *cap, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t len);

#endif
