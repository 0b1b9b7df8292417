/* SPDX-License-Identifier: Apache-2.0 */
/* session: virtual threads in the model: names, ids, carriers, and a million of them in bounded memory. */
#include "base/clock.h"
#include "session/record/reader.h"
#include "tests/tap.h"

#define MANY 1000000u

static struct profile *profile;
static struct frames *frames;
static struct reader *reader;

static void begin(void)
{
	profile = profile_new();
	frames = frames_new(profile, NULL);
	reader = reader_new(profile, frames, 0);
}

static void end(void)
{
	reader_free(reader);
	frames_free(frames);
	profile_free(profile);
}

static void consume(struct wire_record *rec, uint16_t type, size_t size)
{
	struct err err = {0};

	rec->type = type;
	rec->size = (uint32_t)size;
	if (reader_consume(reader, rec, rec->size, MANY, &err))
		ok(false, "a record is rejected: %s", err.what);
}

static void add_thread(uint64_t number, int carrier, const char *name)
{
	struct {
		struct wire_thread rec;
		char text[64];
	} t = {.rec = {.id = WIRE_VIRTUAL_ID(number),
		       .os_tid = carrier,
		       .kind = WIRE_THREAD_VIRTUAL,
		       .java_tid = (int64_t)number,
		       .name_bytes = (uint32_t)strlen(name)}};

	memcpy(t.rec.name, name, strlen(name));
	consume(&t.rec.rec, WIRE_REC_THREAD, sizeof(t));
}

/* Adds one sample of a thread in this second. */
static void add_sample(uint32_t trace, uint64_t number, uint32_t second)
{
	struct wire_trace t = {.id = trace, .thread = WIRE_VIRTUAL_ID(number), .event = WIRE_CPU};
	struct {
		struct wire_deltas rec;
		struct wire_delta one;
	} d = {.rec = {.time_ns = second * NS_PER_S + 1, .event = WIRE_CPU, .delta_count = 1},
		.one = {.trace = trace, .count = 1, .weight = 10}};

	consume(&t.rec, WIRE_REC_TRACE, sizeof(t));
	consume(&d.rec.rec, WIRE_REC_DELTAS, sizeof(d));
}

static void add_tick(uint32_t second)
{
	struct wire_tick t = {.time_ns = second * NS_PER_S + 1};

	consume(&t.rec, WIRE_REC_TICK, sizeof(t));
}

static const struct profile_thread *thread_called(const char *name)
{
	for (uint32_t i = 0; i < profile_thread_count(profile); i++)
		if (!strcmp(profile_get_thread(profile, i)->name, name))
			return profile_get_thread(profile, i);
	return NULL;
}

static void test_names(void)
{
	const struct profile_thread *t;
	char label[PROFILE_LABEL];

	begin();
	add_thread(31, 7, "");
	t = thread_called("virtual-#31");
	ok(t && t->kind == THREAD_VIRTUAL && t->tid == 0 && t->carrier == 7,
		"an unnamed virtual thread is named by its id, and has its carrier");
	is_str(t ? profile_thread_label(t, "tid ", label) : "?", "",
		"an unnamed virtual thread has no label beside its name");
	add_thread(32, 7, "worker-5");
	add_thread(32, 8, "");
	t = thread_called("worker-5");
	ok(t && t->carrier == 8, "a record without a name keeps the thread's name");
	is_str(t ? profile_thread_label(t, "tid ", label) : "?", "#32",
		"a named virtual thread has its id as label");
	is_str(t ? profile_pool_name(profile, t->pool) : "?", "worker-*",
		"a named virtual thread belongs to a pool");
	add_thread(32, 8, "other");
	ok(thread_called("other") && !thread_called("worker-5"), "a virtual thread can be renamed");
	end();
}

static void test_many(void)
{
	struct profile_query q = {
		.event = EVENT_CPU, .to = UINT32_MAX, .thread = PROFILE_ANY_THREAD};
	const struct profile_thread *rest;
	size_t bytes = 0;

	begin();
	for (uint32_t i = 1; i <= MANY; i++) {
		uint32_t second = i / 500;

		add_thread(i, 7, i % 2 ? "" : "request-2");
		add_sample(i, i, second);
		if (i % 500 == 0)
			add_tick(second);
		if (i == MANY / 2)
			bytes = profile_info(profile).bytes;
	}
	is_int((long long)profile_sum(profile, &q).count, MANY,
		"a sample of each of a million virtual threads is counted");
	is_int((long long)profile_sum(profile, &q).weight, 10LL * MANY,
		"the weight of a million virtual threads is complete");
	ok(profile_thread_count(profile) <= THREAD_IDS_VIRTUAL + THREAD_IDS_PATTERNS,
		"%u model threads represent a million virtual threads",
		profile_thread_count(profile));
	ok(profile_info(profile).bytes < bytes + (bytes >> 2),
		"the second half of a million virtual threads needs less than 25 %% more memory: "
		"%zu and %zu",
		bytes, (size_t)profile_info(profile).bytes);
	rest = thread_called("request-*");
	q.thread = PROFILE_ANY_THREAD;
	q.pool = rest ? rest->pool : 0;
	is_int(rest ? (long long)profile_sum(profile, &q).count : -1, MANY / 2,
		"each pattern of names has its samples");
	end();
}

int main(void)
{
	test_names();
	test_many();
	return tap_done();
}
