/* SPDX-License-Identifier: Apache-2.0 */
/* The growable buffer, and allocation that never returns NULL. */
#include "base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_STEP 8192

static void (*no_memory_handler)(void); /* global: any allocation may fail */

void buf_on_no_memory(void (*fn)(void))
{
	no_memory_handler = fn;
}

static _Noreturn void out_of_memory(void)
{
	static const char msg[] = "jhot: out of memory\n";

	if (no_memory_handler)
		no_memory_handler();
	fwrite(msg, 1, sizeof(msg) - 1, stderr);
	exit(1);
}

void *xmalloc(size_t size)
{
	return xreallocarray(NULL, size, 1);
}

void *xcalloc(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size ? size : 1);

	if (!p)
		out_of_memory();
	return p;
}

void *xreallocarray(void *p, size_t count, size_t size)
{
	p = reallocarray(p, count ? count : 1, size ? size : 1);
	if (!p)
		out_of_memory();
	return p;
}

void *xgrow(void *p, size_t count, uint32_t *cap, size_t size)
{
	if (count < *cap)
		return p;
	*cap = *cap ? *cap * 2 : 64;
	return xreallocarray(p, *cap, size);
}

char *xstrndup(const char *s, size_t len)
{
	char *copy = xmalloc(len + 1);

	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

char *xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

void buf_done(struct buf *b)
{
	free(b->data);
	memset(b, 0, sizeof(*b));
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = '\0';
}

void buf_reserve(struct buf *b, size_t more)
{
	size_t need;

	if (__builtin_add_overflow(b->len, more, &need) || __builtin_add_overflow(need, 1, &need))
		out_of_memory();
	if (need <= b->cap)
		return;
	if (need < b->cap * 2)
		need = b->cap * 2;
	if (need < 64)
		need = 64;
	b->data = xreallocarray(b->data, need, 1);
	b->cap = need;
}

void buf_add(struct buf *b, const void *bytes, size_t len)
{
	buf_reserve(b, len);
	if (len)
		memcpy(b->data + b->len, bytes, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_addc(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

ssize_t buf_read(struct buf *b, int fd, size_t most)
{
	ssize_t n;

	buf_reserve(b, most);
	do
		n = read(fd, b->data + b->len, most);
	while (n < 0 && errno == EINTR);
	b->len += n > 0 ? (size_t)n : 0;
	b->data[b->len] = '\0';
	return n;
}

int buf_read_all(struct buf *b, int fd, size_t limit)
{
	while (b->len < limit) {
		buf_reserve(b, READ_STEP);
		ssize_t n = pread(fd, b->data + b->len, READ_STEP, (off_t)b->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		b->len += (size_t)n;
		b->data[b->len] = '\0';
		if (n == 0)
			return 0;
	}
	return -EFBIG;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0)
		return;
	buf_reserve(b, (size_t)len);
	va_start(ap, fmt);
	vsnprintf(b->data + b->len, (size_t)len + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)len;
}

const char *buf_str(const struct buf *b)
{
	return b->data ? b->data : "";
}

char *buf_steal(struct buf *b)
{
	char *data = b->data ? b->data : xstrdup("");

	memset(b, 0, sizeof(*b));
	return data;
}
