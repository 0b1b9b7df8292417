/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that runs for days, as an agent would report it: threads that start, end and reuse ids, classes of
 * lambdas that are loaded, used once and never seen again. Independent of any clock; the same seed gives the same records.
 */
#ifndef JHOT_TESTS_SESSION_DAY_H
#define JHOT_TESTS_SESSION_DAY_H

#include "base/clock.h"
#include "session/record/reader.h"

#include <stdio.h>
#include <string.h>

#define DAY_THREADS 100u   /* at a time; the first half never ends */
#define DAY_STARTED 13u    /* per second: more than 2^20 in a day */
#define DAY_LAMBDAS 10u    /* per second */
#define DAY_KNOWN   24576u /* traces before the agent discards all of them */
#define DAY_METHODS 400u
#define DAY_STACKS  1000u
#define DAY_DEPTH   20u
#define DAY_OWN     6u /* stacks per thread */
#define DAY_TIDS    32768u

struct day_thread {
	uint32_t id, tid;
	uint32_t traces[DAY_OWN];
};

struct day {
	struct profile *profile;
	struct frames *frames;
	struct reader *reader;
	uint64_t rng, stacks[DAY_STACKS][DAY_DEPTH];
	struct day_thread threads[DAY_THREADS];
	uint32_t next_thread, next_tid, next_method, next_trace, known, second, rejected;
	uint64_t samples;
	_Alignas(8) unsigned char record[4096];
};

static inline uint32_t day_below(struct day *d, uint32_t n)
{
	d->rng ^= d->rng << 13;
	d->rng ^= d->rng >> 7;
	d->rng ^= d->rng << 17;
	return (uint32_t)((d->rng * 0x2545f4914f6cdd1dull >> 32) % n);
}

static inline void day_send(struct day *d, uint16_t type, size_t size)
{
	struct wire_record *rec = (struct wire_record *)d->record;
	struct err err;

	rec->size = (uint32_t)(size + 7) & ~7u;
	rec->type = type;
	d->rejected += reader_consume(d->reader, rec, rec->size, UINT32_MAX, &err) != 0;
	memset(d->record, 0, rec->size);
}

static inline uint32_t day_method(struct day *d, const char *class_name)
{
	struct wire_method *rec = (struct wire_method *)d->record;

	rec->id = ++d->next_method;
	rec->class_bytes = (uint16_t)strlen(class_name);
	rec->name_bytes = (uint16_t)snprintf(rec->text + rec->class_bytes, 100, "run%u()V",
				  d->next_method % 50) -
			  3;
	memcpy(rec->text, class_name, rec->class_bytes);
	rec->signature_bytes = 3;
	day_send(d, WIRE_REC_METHOD,
		sizeof(*rec) + rec->class_bytes + rec->name_bytes + rec->signature_bytes);
	return d->next_method;
}

static inline uint32_t day_trace(
	struct day *d, const struct day_thread *t, const uint64_t *frames, uint32_t count)
{
	struct wire_trace *rec = (struct wire_trace *)d->record;

	rec->id = ++d->next_trace;
	rec->thread = t->id;
	rec->frame_count = count;
	for (uint32_t i = 0; i < count; i++)
		rec->frames[i] = frames[count - 1 - i];
	day_send(d, WIRE_REC_TRACE, sizeof(*rec) + count * sizeof(rec->frames[0]));
	if (++d->known == DAY_KNOWN) {
		d->known = 0;
		for (uint32_t i = 0; i < DAY_THREADS; i++)
			memset(d->threads[i].traces, 0, sizeof(d->threads[i].traces));
	}
	return d->next_trace;
}

static inline void day_count(struct day *d, uint32_t trace)
{
	struct wire_deltas *rec = (struct wire_deltas *)d->record;

	rec->time_ns = d->second * NS_PER_S + 1;
	rec->interval = NS_PER_S / 100;
	rec->delta_count = 1;
	rec->deltas[0] = (struct wire_delta){.trace = trace, .count = 1, .weight = NS_PER_S / 100};
	day_send(d, WIRE_REC_DELTAS, sizeof(*rec) + sizeof(rec->deltas[0]));
	d->samples++;
}

/* The next tid that no thread uses. */
static inline uint32_t day_tid(struct day *d)
{
	uint32_t tid;
	bool in_use;

	do {
		tid = 1000 + d->next_tid++ % DAY_TIDS;
		in_use = false;
		for (uint32_t i = 0; i < DAY_THREADS; i++)
			in_use |= d->threads[i].tid == tid;
	} while (in_use);
	return tid;
}

static inline void day_start_thread(struct day *d, uint32_t i)
{
	struct wire_thread *rec = (struct wire_thread *)d->record;

	d->threads[i] = (struct day_thread){.id = ++d->next_thread, .tid = day_tid(d)};
	rec->id = d->threads[i].id;
	rec->os_tid = (int32_t)d->threads[i].tid;
	rec->kind = WIRE_THREAD_JAVA;
	rec->name_bytes = (uint32_t)snprintf(
		rec->name, 40, i % 3 ? "worker-%u" : "request %08x x", d->next_thread);
	day_send(d, WIRE_REC_THREAD, sizeof(*rec) + rec->name_bytes);
}

/* Pins the living threads, as a session does with those in /proc. */
static inline void day_pin(void *ctx, enum profile_kind kind, bool leaving)
{
	struct day *d = ctx;

	if (kind != PROFILE_THREADS || leaving)
		return;
	for (uint32_t n = 0; n < profile_thread_count(d->profile); n++)
		for (uint32_t i = 0; i < DAY_THREADS; i++)
			if (profile_get_thread(d->profile, n)->tid == (int)d->threads[i].tid)
				profile_pin(d->profile, n);
}

static inline void day_init(struct day *d)
{
	char name[64];

	memset(d, 0, sizeof(*d));
	d->rng = 0x9e3779b97f4a7c15ull;
	d->profile = profile_new();
	d->frames = frames_new(d->profile, NULL);
	d->reader = reader_new(d->profile, d->frames, 0);
	profile_pin_register(d->profile, day_pin, d);
	for (uint32_t i = 0; i < DAY_METHODS; i++) {
		snprintf(name, sizeof(name), "com/acme/shop/part%u/Service%u", i % 7, i);
		day_method(d, name);
	}
	for (uint32_t i = 0; i < DAY_STACKS; i++) {
		uint32_t from = i ? day_below(d, DAY_DEPTH) : 0;

		memcpy(d->stacks[i], d->stacks[i ? day_below(d, i) : 0], from * sizeof(uint64_t));
		for (uint32_t k = from; k < DAY_DEPTH; k++)
			d->stacks[i][k] = WIRE_METHOD_FRAME(
				WIRE_FRAME_C2, 1 + day_below(d, DAY_METHODS), day_below(d, 100));
	}
	for (uint32_t i = 0; i < DAY_THREADS; i++)
		day_start_thread(d, i);
}

static inline void day_done(struct day *d)
{
	reader_free(d->reader);
	frames_free(d->frames);
	profile_free(d->profile);
}

/* A lambda that one of the program's methods calls, in two threads, within a second. */
static inline void day_lambda(struct day *d)
{
	const uint64_t *base = d->stacks[day_below(d, DAY_STACKS)];
	uint64_t frames[DAY_DEPTH];
	uint32_t own = day_below(d, DAY_DEPTH - 3);
	char name[96];

	memcpy(frames, base, sizeof(frames));
	snprintf(name, sizeof(name), "com/acme/shop/Pipeline%u$$Lambda+0x%016llx", own,
		0x7f1c00000000ull + d->next_method * 0x218ull);
	frames[own] = WIRE_METHOD_FRAME(WIRE_FRAME_INTERPRETED, day_method(d, name), 4);
	for (int i = 0; i < 2; i++) {
		const struct day_thread *t = &d->threads[day_below(d, DAY_THREADS)];

		day_count(d, day_trace(d, t, frames, own + 2));
	}
}

static inline void day_second(struct day *d, uint32_t samples)
{
	struct wire_tick *tick = (struct wire_tick *)d->record;

	d->second++;
	for (uint32_t i = 0; i < DAY_STARTED; i++)
		day_start_thread(d, DAY_THREADS / 2 + day_below(d, DAY_THREADS / 2));
	for (uint32_t i = 0; i < DAY_LAMBDAS; i++)
		day_lambda(d);
	for (uint32_t i = 0; i < samples; i++) {
		struct day_thread *t = &d->threads[day_below(d, DAY_THREADS)];
		uint32_t k = day_below(d, DAY_OWN);

		if (!t->traces[k])
			t->traces[k] = day_trace(
				d, t, d->stacks[(t->id * 7 + k * 131) % DAY_STACKS], DAY_DEPTH);
		day_count(d, t->traces[k] ? t->traces[k] : d->next_trace);
	}
	tick->time_ns = d->second * NS_PER_S + 1;
	day_send(d, WIRE_REC_TICK, sizeof(*tick));
}

#endif
