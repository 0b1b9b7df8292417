/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes an invented profile to a file, in the format of its suffix:
 *
 *   export_tool [-t] [-a] [-d] [--total] [--minwidth PERCENT] [--reverse] [--inverted] [--colors WHAT] [--width PIXELS]
 *               [-e EVENT] [-n STACKS] [-k KIND] PATH
 *   export_tool -m ... [PATH]   writes nothing, but prints size and time of each format, or of that of PATH
 *   export_tool -l              prints the name and the suffix of each format
 *
 * -t: threads as first frames; -a: how frames ran; -d: class names with dots. Kinds; without -k, STACKS random stacks:
 *
 *   known    a few stacks with exact counts, for tests that check what is shown
 *   alloc    two stacks whose samples have different weights
 *   events   all four events; -e selects one, by number, in formats of a single event
 *   hostile  names that try to end a line, a field, an element or the script
 *   long     2,000 s, most of which have left the history
 *   native   native frames before and after Java frames
 *   spike    ten minutes of two stacks, with a third one in three seconds
 *   pulse    spike; all samples are in the second quarter of their second, in these three in its last tenth
 *   requests one stack in the requests of two routes, and outside of requests; most of those of /cart in two spans
 *   day      24 hours of all four events, with their distribution within seconds
 */
#include "base/clock.h"
#include "export/export.h"
#include "profile/table/calltree.h"
#include "tests/profile/feed.h"

#include <getopt.h>
#include <signal.h>

static void push_and_add(
	struct profile *p, const char *const *frames, const enum frame_type *types, uint32_t count)
{
	uint32_t stack = PROFILE_ROOT_STACK;
	const char *dot, *name;
	char class_name[512];

	for (; *frames; frames++, types++) {
		dot = strrchr(*frames, '.');
		name = *frames;
		class_name[0] = '\0';
		if (frame_is_java(*types) && dot) {
			snprintf(class_name, sizeof(class_name), "%.*s", (int)(dot - *frames),
				*frames);
			name = dot + 1;
		}
		stack = profile_stack_child(p, stack,
			profile_frame(p,
				profile_method(p, class_name, name, "",
					*types == FRAME_NATIVE ? "libz.so.1" : ""),
				*types, 0, 0));
	}
	profile_add(p, EVENT_CPU, 1, stack, 0, count, count * 10000000ull);
}

#define J FRAME_COMPILED

static void make_known(struct profile *p)
{
	struct profile_thread t = {
		.tid = 41301, .kind = THREAD_JAVA, .java_tid = 1, .name = "main"};

	profile_thread_set(p, 0, &t);
	push_and_add(p,
		(const char *[]){"app.Main.main", "app.Shop.serve", "java.util.HashMap.get", NULL},
		(enum frame_type[]){FRAME_INTERPRETED, J, FRAME_INLINED}, 500);
	push_and_add(p,
		(const char *[]){"app.Main.main", "app.Shop.serve", "app.Price.compute",
			"java.util.HashMap.get", "java.util.HashMap.getNode", NULL},
		(enum frame_type[]){FRAME_INTERPRETED, J, J, FRAME_INLINED, J}, 200);
	push_and_add(p, (const char *[]){"app.Main.main", "app.Store.write", "deflate", NULL},
		(enum frame_type[]){FRAME_INTERPRETED, FRAME_C1, FRAME_NATIVE}, 250);
	push_and_add(p,
		(const char *[]){
			"app.Main.main", "app.Store.write", "deflate", "do_syscall_64", NULL},
		(enum frame_type[]){FRAME_INTERPRETED, FRAME_C1, FRAME_NATIVE, FRAME_KERNEL}, 50);
}

static void make_alloc(struct profile *p)
{
	uint32_t stack = profile_stack_child(p, PROFILE_ROOT_STACK,
		profile_frame(p, profile_method(p, "app.Main", "main", "", ""), J, 0, 0));
	uint32_t small = profile_stack_child(p, stack,
		profile_frame(
			p, profile_method(p, "java.lang.String", "", "", ""), FRAME_CLASS, 0, 0));
	uint32_t large = profile_stack_child(p, stack,
		profile_frame(p, profile_method(p, "byte[]", "", "", ""), FRAME_CLASS, 0, 0));

	profile_add(p, EVENT_ALLOC, 1, small, 0, 30, 1 << 20);
	profile_add(p, EVENT_ALLOC, 1, large, 0, 10, 3 << 20);
}

/* The stack with one more frame: of a method, or of a class if name is "". */
static uint32_t push(
	struct profile *p, uint32_t stack, const char *class_name, const char *name, int type)
{
	return profile_stack_child(p, stack,
		profile_frame(p, profile_method(p, class_name, name, "", ""), (enum frame_type)type,
			0, 0));
}

static uint32_t push_attribute(
	struct profile *p, uint32_t stack, const char *key, const char *value)
{
	return profile_stack_child(p, stack,
		profile_frame(p, profile_method(p, "", value, "", key), FRAME_CONTEXT, 0xffff, 0));
}

static void make_requests(struct profile *p)
{
	struct profile_link link = {.second = 1, .event = EVENT_CPU};
	const char *const routes[] = {"/cart", "/pay"};
	const uint32_t counts[] = {40, 10}, linked[] = {20, 5, 5};
	uint32_t stack;

	for (int i = 0; i < 2; i++) {
		stack = push_attribute(p, PROFILE_ROOT_STACK, "http.route", routes[i]);
		stack = push_attribute(p, stack, "http.method", "GET");
		stack = push(p, push(p, stack, "app.Main", "main", J), "app.Shop", "serve", J);
		profile_add(p, EVENT_CPU, 1, stack, 0, counts[i], counts[i] * 10000000ull);
		link.stack = i ? link.stack : stack;
	}
	stack = push(p, PROFILE_ROOT_STACK, "app.Main", "main", J);
	profile_add(p, EVENT_CPU, 1, push(p, stack, "app.Shop", "serve", J), 0, 7, 70000000);
	/* The third link is of the span of the second one. */
	for (unsigned i = 0; i < 3; i++) {
		link.count = linked[i];
		link.weight = linked[i] * 10000000ull;
		memset(link.trace_id, 0xa0 + (i ? 1 : 0), sizeof(link.trace_id));
		memset(link.span_id, 0xb0 + (i ? 1 : 0), sizeof(link.span_id));
		profile_add_link(p, &link);
	}
}

/* Vitals of kind events: a collection in second 1, and two more in the reading of second 3. Second 2 has no new reading. */
static struct vitals shop_vitals = {.pid = 41234,
	.vm = "OpenJDK 64-Bit Server VM",
	.gc_name = "G1",
	.command = "shop-api.jar --port 8080",
	.heap_used = 100 << 20,
	.heap_committed = 256 << 20,
	.heap_max = 512 << 20,
	.gc_count = 7,
	.gc_time_ns = 70000000,
	.cpu_user_ms = 5000,
	.cpu_system_ms = 1000,
	.machine_busy_ms = 90000,
	.machine_cpus = 4,
	.cost_ns = 12000000};

static void pass_vitals(
	struct profile *p, uint32_t second, int collections, int user_ms, int system_ms)
{
	struct vitals *v = &shop_vitals;

	profile_advance(p, second);
	v->time_ns = (100 + second) * NS_PER_S;
	v->gc_count += collections;
	v->gc_time_ns += collections * 4000000;
	v->heap_used += 10 << 20;
	v->cpu_user_ms += user_ms;
	v->cpu_system_ms += system_ms;
	v->machine_busy_ms += 2000;
	profile_vitals_set(p, v);
}

/* Of the waits for locks one lasts for three seconds, one is short, and one parks. */
static void make_events(struct profile *p)
{
	static const struct profile_thread t = {
		.tid = 41301, .kind = THREAD_JAVA, .java_tid = 1, .name = "main"};
	uint32_t run = push(p, PROFILE_ROOT_STACK, "app.Main", "main", J), stack;

	pass_vitals(p, 0, 0, 0, 0);
	pass_vitals(p, 1, 1, 1000, 400);
	profile_advance(p, 2);
	profile_vitals_set(p, &shop_vitals); /* the same reading again */
	pass_vitals(p, 3, 2, 2000, 0);
	profile_thread_set(p, 0, &t);
	profile_add(p, EVENT_CPU, 1, run, 0, 30, 300000000);
	profile_add(p, EVENT_CPU, 3, push(p, run, "app.Shop", "serve", J), 0, 7, 70000000);
	profile_add(p, EVENT_ALLOC, 2, push(p, run, "byte[][]", "", FRAME_CLASS), 0, 3, 100);
	profile_add(p, EVENT_ALLOC, 2, push(p, run, "java.lang.String[]", "", FRAME_CLASS_OUTSIDE),
		0, 1, 1 << 20);
	stack = push(p, run, "app.Lock", "", FRAME_CLASS);
	profile_add(p, EVENT_LOCK, 1, stack, 0, 1, 500000000);
	profile_add(p, EVENT_LOCK, 2, stack, 0, 0, 1000000000);
	profile_add(p, EVENT_LOCK, 3, stack, 0, 0, 1000000000);
	profile_add(p, EVENT_LOCK, 3, stack, 1, 1, 400000000);
	stack = push(p, run, "java.util.concurrent.locks.LockSupport", "park", J);
	stack = push(
		p, stack, "java.util.concurrent.locks.ReentrantLock$NonfairSync", "", FRAME_CLASS);
	profile_add(p, EVENT_LOCK, 2, stack, 0, 1, 3000);
	profile_add_sample(
		p, EVENT_WALL, 1, &(struct profile_sample){run, 0, THREAD_ON_CPU, 5, 250000000});
	/* Late polls: each has the weight of four intervals. */
	profile_interval_add(p, EVENT_WALL, 50000000);
	profile_add_sample(
		p, EVENT_WALL, 2, &(struct profile_sample){run, 0, THREAD_IO, 20, 4000000000});
	/* Every other state, at an unknown bytecode index. */
	stack = profile_stack_child(p, run,
		profile_frame(
			p, profile_method(p, "app.Shop", "serve", "", ""), FRAME_JAVA, 0xffff, 0));
	for (int state = THREAD_SLEEPING; state < THREAD_IO; state++)
		profile_add_sample(p, EVENT_WALL, 3,
			&(struct profile_sample){stack, 0, (enum thread_state)state, 1, 50000000});
}

#define HOSTILE                                                                   \
	"a;b c", "</metadata><script>alert(1)</script>", "]]>", "&amp;<>\"'",     \
		"tab\tnewline\nreturn\r", "\xff\xfe broken \xc3", "\x01\x02\x7f", \
		"\xef\xbf\xbe\xef\xbf\xbf"
static void make_hostile(struct profile *p)
{
	static const char *const names[] = {HOSTILE, "", " ", "\xc2\x85nel",
		"\xed\xa0\x80surrogate", "javascript:alert(1)", "<init>",
		"caf\xc3\xa9 \xe2\x82\xac"};
	struct profile_thread t = {.tid = 7, .name = "evil;\n]]><x>\xff"};
	char longest[10001];

	profile_thread_set(p, 0, &t);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		push_and_add(p,
			(const char *[]){"app.Main.main", names[i], names[(i + 1) % 15], NULL},
			(enum frame_type[]){J, i % 2 ? FRAME_KERNEL : FRAME_NATIVE, FRAME_VM},
			(uint32_t)(100 + i));
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	push_and_add(p, (const char *[]){longest, NULL}, (enum frame_type[]){FRAME_NATIVE}, 5);
}

static void make_random(struct profile *p, uint32_t stacks, uint32_t rate, uint32_t seconds)
{
	struct feed f;

	feed_init(&f, p,
		&(struct feed_options){
			.stacks = stacks, .methods = stacks > 5000 ? 4000 : 400, .rate = rate});
	feed_all(&f, 1);
	for (uint32_t s = 2; s < seconds; s++) {
		feed_second(&f, s);
		profile_advance(p, s);
	}
	feed_done(&f);
}

/* Hostile texts for everything that a target, a host or a user names. */
static void hostile_meta(struct export_options *o)
{
	static char text[600];
	static const char *labels[] = {"script=</script><script>alert(2)</script>", text};
	static const char *const names[] = {HOSTILE};

	strcpy(text, "label=");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		strcat(text, names[i]);
	o->title = text;
	o->meta.name = o->meta.jdk = o->meta.host = text;
	o->meta.events[0].engine = text;
	o->meta.labels = labels;
	o->meta.label_count = 2;
	snprintf(shop_vitals.command, sizeof(shop_vitals.command), "%s", text);
	snprintf(shop_vitals.vm, sizeof(shop_vitals.vm), "%s", text);
	snprintf(shop_vitals.gc_name, sizeof(shop_vitals.gc_name), "%.20s", text + 8);
	o->meta.vitals = &shop_vitals;
}

/* A thread with native entry frames before Java, and native frames after it. */
static void make_native(struct profile *p)
{
	push_and_add(p,
		(const char *[]){"start_thread", "JavaThread::run", "app.Main.main", "inflate",
			"longest_match", "crc32", NULL},
		(enum frame_type[]){
			FRAME_NATIVE, FRAME_VM, J, FRAME_NATIVE, FRAME_NATIVE, FRAME_NATIVE},
		100);
}

/* Ten minutes of steady work; from 252 s on, a cache is rebuilt for three seconds. parts: as kind pulse. */
static void make_spike(struct profile *p, bool parts)
{
	uint32_t run = push(p, PROFILE_ROOT_STACK, "app.Main", "main", J);
	uint32_t serve = push(p, run, "app.Shop", "serve", J);
	uint32_t write = push(p, run, "app.Store", "write", J);
	uint32_t rebuild =
		push(p, push(p, run, "app.Cache", "refresh", J), "app.Cache", "rebuild", J);

	for (uint32_t s = 0; s < 600; s++) {
		uint32_t more = s * 7919 % 11;

		profile_advance(p, s);
		profile_add(p, EVENT_CPU, s, serve, 0, 60 + more, (60 + more) * 10000000ull);
		profile_add(p, EVENT_CPU, s, write, 0, 30 - more, (30 - more) * 10000000ull);
		if (s >= 252 && s < 255)
			profile_add(p, EVENT_CPU, s, rebuild, 0, 210, 2100000000ull);
		if (parts)
			profile_add_pulse(p, EVENT_CPU,
				s * NS_PER_S + (s >= 252 && s < 255 ? 900 : 250) * NS_PER_MS,
				s * NS_PER_S + (s >= 252 && s < 255 ? 1000 : 500) * NS_PER_MS, 1);
	}
}

/*
 * 24 hours of all four events, of the first 160 samples per second in 20,000 stacks, of each other 40 in 5,000. No two parts of
 * a second are alike.
 */
static void make_day(struct profile *p)
{
	struct feed feeds[EVENT_USER_FIRST];

	profile_set_history(p, UINT32_MAX);
	profile_set_budget(p, SIZE_MAX); /* as for a profile read from a file */
	for (int event = 0; event < EVENT_USER_FIRST; event++) {
		feed_init(&feeds[event], p,
			&(struct feed_options){.stacks = event ? 5000 : 20000,
				.methods = 4000,
				.rate = event ? 40 : 160,
				.event = event});
		feed_all(&feeds[event], 1);
	}
	for (uint32_t s = 2; s < 86400; s++)
		for (int event = 0; event < EVENT_USER_FIRST; event++) {
			feed_second(&feeds[event], s);
			for (uint64_t i = 0; i < PROFILE_PULSE; i++)
				profile_add_pulse(p, event, s * NS_PER_S + i * 50 * NS_PER_MS,
					s * NS_PER_S + (i + 1) * 50 * NS_PER_MS,
					(1 + feed_below(&feeds[event], 16)) * 10000000ull);
		}
	for (int event = 0; event < EVENT_USER_FIRST; event++)
		feed_done(&feeds[event]);
}

/* Prints the size of each format, or of `only`, and the median time of writing it five times. */
static int measure(
	const struct profile *p, const struct export_options *o, const struct export_format *only)
{
	struct calltree_options all = {.root_method = PROFILE_NONE};
	struct calltree *t = calltree_new(p, &o->query, &all);

	printf("%u nodes\n", t->count);
	calltree_free(t);
	for (const struct export_format *f = export_formats; f->name; f++) {
		uint64_t ns[5], swap;
		struct buf out = {0};

		if (only && only != f)
			continue;
		for (int i = 0; i < 5; i++) {
			uint64_t begin = clock_mono_ns();

			buf_clear(&out);
			f->write(&out, p, o);
			ns[i] = clock_mono_ns() - begin;
			for (int k = i; k > 0 && ns[k] < ns[k - 1]; k--)
				swap = ns[k], ns[k] = ns[k - 1], ns[k - 1] = swap;
		}
		printf("%-12s %10zu bytes %6.0f ms\n", f->name, out.len, (double)ns[2] / 1e6);
		buf_done(&out);
	}
	return 0;
}

static void make(struct profile *p, const char *kind, uint32_t stacks)
{
	if (!strcmp(kind, "known"))
		make_known(p);
	else if (!strcmp(kind, "alloc"))
		make_alloc(p);
	else if (!strcmp(kind, "events"))
		make_events(p);
	else if (!strcmp(kind, "spike"))
		make_spike(p, false);
	else if (!strcmp(kind, "pulse"))
		make_spike(p, true);
	else if (!strcmp(kind, "native"))
		make_native(p);
	else if (!strcmp(kind, "day"))
		make_day(p);
	else if (!strcmp(kind, "hostile"))
		make_hostile(p);
	else if (!strcmp(kind, "requests"))
		make_requests(p);
	else if (!strcmp(kind, "long")) /* most of it has left the history by second */
		make_random(p, 200, 20, 2000);
	else if (stacks)
		make_random(p, stacks, 2000, 32);
}

/* Sets the event, the target and the session of each kind. */
static void describe(struct export_options *o, const char *kind)
{
	static const char *const labels[] = {"env=prod"};

	if (!strcmp(kind, "alloc")) {
		o->query.event = EVENT_ALLOC;
		o->meta.event_count = 0;
	} else if (!strcmp(kind, "events") || !strcmp(kind, "day")) {
		for (int i = 0; i < EVENT_USER_FIRST; i++)
			o->meta.events[i] = (struct export_event){.event = i};
		o->meta.events[0].engine = "perf";
		o->meta.events[0].lost = 3;
		o->meta.events[EVENT_WALL].interval = 50000000;
		o->meta.event_count = EVENT_USER_FIRST;
		o->meta.vitals = &shop_vitals;
		o->meta.host = "web-3";
		o->meta.labels = labels;
		o->meta.label_count = 1;
		if (!strcmp(kind, "day"))
			o->meta.duration_ns = 86400ull * NS_PER_S;
	} else if (!strcmp(kind, "hostile")) {
		hostile_meta(o);
	}
}

static int list_formats(void)
{
	for (const struct export_format *f = export_formats; f->name; f++)
		printf("%s %s\n", f->name, f->suffixes[0]);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"total", no_argument, NULL, 'w'},
		{"minwidth", required_argument, NULL, 'M'}, {"reverse", no_argument, NULL, 'R'},
		{"inverted", no_argument, NULL, 'I'}, {"colors", required_argument, NULL, 'C'},
		{"width", required_argument, NULL, 'W'}, {NULL, 0, NULL, 0}};
	struct export_options o = {.query = {.to = UINT32_MAX, .thread = PROFILE_ANY_THREAD},
		.meta = {.pid = 41234,
			.name = "shop-api.jar",
			.jdk = "21.0.4",
			.events = {{EVENT_CPU, "ctimer", 10000000, 10000000, 0}},
			.event_count = 1,
			.duration_ns = 30000000000ull}};
	struct profile *p = profile_new();
	const struct export_format *format;
	const char *kind = "random";
	bool measured = false;
	uint32_t stacks = 2000;
	struct err err = {0};
	int c, failed;

	while ((c = getopt_long(argc, argv, "tadmle:n:k:", options, NULL)) != -1) {
		if (c == 'l')
			return list_formats();
		o.threads |= c == 't';
		o.annotate |= c == 'a';
		o.dot |= c == 'd';
		measured |= c == 'm';
		o.query.by_weight |= c == 'w';
		o.query.event = c == 'e' ? atoi(optarg) : o.query.event;
		o.min_share = c == 'M' ? atof(optarg) / 100 : o.min_share;
		o.reverse |= c == 'R';
		o.inverted |= c == 'I';
		o.colors = c == 'C' ? optarg : o.colors;
		o.width = c == 'W' ? (unsigned)atoi(optarg) : o.width;
		kind = c == 'k' ? optarg : kind;
		stacks = c == 'n' ? (uint32_t)atoi(optarg) : stacks;
	}
	format = optind < argc ? export_format_by_path(argv[optind]) : NULL;
	if (!format && !measured) {
		fprintf(stderr, "export_tool: a path with a known suffix is needed\n");
		return 2;
	}
	signal(SIGXFSZ, SIG_IGN);
	make(p, kind, stacks);
	describe(&o, kind);
	if (!o.query.by_weight)
		o.each = profile_sample_weight(p, o.query.event);
	o.query.by_weight |= o.each != 0;
	failed =
		measured ? measure(p, &o, format) : export_write(argv[optind], format, p, &o, &err);
	if (failed)
		fprintf(stderr, "%s\n%s\n%s\n", err.what, err.hint, err.details);
	profile_free(p);
	return failed ? (int)err.kind : 0;
}
