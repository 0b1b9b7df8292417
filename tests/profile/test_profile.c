/* SPDX-License-Identifier: Apache-2.0 */
/* profile: interning, windows, gaps, merging; all sums match the added samples. */
#include "base/clock.h"
#include "profile/profile.h"

#include "tests/profile/feed.h"
#include "tests/tap.h"

static uint32_t stack_of(struct profile *p, const char *names)
{
	char text[256], *save = NULL;
	uint32_t stack = PROFILE_ROOT_STACK;

	snprintf(text, sizeof(text), "%s", names);
	for (char *s = strtok_r(text, ";", &save); s; s = strtok_r(NULL, ";", &save))
		stack = profile_stack_child(p, stack,
			profile_frame(
				p, profile_method(p, "a.B", s, "()V", ""), FRAME_COMPILED, 0, 1));
	return stack;
}

static struct profile_query query(uint32_t from, uint32_t to)
{
	return (struct profile_query){.from = from, .to = to, .thread = PROFILE_ANY_THREAD};
}

static uint64_t sum(const struct profile *p, uint32_t from, uint32_t to)
{
	struct profile_query q = query(from, to);

	return profile_sum(p, &q).count;
}

static void test_names(void)
{
	static const struct {
		const char *class_name, *name, *signature, *module, *full;
		enum frame_type type;
	} rows[] = {
		{"java.util.HashMap", "getNode", "(Ljava/lang/Object;)V", "",
			"java.util.HashMap.getNode", FRAME_JAVA},
		{"", "inflate", "", "libz.so.1", "[libz.so.1] inflate", FRAME_NATIVE},
		{"", "call_stub", "", "", "call_stub", FRAME_VM},
		{"", "do_syscall_64", "", "[kernel]", "do_syscall_64", FRAME_KERNEL},
		{"", "nf_hook", "", "[nf_tables]", "[nf_tables] nf_hook", FRAME_KERNEL},
		{"", "clock_gettime", "", "[vdso]", "[vdso] clock_gettime", FRAME_NATIVE},
		{"", "G1ConcurrentMark::mark()", "", "libjvm.so", "G1ConcurrentMark::mark()",
			FRAME_VM},
		{"java.lang.String", "", "", "", "java.lang.String", FRAME_JAVA},
		{"", "", "", "libfoo.so", "[libfoo.so]", FRAME_NATIVE},
		{"", "", "", "", "[unknown]", FRAME_VM},
		{"a.B$$Lambda+0x00007f", "apply", "()V", "", "a.B$$Lambda+0x00007f.apply",
			FRAME_JAVA},
	};
	struct profile *p = profile_new();
	uint32_t a, b;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		a = profile_method(
			p, rows[i].class_name, rows[i].name, rows[i].signature, rows[i].module);
		is_str(profile_get_method(p, a)->full, rows[i].full, rows[i].full);
		is_int(profile_method_type(profile_get_method(p, a)), rows[i].type,
			"the frame type follows from the name");
	}
	a = profile_method(p, "a.B", "c", "()V", NULL);
	b = profile_method(p, "a.B", "c", "(I)V", "");
	ok(a != b, "overloads are different methods");
	is_int(profile_method(p, "a.B", "c", "()V", ""), a, "the same method has the same id");
	ok(profile_frame(p, a, FRAME_INLINED, 3, 7) != profile_frame(p, a, FRAME_INLINED, 4, 7),
		"frames differ by bci");
	is_int(profile_frame(p, 12345, FRAME_INLINED, 3, 7), PROFILE_NONE,
		"a frame of an unknown method is refused");
	is_int(profile_stack_child(p, 0, 999), PROFILE_NONE,
		"a stack of an unknown frame is refused");
	is_str(profile_get_method(p, 12345)->full, "[unknown]",
		"an unknown method has a placeholder name");
	is_int(profile_get_stack(p, 12345).frame, PROFILE_NONE, "an unknown stack is empty");
	is_str(profile_get_thread(p, 3)->name, "", "an unknown thread has an empty name");
	is_int(profile_event_find("lock"), EVENT_LOCK, "an event is found by its name");
	is_int(profile_event_find("nothing"), -1, "an unknown event name is not found");
	profile_free(p);
}

static void test_windows(void)
{
	struct profile *p = profile_new();
	uint32_t a = stack_of(p, "main;a"), b = stack_of(p, "main;b");
	struct profile_query q;
	int64_t h[6];

	profile_add(p, EVENT_CPU, 1, a, 0, 1, 10);
	profile_add(p, EVENT_CPU, 1, a, 1, 2, 20);
	profile_add(p, EVENT_CPU, 2, b, 0, 4, 40);
	profile_gap(p, 3, 4);
	profile_add(p, EVENT_CPU, 4, a, 0, 8, 80);
	profile_add(p, EVENT_WALL, 4, a, 0, 100, 1);
	profile_advance(p, 5);
	profile_add(p, EVENT_CPU, 3, b, 0, 16, 160); /* late */
	is_int(sum(p, 1, 2), 3, "a window of one second has its samples");
	is_int(sum(p, 1, 3), 7, "a window of two seconds has the samples of both");
	is_int(sum(p, 3, 4), 16, "a late sample counts in its second");
	is_int(sum(p, 0, UINT32_MAX), 31, "an unbounded window has all samples");
	is_int(sum(p, 0, 3), 7, "a window without start has everything before its end");
	is_int(sum(p, 5, 9), 0, "a window in the future is empty");
	is_int(sum(p, 4, 2), 0, "a window that ends before it starts is empty");
	q = query(0, UINT32_MAX);
	q.thread = 1;
	is_int(profile_sum(p, &q).count, 2, "a query of one thread has its samples");
	q.event = EVENT_WALL;
	q.thread = PROFILE_ANY_THREAD;
	is_int(profile_sum(p, &q).count, 100, "a query of another event has its samples");
	q.event = 77;
	is_int(profile_sum(p, &q).count, 0, "a query of an invalid event is empty");
	profile_gap(p, 2, 3);
	profile_history(p, EVENT_CPU, 6, h, 6);
	ok(h[0] == 0 && h[1] == 3 && h[2] == 4 && h[3] == 16 && h[4] == 8 && h[5] == 0,
		"the history has samples by second, which take precedence over a gap");
	profile_gap(p, 5, 6);
	profile_history(p, EVENT_CPU, 8, h, 6);
	ok(h[5] == -1 && h[4] == 8, "the history has -1 for a gap and omits the future");
	profile_history(p, EVENT_CPU, 3, h, 6);
	ok(h[0] == -1 && h[2] == -1 && h[3] == 0, "the history has -1 before the start");
	profile_free(p);
}

static void test_threads(void)
{
	struct profile *p = profile_new();
	struct profile_thread t = {.tid = 42, .kind = THREAD_JAVA, .java_tid = 7, .name = "main"};

	profile_thread_set(p, 3, &t);
	t.name = "renamed";
	profile_thread_set(p, 3, &t);
	is_str(profile_get_thread(p, 3)->name, "renamed", "setting a thread again renames it");
	is_str(profile_get_thread(p, 2)->name, "", "an unset thread id has an empty name");
	is_int(profile_thread_count(p), 4, "the thread count covers the highest id");
	profile_thread_set(p, UINT32_MAX, &t);
	is_int(profile_thread_count(p), 4, "a thread id out of range is ignored");
	profile_free(p);
}

/* Whether adjacent windows add up to the total, whatever was merged meanwhile. */
static bool windows_add_up(const struct profile *p, uint32_t step)
{
	struct profile_info info = profile_info(p);
	uint64_t parts = sum(p, 0, info.oldest ? info.oldest : 1);

	for (uint32_t s = info.oldest ? info.oldest : 1; s <= info.now; s += step)
		parts += sum(p, s, s + step);
	return parts == sum(p, 0, UINT32_MAX);
}

static void each_add(void *ctx, const struct profile_part *part)
{
	struct profile_sum *s = ctx;

	s->count += part->count;
	s->weight += part->weight;
}

static void test_nothing_is_lost(uint64_t seed, size_t budget)
{
	struct profile *p = profile_new();
	struct profile_query all = query(0, UINT32_MAX);
	struct profile_sum each = {0}, fed = {0};
	struct profile_info info;
	struct feed f;
	bool add_up = true;
	uint32_t s = 0;

	if (budget)
		profile_set_budget(p, budget);
	feed_init(&f, p, &(struct feed_options){.seed = seed, .stacks = 500, .rate = 50});
	for (int i = 0; i < 900; i++) {
		s += feed_below(&f, 8) ? 1 : feed_below(&f, 40);
		feed_second(&f, s);
		if (s > 2 && !feed_below(&f, 4))
			feed_sample(&f, s - 1 - feed_below(&f, 2), feed_below(&f, 500));
		if (s > 700 && !feed_below(&f, 50)) /* far too late, but counted */
			feed_sample(&f, s - 700 + feed_below(&f, 600), feed_below(&f, 500));
		if (i % 97 == 0)
			add_up = add_up && windows_add_up(p, 1 + feed_below(&f, 15));
	}
	info = profile_info(p);
	fed = profile_sum(p, &all);
	profile_each(p, &all, each_add, &each);
	is_int(fed.count, f.samples, "the sum has all added samples");
	is_int(fed.weight, f.weight, "the sum has all added weight");
	ok(each.count == f.samples && each.weight == f.weight,
		"profile_each visits all samples and all weight");
	ok(add_up, "adjacent windows add up to the total");
	ok(info.now - info.oldest <= PROFILE_HISTORY_S + 10, "the history is bounded (%u s)",
		info.now - info.oldest);
	if (budget)
		ok(info.merged_before >= info.oldest && info.merged_before,
			"under a small budget seconds before %u are merged into 10 s steps",
			info.merged_before);
	feed_done(&f);
	profile_free(p);
}

static void test_freeze(void)
{
	struct profile *p = profile_new();
	uint32_t a = stack_of(p, "main;a"), before = 0;

	for (uint32_t s = 1; s < 2000; s++) {
		profile_add(p, EVENT_CPU, s, a, 0, 1, 10);
		if (s == 800) {
			profile_freeze(p, 700);
			before = sum(p, 0, 700);
		}
	}
	is_int(sum(p, 0, 700), before, "a frozen window keeps its exact sum");
	is_int(sum(p, 690, 700), 10, "a frozen window keeps its single seconds");
	profile_freeze(p, PROFILE_NONE);
	profile_advance(p, 2001);
	is_int(sum(p, 690, 700), 0, "after thawing, the old seconds are evicted");
	is_int(sum(p, 0, UINT32_MAX), 1999, "evicted seconds stay in the total");
	profile_free(p);
}

static void test_long_jump(void)
{
	struct profile *p = profile_new();
	uint32_t a = stack_of(p, "main;a");

	profile_add(p, EVENT_CPU, 1, a, 0, 1, 10);
	profile_add(p, EVENT_CPU, 4000000000u, a, 0, 2, 20);
	is_int(sum(p, 0, UINT32_MAX), 3, "a jump of a century keeps the total");
	is_int(sum(p, 1, 4000000000u), 0, "after the jump the first second is only in the total");
	profile_free(p);
}

/* Late samples for a past second that was packed already. */
static void test_late(void)
{
	struct profile *p = profile_new();
	struct profile_query q = {.to = 100, .thread = PROFILE_ANY_THREAD};
	uint32_t stacks[40];

	for (uint32_t i = 0; i < 40; i++) {
		char name[16];

		snprintf(name, sizeof(name), "m%u", i);
		stacks[i] = profile_stack_child(p, PROFILE_ROOT_STACK,
			profile_frame(
				p, profile_method(p, "A", name, "", ""), FRAME_COMPILED, 0, 0));
	}
	for (uint32_t i = 0; i < 40; i++) {
		profile_add_sample(p, EVENT_CPU, 5,
			&(struct profile_sample){.stack = stacks[i], .count = 1, .weight = 10});
		profile_advance(p, 20 + i);
	}
	is_int(profile_sum(p, &q).count, 40, "late samples for a packed second are kept");
	profile_free(p);
}

static void test_memory(void)
{
	struct profile *p = profile_new();
	struct profile_info info;
	struct feed f[4];

	for (int e = 0; e < 4; e++)
		feed_init(&f[e], p,
			&(struct feed_options){.seed = e + 1,
				.stacks = 25000,
				.methods = 4000,
				.depth = 30,
				.rate = 1500,
				.event = e});
	for (uint32_t s = 0; s < 630; s++) {
		for (int e = 0; e < 4; e++)
			feed_second(&f[e], s);
	}
	info = profile_info(p);
	ok(info.bytes < 150u << 20, "4 events, 100,000 stacks, 10 minutes at 6,000/s use %.1f MB",
		(double)info.bytes / 1048576);
	diag("stack nodes %u, entries %u, retained from %u, 10 s steps before %u, now %u",
		info.stacks, info.slice_entries, info.oldest, info.merged_before, info.now);
	for (int e = 0; e < 4; e++) {
		struct profile_query q = query(0, UINT32_MAX);

		q.event = e;
		is_int(profile_sum(p, &q).count, f[e].samples,
			"the total of each event is complete");
		feed_done(&f[e]);
	}
	profile_free(p);
}

static const char *parts_text(const struct profile *p, int event, uint32_t second)
{
	static char text[PROFILE_PULSE * 4 + 1];
	uint8_t parts[PROFILE_PULSE];
	size_t at = 0;

	if (!profile_pulse(p, event, second, parts))
		return "unknown";
	for (int i = 0; i < PROFILE_PULSE; i++)
		at += (size_t)snprintf(
			text + at, sizeof(text) - at, "%s%u", i ? " " : "", parts[i]);
	return text;
}

/*
 * The distribution of a second's weight over its parts: spread over the time that it covers, relative to the largest
 * part; not available for seconds merged into steps.
 */
static void test_pulse(void)
{
	struct profile *p = profile_new();
	size_t before;

	for (uint32_t s = 0; s < 100; s++)
		profile_add(p, EVENT_CPU, s, PROFILE_ROOT_STACK, 0, 1, 1000);
	before = profile_info(p).bytes;
	profile_add_pulse(p, EVENT_CPU, 1150 * NS_PER_MS, 1250 * NS_PER_MS, 1000);
	profile_add_pulse(p, EVENT_CPU, 1225 * NS_PER_MS, 1275 * NS_PER_MS, 500);
	profile_add_pulse(p, EVENT_CPU, 1999 * NS_PER_MS, 2001 * NS_PER_MS, 200);
	profile_add_pulse(p, EVENT_CPU, 50 * NS_PER_S, 53 * NS_PER_S, 200);
	profile_add_pulse(p, EVENT_ALLOC, 1150 * NS_PER_MS, 1250 * NS_PER_MS, 1000);
	is_str(parts_text(p, EVENT_CPU, 1), "0 0 0 85 127 42 0 0 0 0 0 0 0 0 0 0 0 0 0 17",
		"weight is spread over the parts that its interval covers");
	is_str(parts_text(p, EVENT_CPU, 2), "127 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
		"an interval across two seconds counts in both");
	is_str(parts_text(p, EVENT_CPU, 0), "unknown",
		"a second without intervals has no distribution");
	is_str(parts_text(p, EVENT_CPU, 51), "unknown",
		"an interval of several seconds gives no distribution");
	is_str(parts_text(p, EVENT_ALLOC, 1), "unknown",
		"an event without samples has no distribution");
	ok(profile_info(p).bytes > before, "the distribution counts as memory");
	profile_set_history(p, 30);
	profile_advance(p, 101);
	is_str(parts_text(p, EVENT_CPU, 1), "unknown",
		"the distribution is evicted with its second");
	profile_free(p);
}

/* All text in the model is clean and of bounded length, whatever the source. */
static void test_texts(void)
{
	static char longest[PROFILE_TEXT_MAX + 100];
	struct profile *p = profile_new();
	const struct profile_method *m;
	uint32_t method;

	method = profile_method(p, "a.\x1b[31mB", "m\n", "x\ty\t", "l\x7fib");
	m = profile_get_method(p, method);
	ok(!strcmp(m->class_name, "a.?[31mB") && !strcmp(m->name, "m?") &&
			!strcmp(m->module, "l?ib"),
		"control characters in a method's names are replaced");
	is_str(m->signature, "x\ty?", "one tab in a signature is kept");
	is_str(m->full, "a.?[31mB.m?", "the full name has the replaced characters");
	profile_thread_set(p, 0, &(struct profile_thread){.name = "\x1b]0;x\x07"});
	is_str(profile_get_thread(p, 0)->name, "?]0;x?",
		"control characters in a thread's name are replaced");
	profile_event_set(p, EVENT_USER_FIRST, "e\nv", "u\x1b<", 1);
	is_str(profile_get_event(p, EVENT_USER_FIRST)->name, "e?v",
		"control characters in an event's name are replaced");
	is_str(profile_get_event(p, EVENT_USER_FIRST)->unit, "u?<",
		"control characters in an event's unit are replaced");
	is_int((int64_t)profile_info(p).cut_texts, 0,
		"replacing characters does not count as truncation");
	memset(longest, 'x', sizeof(longest) - 1);
	memcpy(longest + PROFILE_TEXT_MAX - 4, "\xc3\xa4", 2);
	m = profile_get_method(p, profile_method(p, "", longest, "", ""));
	ok(strlen(m->name) <= PROFILE_TEXT_MAX &&
			!strcmp(m->name + strlen(m->name) - 6, "xxx\xe2\x80\xa6"),
		"a name that is too long is truncated at a whole character");
	is_int((int64_t)profile_info(p).cut_texts, 1, "truncated names are counted");
	longest[PROFILE_TEXT_MAX - 10] = '\0';
	m = profile_get_method(p, profile_method(p, "", longest, "", ""));
	is_str(m->name, longest, "a long name that fits is kept");
	profile_free(p);
}

static uint32_t deep(struct profile *p, const char *name, uint32_t depth)
{
	uint32_t frame = profile_frame(
			 p, profile_method(p, "a.B", name, "", ""), FRAME_COMPILED, 0, 1),
		 stack = PROFILE_ROOT_STACK;

	while (depth--)
		stack = profile_stack_child(p, stack, frame);
	return stack;
}

static const char *leaf_name(const struct profile *p, uint32_t stack)
{
	return profile_get_method(
		p, profile_get_frame(p, profile_get_stack(p, stack).frame)->method)
		->name;
}

static void test_depth(void)
{
	static char name[4001];
	struct profile *p = profile_new();
	uint32_t most = deep(p, "m", PROFILE_DEPTH_MAX);
	uint32_t more = deep(p, "m", PROFILE_DEPTH_MAX + 1), stack;

	is_int(profile_get_stack(p, most).depth, PROFILE_DEPTH_MAX,
		"a stack of the maximum depth has all its frames");
	is_str(leaf_name(p, most), "m",
		"the leaf of a stack of the maximum depth is its last frame");
	ok(profile_get_stack(p, more).depth == PROFILE_DEPTH_MAX + 1 &&
			profile_get_stack(p, more).parent == most,
		"a deeper stack has one frame more than the maximum");
	is_str(leaf_name(p, more), PROFILE_DEEPER, "the extra frame represents all deeper ones");
	is_int(deep(p, "m", 100000), more, "all deeper stacks are the same stack");
	profile_add_sample(p, EVENT_CPU, 0, &(struct profile_sample){.stack = most, .count = 5});
	is_int((int64_t)profile_info(p).cut_samples, 0,
		"samples of a stack of maximum depth do not count as truncated");
	profile_add_sample(p, EVENT_CPU, 0, &(struct profile_sample){.stack = more, .count = 7});
	is_int((int64_t)profile_info(p).cut_samples, 7,
		"samples of deeper stacks count as truncated");
	memset(name, 'x', sizeof(name) - 1);
	stack = deep(p, name, 1000);
	ok(profile_get_stack(p, stack).depth == PROFILE_NAMES_MAX / 4004 + 1 &&
			!strcmp(leaf_name(p, stack), PROFILE_DEEPER),
		"with long names a stack is truncated earlier, at %u frames",
		profile_get_stack(p, stack).depth);
	profile_free(p);
}

int main(void)
{
	test_texts();
	test_depth();
	test_names();
	test_windows();
	test_threads();
	test_nothing_is_lost(1, 0);
	test_nothing_is_lost(2, 400 << 10);
	test_nothing_is_lost(3, 1);
	test_freeze();
	test_long_jump();
	test_late();
	test_memory();
	test_pulse();
	return tap_done();
}
