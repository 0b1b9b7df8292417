/* SPDX-License-Identifier: Apache-2.0 */
/* One row per format: its magic number, and adapters to its library. */
#include "import/unpack.h"

#include "base/buf.h"

#include <lz4frame.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

struct unpack_io {
	const void *from;
	size_t bytes, consumed;
	void *to;
	size_t space, got;
	bool last;
};

struct unpack {
	const struct unpack_format *format;
	void *state;
	bool inside;
	const char *failed; /* sticky: a failed decoder is not called again */
};

struct unpack_format {
	const char *name, *magic;
	size_t magic_bytes;
	void *(*begin)(void); /* NULL: no memory */
	/* Returns NULL on success, else the reason of the failure. */
	const char *(*step)(struct unpack *u, struct unpack_io *io);
	void (*end)(void *state);
};

/* --- zstd -------------------------------------------------------------------------------------------- */

static void *zstd_begin(void)
{
	ZSTD_DCtx *state = ZSTD_createDCtx();

	if (state)
		ZSTD_DCtx_setParameter(state, ZSTD_d_windowLogMax, UNPACK_MEMORY_LOG);
	return state;
}

static const char *zstd_step(struct unpack *u, struct unpack_io *io)
{
	ZSTD_inBuffer in = {io->from, io->bytes, 0};
	ZSTD_outBuffer out = {io->to, io->space, 0};
	size_t left = ZSTD_decompressStream(u->state, &out, &in);

	io->consumed = in.pos;
	io->got = out.pos;
	u->inside = left;
	return ZSTD_isError(left) ? ZSTD_getErrorName(left) : NULL;
}

static void zstd_end(void *state)
{
	ZSTD_freeDCtx(state);
}

/* --- lz4 --------------------------------------------------------------------------------------------- */

static void *lz4_begin(void)
{
	LZ4F_dctx *state;

	return LZ4F_isError(LZ4F_createDecompressionContext(&state, LZ4F_VERSION)) ? NULL : state;
}

static const char *lz4_step(struct unpack *u, struct unpack_io *io)
{
	io->consumed = io->bytes;
	io->got = io->space;
	size_t left = LZ4F_decompress(u->state, io->to, &io->got, io->from, &io->consumed, NULL);
	u->inside = left;
	return LZ4F_isError(left) ? LZ4F_getErrorName(left) : NULL;
}

static void lz4_end(void *state)
{
	LZ4F_freeDecompressionContext(state);
}

/* --- xz ---------------------------------------------------------------------------------------------- */

static void *xz_begin(void)
{
	static const lzma_stream none = LZMA_STREAM_INIT;
	lzma_stream *state = xmalloc(sizeof(*state));

	*state = none;
	if (lzma_stream_decoder(state, UNPACK_MEMORY, LZMA_CONCATENATED) == LZMA_OK)
		return state;
	free(state);
	return NULL;
}

static const char *xz_step(struct unpack *u, struct unpack_io *io)
{
	lzma_stream *xz = u->state;

	xz->next_in = io->from;
	xz->avail_in = io->bytes;
	xz->next_out = io->to;
	xz->avail_out = io->space;
	lzma_ret rc = lzma_code(xz, io->last ? LZMA_FINISH : LZMA_RUN);
	io->consumed = io->bytes - xz->avail_in;
	io->got = io->space - xz->avail_out;
	u->inside = rc != LZMA_STREAM_END;
	switch (rc) {
	case LZMA_OK:
	case LZMA_STREAM_END:
	case LZMA_BUF_ERROR: return NULL;
	case LZMA_MEMLIMIT_ERROR: return "it needs too much memory for decoding";
	case LZMA_FORMAT_ERROR: return "trailing data is not an xz stream";
	case LZMA_OPTIONS_ERROR: return "it has options that are not supported";
	default: return "its data is corrupt";
	}
}

static void xz_end(void *state)
{
	lzma_end(state);
	free(state);
}

/* --- all --------------------------------------------------------------------------------------------- */

static const struct unpack_format formats[] = {
	{"zstd", "\x28\xb5\x2f\xfd", 4, zstd_begin, zstd_step, zstd_end},
	{"lz4", "\x04\x22\x4d\x18", 4, lz4_begin, lz4_step, lz4_end},
	{"xz", "\xfd\x37\x7a\x58\x5a", 6, xz_begin, xz_step, xz_end},
};

struct unpack *unpack_new(const void *head, size_t bytes)
{
	struct unpack *u;

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		const struct unpack_format *f = &formats[i];

		if (bytes < f->magic_bytes || memcmp(head, f->magic, f->magic_bytes) != 0)
			continue;
		u = xcalloc(1, sizeof(*u));
		u->format = f;
		u->state = f->begin();
		u->inside = true;
		if (!u->state)
			xmalloc(SIZE_MAX /
				2); /* fails only for lack of memory, which ends the program */
		return u;
	}
	return NULL;
}

void unpack_free(struct unpack *u)
{
	if (u)
		u->format->end(u->state);
	free(u);
}

const char *unpack_name(const struct unpack *u)
{
	return u->format->name;
}

ssize_t unpack_some(struct unpack *u, const void *from, size_t bytes, size_t *consumed, bool last,
	void *to, size_t space, const char **why)
{
	struct unpack_io io = {
		.from = from, .bytes = bytes, .to = to, .space = space, .last = last};

	/* Between frames, decoders treat a call without input as the start of another frame. */
	if (!u->failed && (bytes || u->inside))
		u->failed = u->format->step(u, &io);
	*consumed = io.consumed;
	*why = u->failed;
	return u->failed ? -1 : (ssize_t)io.got;
}

bool unpack_is_inside(const struct unpack *u)
{
	return u->inside;
}
