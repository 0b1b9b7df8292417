/* SPDX-License-Identifier: Apache-2.0 */
/* session: POLL records become polls of calls; which methods a name selects, and how many words their parameters have. */
#include "profile/calls/calls.h"
#include "session/record/reader.h"
#include "tests/profile/polls.h"
#include "tests/tap.h"

#include <stdlib.h>

#define START    (100 * NS_PER_S)
#define MS(n)    (START + (uint64_t)(n)*NS_PER_MS)
#define LIMIT_S  60 /* seconds since the start, as the reader knows */
#define NO_FIELD 0

static struct profile *profile;
static struct frames *frames;
static struct reader *reader;

static void begin(void)
{
	profile = profile_new();
	frames = frames_new(profile, NULL);
	reader = reader_new(profile, frames, START);
	calls_begin(profile, "Gateway.handle", POLLS_INTERVAL);
}

static void end(void)
{
	reader_free(reader);
	frames_free(frames);
	profile_free(profile);
}

/* --- records --------------------------------------------------------------------------------- */

static int consume(void *record, uint16_t type, size_t size, struct err *err)
{
	struct wire_record *rec = record;

	rec->type = type;
	rec->size = (uint32_t)size;
	return reader_consume(reader, rec, (uint32_t)size, LIMIT_S, err);
}

static struct wire_poll poll_at(unsigned ms)
{
	return (struct wire_poll){.time_ns = MS(ms),
		.since_ns = MS(ms),
		.before_ns = MS(ms - 5),
		.frame = 10,
		.outside = 7,
		.values = 7,
		.thread = 1};
}

static void add_poll(const struct wire_poll *poll)
{
	struct wire_poll copy = *poll;
	struct err err = {0};

	if (consume(&copy, WIRE_REC_POLL, sizeof(copy), &err))
		ok(false, "a valid poll is accepted: %s", err.what);
}

static void add_method(uint32_t id, const char *class_name, const char *name, const char *signature)
{
	size_t c = strlen(class_name), n = strlen(name), s = strlen(signature);
	size_t size = (sizeof(struct wire_method) + c + n + s + 7) & ~7ull;
	struct wire_method *rec = calloc(1, size);

	if (!rec)
		abort();
	rec->id = id;
	rec->class_bytes = (uint16_t)c;
	rec->name_bytes = (uint16_t)n;
	rec->signature_bytes = (uint16_t)s;
	memcpy(rec->text, class_name, c);
	memcpy(rec->text + c, name, n);
	memcpy(rec->text + c + n, signature, s);
	if (consume(rec, WIRE_REC_METHOD, size, NULL))
		ok(false, "a valid method is accepted");
	free(rec);
}

static void add_trace(uint32_t id, unsigned flags, uint32_t method)
{
	struct {
		struct wire_trace rec;
		uint64_t frame;
	} trace = {.rec = {.id = id, .thread = 1, .flags = (uint16_t)flags, .frame_count = 1},
		.frame = WIRE_METHOD_FRAME(WIRE_FRAME_C2, method, 5)};

	if (consume(&trace, WIRE_REC_TRACE, sizeof(trace), NULL))
		ok(false, "a valid trace is accepted");
}

/* The only call. */
static struct call only_call(void)
{
	struct polls_calls c = polls_calls(profile, 0, 1e6);

	is_int(c.count, 1, "the polls are one call");
	return c.list[0];
}

static void test_fields(void)
{
	struct call_part parts[3];
	struct wire_poll poll;
	struct call call;

	begin();
	add_method(1, "com/shop/Gateway", "handle", "()V");
	add_trace(1, WIRE_TRACE_IN_STATE(WIRE_STATE_IO), 1);
	poll = poll_at(100);
	poll.trace = 1;
	add_poll(&poll);
	poll = poll_at(130);
	poll.trace = 1;
	poll.before_ns = MS(120);
	poll.since_ns = MS(125);
	poll.flags = WIRE_POLL_INLINED;
	add_poll(&poll);
	poll = poll_at(140);
	poll.frame = 0;
	add_poll(&poll);
	call = only_call();
	ok(polls_same(call.begin_from, 95) && polls_same(call.begin_to, 100) &&
			polls_same(call.end_from, 135) && polls_same(call.end_to, 140),
		"times are relative to the session's start");
	ok(call.inlined, "the flag for inlined calls is read");
	is_int(calls_parts(profile, &call, parts, 3), 2, "each poll inside is a part");
	is_int(parts[0].state, CALL_IO, "the state is that of the trace");
	is_str(profile_get_method(profile,
		       profile_get_frame(profile, profile_get_stack(profile, parts[0].stack).frame)
			       ->method)
			->full,
		"com.shop.Gateway.handle is in I/O", "the stack is that of the trace");
	is_str(profile_get_thread(profile, call.thread)->name, "[unknown thread]",
		"a thread without a THREAD record has a placeholder name");
	end();
}

static void test_entry_fields(void)
{
	const uint32_t known = WIRE_POLL_COUNTED | WIRE_POLL_RECORDED;
	struct wire_poll poll;
	struct polls_calls c;

	begin();
	poll = poll_at(100);
	poll.flags = known;
	poll.entries = poll.entries_here = 1;
	poll.first_ns = poll.last_ns = MS(98);
	add_poll(&poll);
	poll = poll_at(105);
	poll.flags = known;
	poll.entries = poll.entries_here = 2;
	poll.first_ns = MS(101);
	poll.last_ns = MS(103);
	add_poll(&poll);
	poll = poll_at(110);
	poll.flags = known;
	poll.entries = 5;
	poll.outside = 8;
	add_poll(&poll);
	c = polls_calls(profile, 0, 1e6);
	is_int(c.count, 2, "an entry separates calls, entries from elsewhere do not");
	ok(c.list[0].counted && polls_same(c.list[0].begin_to, 98) &&
			polls_same(c.list[0].end_to, 101) && polls_same(c.list[1].begin_from, 103),
		"the times of entries are relative to the session's start");
	ok(calls_counted_ns(profile) > 0, "entries are counted");
	poll = poll_at(115);
	poll.flags = known | WIRE_POLL_RECURSIVE;
	add_poll(&poll);
	is_int(calls_counted_ns(profile), 0, "the flag for recursive calls is read");
	end();
}

static void test_collections(void)
{
	struct wire_poll poll;

	begin();
	poll = poll_at(100);
	poll.collections[0] = poll.collections[1] = 1;
	add_poll(&poll);
	poll = poll_at(105);
	poll.outside = 8;
	poll.collections[0] = 1;
	poll.collections[1] = 2;
	add_poll(&poll);
	ok(only_call().uncertain, "collections during the sample are read");
	end();
}

/* --- invalid and unusual records ------------------------------------------------------------- */

static void test_refused(void)
{
	static const struct {
		const char *what;
		size_t size, offset;
		uint64_t value;
	} rows[] = {
		{"a header only", 8, NO_FIELD, 0},
		{"a record without its last field", sizeof(struct wire_poll) - 8, NO_FIELD, 0},
		{"a poll before the one before", sizeof(struct wire_poll),
			offsetof(struct wire_poll, before_ns), MS(100) + 1},
		{"a poll that rests after itself", sizeof(struct wire_poll),
			offsetof(struct wire_poll, since_ns), MS(100) + 1},
		{"a poll at time 0", sizeof(struct wire_poll), offsetof(struct wire_poll, time_ns),
			0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned char *exact = malloc(rows[i].size);
		struct wire_poll poll;
		struct err err = {0};

		if (!exact)
			abort();
		begin();
		poll = poll_at(100);
		if (rows[i].offset)
			memcpy((char *)&poll + rows[i].offset, &rows[i].value,
				sizeof(rows[i].value));
		memcpy(exact, &poll, rows[i].size);
		is_int(consume(exact, WIRE_REC_POLL, rows[i].size, &err), -1, rows[i].what);
		ok(strstr(err.what, "A POLL record of ") != NULL, "the error names the record: %s",
			err.what);
		is_int(polls_calls(profile, 0, 1e6).count, 0, "and it is no poll of a call");
		free(exact);
		end();
	}
}

static void test_unusual(void)
{
	struct {
		struct wire_poll poll;
		uint64_t more;
	} longer = {.more = UINT64_MAX};
	struct call_part part;
	struct wire_poll poll;
	struct polls_calls c;
	struct call call;

	begin();
	add_method(1, "com/shop/Gateway", "handle", "()V");
	add_trace(1, WIRE_TRACE_IN_STATE(WIRE_STATE_MONITOR), 1);
	poll = poll_at(100);
	poll.trace = 1 + (1u << 16); /* the same place in the window of traces */
	add_poll(&poll);
	call = only_call();
	calls_parts(profile, &call, &part, 1);
	ok(part.stack == PROFILE_ROOT_STACK && part.state == CALL_CPU,
		"an unknown trace is an empty stack");
	poll = poll_at(100);
	poll.thread = UINT32_MAX;
	poll.trace = UINT32_MAX;
	add_poll(&poll);
	is_int(polls_calls(profile, 0, 1e6).count, 2, "any thread and trace id is accepted");
	longer.poll = poll_at(105);
	is_int(consume(&longer, WIRE_REC_POLL, sizeof(longer), NULL), 0,
		"a record with further fields is accepted");
	c = polls_calls(profile, 0, 1e6);
	is_int(c.list[0].polls, 2, "and its known fields are read");
	end();

	begin();
	poll = poll_at(100);
	poll.time_ns = UINT64_MAX;
	poll.first_ns = poll.last_ns = UINT64_MAX;
	poll.before_ns = 0;
	add_poll(&poll);
	call = only_call();
	ok(!call.begin_from && call.end_from <= (LIMIT_S + 1) * NS_PER_S,
		"times before the start and in the future are clamped");
	calls_begin(profile, NULL, 0);
	add_poll(&poll);
	is_int(polls_calls(profile, 0, 1e9).count, 0,
		"without a measured method polls are ignored");
	end();
}

/* --- names of methods ------------------------------------------------------------------------ */

static const struct {
	const char *class_name, *name;
} methods[] = {{"com/shop/Gateway", "handle"}, {"com/shop/Outer$Inner", "m"},
	{"com/shop/Outer$Inner$Deep", "m"}, {"Gateway", "handle"}, {"com/other/Gateway", "handler"},
	{"com/shop/SubGateway", "handle"}, {"com/shop/Gateway", "<init>"}};

static const struct {
	const char *pattern;
	unsigned wanted; /* a bit per method */
} patterns[] = {
	{"handle", 0x29},
	{"Gateway.handle", 0x09},
	{"shop.Gateway.handle", 0x01},
	{"com.shop.Gateway.handle", 0x01},
	{"com.shop.Gateway.<init>", 0x40},
	{"handler", 0x10},
	{"m", 0x06},
	{"Inner.m", 0x02},
	{"Outer$Inner.m", 0x02},
	{"com.shop.Outer$Inner.m", 0x02},
	{"Inner$Deep.m", 0x04},
	{"Deep.m", 0x04},
	{"andle", 0},
	{"way.handle", 0},
	{"hop.Gateway.handle", 0},
	{"handl", 0},
	{"Gateway", 0},
	{"Gateway.", 0},
	{".handle", 0},
	{"$Inner.m", 0},
	{"nner.m", 0},
	{"com/shop/Gateway.handle", 0},
	{"org.com.shop.Gateway.handle", 0},
	{"Gateway.handle()", 0},
	{"HANDLE", 0},
	{"*", 0},
	{"", 0},
};

static unsigned selected(bool *changed)
{
	struct wire_timed_method timed[WIRE_TIMED_METHODS];
	uint32_t count = frames_timed(frames, timed, changed);
	unsigned bits = 0;

	for (uint32_t i = 0; i < count; i++)
		bits |= 1u << (timed[i].id - 1);
	return bits;
}

static void add_methods(void)
{
	for (uint32_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		add_method(i + 1, methods[i].class_name, methods[i].name, "()V");
}

static void test_patterns(void)
{
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		bool changed;
		unsigned got;

		begin();
		add_methods();
		frames_time(frames, patterns[i].pattern);
		got = selected(&changed);
		ok(got == patterns[i].wanted,
			"\"%s\" selects its methods: 0x%x, wanted 0x%x of known ones",
			patterns[i].pattern, got, patterns[i].wanted);
		end();
		begin();
		frames_time(frames, patterns[i].pattern);
		add_methods();
		got = selected(&changed);
		ok(got == patterns[i].wanted, "\"%s\": 0x%x of later ones", patterns[i].pattern,
			got);
		end();
	}
}

static void test_changes(void)
{
	struct wire_timed_method timed[WIRE_TIMED_METHODS];
	char name[40], longer[600];
	bool changed;

	begin();
	frames_time(frames, "handle");
	is_int(selected(&changed), 0, "at first no method is selected");
	ok(changed, "which is a change");
	add_method(1, "com/shop/Gateway", "other", "()V");
	selected(&changed);
	ok(!changed, "another method is not a change");
	add_method(2, "com/shop/Gateway", "handle", "()V");
	is_int(selected(&changed), 2, "a method that is found later is selected");
	ok(changed, "which is a change");
	selected(&changed);
	ok(!changed, "a change is reported once");
	add_method(3, "com/shop/Gateway", "handle", "(I)V");
	is_int(selected(&changed), 6, "overloads are selected");
	add_method(4, "", "handle", "");
	is_int(selected(&changed), 6, "names that are not of methods are not selected");
	frames_time(frames, "other");
	is_int(selected(&changed), 1, "another pattern replaces the selection");
	frames_time(frames, "");
	is_int(selected(&changed), 0, "an empty pattern selects nothing");
	ok(changed, "which is a change");
	for (uint32_t i = 0; i < 3 * WIRE_TIMED_METHODS; i++) {
		snprintf(name, sizeof(name), "com/shop/Handler%u", i);
		add_method(10 + i, name, "handle", "()V");
	}
	frames_time(frames, "handle");
	is_int(frames_timed(frames, timed, &changed), WIRE_TIMED_METHODS,
		"at most as many methods as a command has space for");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	add_method(500, longer, "long", "()V");
	frames_time(frames, "long");
	frames_time(frames, longer);
	is_int(frames_timed(frames, timed, &changed), 0,
		"names that are too long are not selected");
	end();
}

static const struct {
	const char *signature;
	uint32_t words; /* with one for `this` */
} signatures[] = {
	{"()V", 1},
	{"(I)V", 2},
	{"(J)V", 3},
	{"(D)V", 3},
	{"(IJ[Ljava/lang/String;)V", 5},
	{"([J)V", 2},
	{"([[D[[I)J", 3},
	{"(Ljava/lang/Object;Ljava/lang/Double;)V", 3},
	{"(ZBCSIFJD)V", 11},
	{"", 1},
	{"(", 1},
	{"(Lunfinished", 2},
	{"([", 2},
	{"garbage", 8},
};

static void test_signatures(void)
{
	struct wire_timed_method timed[WIRE_TIMED_METHODS];
	bool changed;

	for (size_t i = 0; i < sizeof(signatures) / sizeof(signatures[0]); i++) {
		uint32_t count;

		begin();
		frames_time(frames, "m");
		add_method(1, "a/B", "m", signatures[i].signature);
		count = frames_timed(frames, timed, &changed);
		is_int(count ? timed[0].parameters : 0, signatures[i].words,
			signatures[i].signature);
		end();
	}
}

int main(void)
{
	test_fields();
	test_entry_fields();
	test_collections();
	test_refused();
	test_unusual();
	test_patterns();
	test_changes();
	test_signatures();
	return tap_done();
}
