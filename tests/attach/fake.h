/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mock /proc in a temporary folder, for tests of code that reads /proc and hsperfdata.
 *
 * fake_begin creates the folder and points proc_root at it; fake_end removes it. Paths are relative to it.
 */
#ifndef JHOT_TESTS_ATTACH_FAKE_H
#define JHOT_TESTS_ATTACH_FAKE_H

#include "attach/proc.h"
#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char fake_root[PATH_MAX];

__attribute__((noreturn, unused)) static void fake_bail(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

__attribute__((unused)) static void fake_begin(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(fake_root, sizeof(fake_root), "%s/jhot-fake.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(fake_root))
		fake_bail(fake_root);
	proc_root = fake_root;
}

static inline int fake_remove(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

__attribute__((unused)) static void fake_end(void)
{
	nftw(fake_root, fake_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* The absolute path; creates the folders on the way. Valid until the next call. */
__attribute__((unused)) static const char *fake_path(const char *path)
{
	static char whole[PATH_MAX + 512];
	size_t start = strlen(fake_root) + 1;

	snprintf(whole, sizeof(whole), "%s/%s", fake_root, path);
	for (char *slash = strchr(whole + start, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(whole, 0755) && errno != EEXIST)
			fake_bail(whole);
		*slash = '/';
	}
	return whole;
}

__attribute__((unused)) static void fake_bytes(const char *path, const void *bytes, size_t len)
{
	const char *whole = fake_path(path);
	FILE *f = fopen(whole, "w");

	if (!f || fwrite(bytes, 1, len, f) != len || fclose(f))
		fake_bail(whole);
}

__attribute__((unused)) static void fake_file(const char *path, const char *text)
{
	fake_bytes(path, text, strlen(text));
}

/* --- hsperfdata ---------------------------------------------------------------------------------------- */

static inline void fake_put32(struct buf *b, size_t at, int32_t v)
{
	memcpy(b->data + at, &v, sizeof(v));
}

__attribute__((unused)) static void fake_perf_begin(struct buf *b)
{
	static const char head[32] = {(char)0xca, (char)0xfe, (char)0xc0, (char)0xc0, 1, 2, 0, 1};

	buf_clear(b);
	buf_add(b, head, sizeof(head));
	fake_put32(b, 24, 32);
}

/* Appends an entry: type 'J' with a long, or 'B' with a string. */
__attribute__((unused)) static void fake_perf_add(
	struct buf *b, const char *name, char type, const void *data, size_t len)
{
	size_t at = b->len, name_len = strlen(name) + 1, data_at = (20 + name_len + 7) & ~(size_t)7;
	size_t size = (data_at + len + 7) & ~(size_t)7;
	int32_t count;

	for (size_t i = 0; i < size; i++)
		buf_addc(b, '\0');
	fake_put32(b, at, (int32_t)size);
	fake_put32(b, at + 4, 20);
	fake_put32(b, at + 8, type == 'J' ? 0 : (int32_t)len);
	b->data[at + 12] = type;
	fake_put32(b, at + 16, (int32_t)data_at);
	memcpy(b->data + at + 20, name, name_len);
	memcpy(b->data + at + data_at, data, len);
	memcpy(&count, b->data + 28, sizeof(count));
	fake_put32(b, 28, count + 1);
}

__attribute__((unused)) static void fake_perf_string(
	struct buf *b, const char *name, const char *text)
{
	fake_perf_add(b, name, 'B', text, strlen(text) + 1);
}

#endif
