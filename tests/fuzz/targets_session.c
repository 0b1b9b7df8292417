/* SPDX-License-Identifier: Apache-2.0 */
/* Parsers of agent records, recordings and settings files. */
#include "base/buf.h"
#include "findings/findings.h"
#include "profile/calls/report.h"
#include "profile/profile.h"
#include "recording/recording.h"
#include "session/context/context.h"
#include "session/record/reader.h"
#include "tests/fuzz/targets.h"
#include "tui/config/config.h"
#include "wire/ring.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RING_BYTES   (4 * WIRE_RECORD_MAX)
#define RECORDS_MAX  4096
#define SECONDS_MAX  600
#define HONEST_HEAD  0 /* as a first word: the head is where the bytes end */
#define CURSOR_BYTES 16

/* --- the ring ---------------------------------------------------------------------------------------- */

static void take_module(void *ctx, uint32_t id, const struct proc_map *m)
{
	*(size_t *)ctx += strlen(m->path) + id;
}

static void take_call(void *ctx, const struct call *call)
{
	uint32_t count;

	if (call->begin_from > call->begin_to || call->begin_to > call->end_from ||
		call->end_from > call->end_to)
		abort();
	free(call_phases(ctx, call, &count));
}

/* What is shown of calls. */
static void read_calls(struct profile *profile)
{
	struct calls_query q = {.to_ns = UINT64_MAX};
	struct calls_cause causes[CALLS_CAUSES];
	struct calls_summary sum;

	calls_summarize(profile, &q, &sum);
	q.min_ns = sum.slow_ns;
	calls_causes(profile, &q, causes);
	calls_each(profile, &q, take_call, profile);
}

/* Two words, the cursors, then what is in the ring. */
size_t fuzz_ring(const uint8_t *data, size_t bytes)
{
	static _Alignas(64) unsigned char ring[RING_BYTES];
	static _Alignas(64) unsigned char record[WIRE_RECORD_MAX];
	struct wire_cursors cursors;
	struct ring_reader r;
	struct profile *profile;
	struct frames *frames;
	struct reader *reader;
	size_t seen = 0;
	uint64_t words[2];
	int size;

	if (bytes < CURSOR_BYTES)
		return bytes;
	memcpy(words, data, sizeof(words));
	bytes -= CURSOR_BYTES;
	bytes = bytes < RING_BYTES ? bytes : RING_BYTES;
	memset(ring, 0, sizeof(ring));
	memcpy(ring, data + CURSOR_BYTES, bytes);
	memset(&cursors, 0, sizeof(cursors));
	ring_reader_init(&r, &cursors, ring, RING_BYTES);
	atomic_store(&cursors.head, words[0] == HONEST_HEAD ? bytes & ~7ull : words[0]);
	profile = profile_new();
	frames = frames_new(profile, NULL);
	reader = reader_new(profile, frames, words[1]);
	reader_on_module(reader, take_module, &seen);
	frames_time(frames, "handle");
	for (int i = 0; i < RECORDS_MAX && (size = ring_read(&r, record)) > 0; i++) {
		if (((struct wire_record *)record)->type == WIRE_REC_POLL && !calls_name(profile))
			calls_begin(profile, "handle", 5000000); /* costs memory */
		if (reader_consume(reader, (struct wire_record *)record, (uint32_t)size,
			    SECONDS_MAX, NULL))
			break;
	}
	read_calls(profile);
	reader_free(reader);
	frames_free(frames);
	profile_free(profile);
	return bytes;
}

/* --- contexts of OpenTelemetry ------------------------------------------------------------------------- */

size_t fuzz_context(const uint8_t *data, size_t bytes)
{
	struct process_context context = {0};

	process_context_parse(data, bytes, &context);
	process_context_done(&context);
	return bytes;
}

#define PLACE_BASE 65536

struct place_memory {
	const uint8_t *data;
	size_t bytes, read;
};

static bool place_read(void *ctx, uint64_t addr, void *out, size_t bytes)
{
	struct place_memory *m = ctx;

	m->read += bytes;
	if (addr < PLACE_BASE || addr - PLACE_BASE > m->bytes ||
		bytes > m->bytes - (addr - PLACE_BASE))
		return false;
	memcpy(out, m->data + (addr - PLACE_BASE), bytes);
	return true;
}

/* The memory in which a library is mapped. */
size_t fuzz_place(const uint8_t *data, size_t bytes)
{
	struct place_memory memory = {data, bytes, 0};
	const struct context_mem mem = {place_read, &memory};
	struct wire_context_place place;

	context_place_find(&mem, PLACE_BASE, false, &place);
	return bytes + memory.read;
}

/* --- a recording ------------------------------------------------------------------------------------- */

size_t fuzz_recording(const uint8_t *data, size_t bytes)
{
	char path[64];
	int fd = fuzz_file(data, bytes, path);
	struct profile *profile = profile_new();
	struct recording *r = recording_open(path, profile, NULL);
	struct findings *findings = findings_new();
	int more = r != NULL;

	for (uint32_t s = 1; more > 0; s++) {
		more = recording_read(r, s < SECONDS_MAX ? s : UINT32_MAX, NULL);
		findings_vitals(findings, recording_vitals_now(r));
		findings_evaluate(findings, profile, 0, profile_info(profile).now + 1);
	}
	read_calls(profile);
	if (r)
		recording_duration_ns(r);
	recording_free(r);
	findings_free(findings);
	profile_free(profile);
	close(fd);
	return bytes;
}

/* --- settings ---------------------------------------------------------------------------------------- */

size_t fuzz_config(const uint8_t *data, size_t bytes)
{
	static const struct config_values values = {.event = "cpu",
		.window = "30s",
		.names = "short",
		.color = "auto",
		.mouse = "on",
		.format = ".svg",
		.delay = "1s"};
	char *text = xstrndup((const char *)data, bytes);
	struct buf out = {0};

	config_free(config_parse(text, "fuzz", NULL));
	config_write(text, &values, &out);
	buf_done(&out);
	free(text);
	return bytes;
}
