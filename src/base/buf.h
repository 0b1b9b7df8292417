/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing byte buffer that is always followed by a NUL.
 *
 * Embedded: zero-initialise, fill, buf_done. The bytes belong to the buffer until buf_steal. Running out
 * of memory ends the process with a message (front end only; never linked into the agent).
 */
#ifndef JHOT_BASE_BUF_H
#define JHOT_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf {
	char *data; /* NULL while empty */
	size_t len; /* bytes, without the NUL */
	size_t cap;
};

void buf_done(struct buf *b);
void buf_clear(struct buf *b);
void buf_reserve(struct buf *b, size_t more); /* space for so many further bytes */
void buf_add(struct buf *b, const void *bytes, size_t len);
void buf_adds(struct buf *b, const char *s);
void buf_addc(struct buf *b, char c);
/* buf_read: adds what one read gives, up to so many bytes: their number, 0 at the end, -1 with errno. */
ssize_t buf_read(struct buf *b, int fd, size_t most);
/* buf_read_all: a whole file into an empty buffer. 0, -errno, or -EFBIG with its first bytes, limit or a little more. */
int buf_read_all(struct buf *b, int fd, size_t limit);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *buf_str(const struct buf *b); /* "" while empty; valid until the next change */
/* buf_steal: the bytes, now the caller's to free; "" of an empty one, never NULL. b is empty afterwards. */
char *buf_steal(struct buf *b);

/* plural: what a noun ends with that so many are named by: "%u thread%s". */
static inline const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* Memory that cannot be had ends the front end with a sentence; the target is left by the lease. */
void *xmalloc(size_t size);
/* fn: what must be done before that, such as giving the terminal back, where the sentence is read. NULL: nothing. */
void buf_on_no_memory(void (*fn)(void));
void *xcalloc(size_t count, size_t size);
void *xreallocarray(void *p, size_t count, size_t size);
/* xgrow: an array of *cap entries of this size, with space for one more behind the first count. */
void *xgrow(void *p, size_t count, uint32_t *cap, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t len);

#endif
