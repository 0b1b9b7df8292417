/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed files: intact, in several frames, truncated anywhere, corrupt, and crafted to need memory or time. */
#include "tests/import/read.h"
#include "tests/tap.h"

#include "base/buf.h"

#include <lz4frame.h>
#include <lzma.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

static void pack_gzip(struct buf *out, const char *text, size_t len)
{
	z_stream z = {.next_in = (Bytef *)text, .avail_in = (uInt)len};

	deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY);
	buf_reserve(out, deflateBound(&z, len));
	z.next_out = (Bytef *)out->data + out->len;
	z.avail_out = (uInt)deflateBound(&z, len);
	deflate(&z, Z_FINISH);
	out->len += z.total_out;
	deflateEnd(&z);
}

static void pack_zstd(struct buf *out, const char *text, size_t len)
{
	size_t space = ZSTD_compressBound(len);

	buf_reserve(out, space);
	out->len += ZSTD_compress(out->data + out->len, space, text, len, 3);
}

static void pack_xz(struct buf *out, const char *text, size_t len)
{
	size_t space = lzma_stream_buffer_bound(len), at = 0;

	buf_reserve(out, space);
	if (lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, (const uint8_t *)text, len,
		    (uint8_t *)out->data + out->len, &at, space) != LZMA_OK)
		abort();
	out->len += at;
}

static void pack_lz4(struct buf *out, const char *text, size_t len)
{
	LZ4F_preferences_t checked = {.frameInfo.contentChecksumFlag = 1};
	size_t space = LZ4F_compressFrameBound(len, &checked);

	buf_reserve(out, space);
	out->len += LZ4F_compressFrame(out->data + out->len, space, text, len, &checked);
}

static const struct packer {
	const char *name;
	void (*pack)(struct buf *out, const char *text, size_t len);
} packers[] = {{"gzip", pack_gzip}, {"zstd", pack_zstd}, {"xz", pack_xz}, {"lz4", pack_lz4}};
#define PACKERS (sizeof(packers) / sizeof(packers[0]))

static const char *of(const struct packer *p, const char *what)
{
	static char text[80];

	snprintf(text, sizeof(text), "%s: %s", p->name, what);
	return text;
}

static int64_t samples(const struct imported *i)
{
	const struct profile_query q = profile_whole(EVENT_USER_FIRST);

	return i ? (int64_t)profile_sum(i->profile, &q).count : -1;
}

/* Enough for several pieces, and not so even that it becomes small. */
static void many_lines(struct buf *text, unsigned lines)
{
	for (unsigned i = 0, x = 1; i < lines; i++, x = x * 1103515245u + 12345)
		buf_printf(text, "main;a%u;b%u 2\n", x >> 20, x >> 8 & 0xff);
}

static void test_whole(const struct packer *p)
{
	struct buf text = {0}, packed = {0};
	struct imported *i;
	struct err err;
	bool cut = true;

	many_lines(&text, 60000);
	p->pack(&packed, text.data, text.len);
	i = read_bytes(packed.data, packed.len, &err);
	is_int(samples(i), 120000, of(p, "a packed file is read"));
	import_free(i);
	for (int tenth = 1; tenth < 10; tenth++) {
		i = read_bytes(packed.data, packed.len * (size_t)tenth / 10, &err);
		cut &= !i && strstr(err.what, "truncated") && strstr(err.what, "decompressed");
		import_free(i);
	}
	i = read_bytes(packed.data, packed.len - 3, &err);
	cut &= !i && strstr(err.what, "truncated");
	import_free(i);
	ok(cut, "%s: a truncated file is an error: %s", p->name, err.what);
	p->pack(&packed, "main;z 1\n", 9);
	p->pack(&packed, "main;z 1\n", 9);
	i = read_bytes(packed.data, packed.len, &err);
	is_int(samples(i), 120002, of(p, "concatenated packed files are read as one"));
	import_free(i);
	buf_done(&text);
	buf_done(&packed);
}

/* Any byte changed: an error, or what a checksum does not cover. Nothing else is to be seen but that nothing breaks. */
static void test_damaged(const struct packer *p)
{
	struct buf text = {0}, packed = {0};
	int told = 0, tried = 0;

	many_lines(&text, 300);
	p->pack(&packed, text.data, text.len);
	for (size_t at = 0; at < packed.len; at += 7, tried++) {
		struct imported *i;
		struct err err;

		packed.data[at] ^= 0x55;
		i = read_bytes(packed.data, packed.len, &err);
		packed.data[at] ^= 0x55;
		told += !i && err.kind == ERR_INPUT;
		import_free(i);
	}
	ok(told * 2 > tried, "%s: %d of %d damaged files are refused", p->name, told, tried);
	buf_done(&text);
	buf_done(&packed);
}

/* 128 MiB of empty lines behind one stack. gzip cannot pack them into less than 130 kB; the others are held to its ratio. */
static void test_bomb(const struct packer *p)
{
	size_t len = 128u << 20;
	char *lines = malloc(len);
	struct buf packed = {0};
	struct imported *i;
	struct err err;

	memset(lines, '\n', len);
	memcpy(lines, "a;b 1", 5);
	p->pack(&packed, lines, len);
	i = read_bytes(packed.data, packed.len, &err);
	if (packed.len < len / 1032)
		ok(!i && strstr(err.what, "times its size") && strstr(err.hint, p->name),
			"%s: %zu bytes are not unpacked beyond 128 MiB: %s", p->name, packed.len,
			err.what);
	else
		is_int(samples(i), 1, of(p, "128 MiB packed into 130 kB or more are read"));
	import_free(i);
	free(lines);
	buf_done(&packed);
}

/* Files that ask for a gigabyte or more before they have given a byte. */
static void test_memory(void)
{
	static const unsigned char window[] = {
		0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0, 0}; /* zstd's of 2 GiB */
	lzma_options_lzma large;
	lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &large}, {LZMA_VLI_UNKNOWN, NULL}};
	lzma_block block = {.check = LZMA_CHECK_NONE,
		.filters = filters,
		.compressed_size = LZMA_VLI_UNKNOWN,
		.uncompressed_size = LZMA_VLI_UNKNOWN};
	lzma_stream_flags flags = {.check = LZMA_CHECK_NONE};
	uint8_t xz[LZMA_STREAM_HEADER_SIZE + LZMA_BLOCK_HEADER_SIZE_MAX] = {0};
	struct imported *i;
	struct err err;

	i = read_bytes(window, sizeof(window), &err);
	ok(!i && strstr(err.what, "too much memory"), "zstd: a window of 2 GiB is refused: %s",
		err.what);
	import_free(i);
	lzma_lzma_preset(&large, 6);
	large.dict_size = 1u << 30;
	ok(lzma_stream_header_encode(&flags, xz) == LZMA_OK &&
			lzma_block_header_size(&block) == LZMA_OK &&
			lzma_block_header_encode(&block, xz + LZMA_STREAM_HEADER_SIZE) == LZMA_OK,
		"xz: a header is written for the test");
	i = read_bytes(xz, sizeof(xz), &err);
	ok(!i && strstr(err.what, "too much memory"), "xz: a dictionary of 1 GiB is refused: %s",
		err.what);
	import_free(i);
}

int main(void)
{
	for (size_t i = 0; i < PACKERS; i++) {
		test_whole(&packers[i]);
		test_damaged(&packers[i]);
		test_bomb(&packers[i]);
	}
	test_memory();
	return tap_done();
}
