/* SPDX-License-Identifier: Apache-2.0 */
/* pprof, JFR and speedscope files: truncated anywhere, with any byte changed, with cycles, or crafted to take forever. */
#include "tests/import/read.h"
#include "tests/profile/add.h"
#include "tests/tap.h"

#include "base/clock.h"

#include <zlib.h>

#define START 1700000000000000000ull

static uint32_t frame(struct profile *p, const char *class_name, const char *name, int type)
{
	return profile_frame(
		p, profile_method(p, class_name, name, "", ""), (enum frame_type)type, 0, 7);
}

/* A few stacks of two events, threads, and names that try to break out. */
static struct profile *small_profile(void)
{
	struct profile *p = profile_new();
	struct profile_thread t = {
		.tid = 7, .kind = THREAD_JAVA, .java_tid = 1, .name = "ma\x1b[31min"};
	uint32_t stack, leaf;

	profile_thread_set(p, 0, &t);
	stack = profile_stack_child(
		p, PROFILE_ROOT_STACK, frame(p, "app.Main", "main", FRAME_INTERPRETED));
	leaf = profile_stack_child(p, stack, frame(p, "", "do\nit </script>", FRAME_NATIVE));
	profile_add(p, EVENT_CPU, 1, stack, 0, 3, 30000000);
	profile_add(p, EVENT_CPU, 2, leaf, 0, 2, 20000000);
	leaf = profile_stack_child(p, stack, frame(p, "byte[]", "", FRAME_CLASS));
	profile_add(p, EVENT_ALLOC, 2, leaf, 0, 1, 4096);
	profile_interval_add(p, EVENT_CPU, 10000000);
	profile_set_start(p, START);
	return p;
}

static void export_small(struct buf *out, export_writer *write)
{
	struct profile *p = small_profile();
	struct export_options o = {.query = profile_whole(EVENT_CPU),
		.meta = {.pid = 7,
			.name = "shop",
			.host = "box",
			.start_wall_ns = START,
			.duration_ns = 3000000000,
			.events = {{.event = EVENT_CPU, .interval = 10000000},
				{.event = EVENT_ALLOC}},
			.event_count = 2}};

	buf_clear(out);
	write(out, p, &o);
	profile_free(p);
}

/* pprof as it is inside. */
static void unpack(struct buf *b)
{
	struct buf plain = {0};
	z_stream z = {0};

	buf_reserve(&plain, 1 << 16);
	inflateInit2(&z, 31);
	z.next_in = (Bytef *)b->data;
	z.avail_in = (uInt)b->len;
	z.next_out = (Bytef *)plain.data;
	z.avail_out = 1 << 16;
	ok(inflate(&z, Z_FINISH) == Z_STREAM_END, "the pprof file is unpacked");
	plain.len = z.total_out;
	inflateEnd(&z);
	buf_done(b);
	*b = plain;
}

/* Nothing that is read may bring control characters. */
static bool is_clean(const struct imported *i)
{
	const struct profile *p = i->profile;

	for (uint32_t m = 0; m < profile_method_count(p); m++)
		for (const char *s = profile_get_method(p, m)->full; *s; s++)
			if ((unsigned char)*s < 0x20)
				return false;
	for (uint32_t t = 0; t < profile_thread_count(p); t++)
		for (const char *s = profile_get_thread(p, t)->name; *s; s++)
			if ((unsigned char)*s < 0x20)
				return false;
	return true;
}

static void test_whole(const struct buf *b, const char *format, uint64_t samples)
{
	struct err err;
	struct imported *i = read_bytes(b->data, b->len, &err);
	const struct profile_query q = profile_whole(EVENT_CPU);

	if (!ok(i, "the complete %s file is read: %s", format, err.what))
		return;
	is_str(i->format->name, format, "the format of a complete file is recognized");
	is_int(profile_sum(i->profile, &q).count, samples,
		"the samples of a complete file are read");
	is_int(i->vitals.pid, 7, "the pid of a complete file is read");
	is_str(i->host, "box", "the host of a complete file is read");
	ok(is_clean(i), "the texts of a complete file have no control characters");
	import_free(i);
}

static void test_cut(const struct buf *b, const char *format, bool must_fail)
{
	unsigned good = 0, silent = 0;
	struct err err;

	for (size_t len = 0; len < b->len; len++) {
		struct imported *i = read_bytes(b->data, len, &err);

		good += i != NULL;
		silent += !i && (err.kind != ERR_INPUT || !*err.what);
		import_free(i);
	}
	is_int(silent, 0, "each truncated file is read, or yields an error with a sentence");
	/* Fields of pprof may be missing, so a file that ends between two of them is whole. */
	ok(must_fail ? good == 0 : good < b->len / 4, "%s: %u of %zu truncated files are read",
		format, good, b->len);
}

static void test_changed(const struct buf *b, const char *format)
{
	static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
	char *copy = xmalloc(b->len);
	uint64_t begin = clock_mono_ns();
	unsigned good = 0, bad = 0;
	bool clean = true;
	struct err err;

	for (size_t at = 0; at < b->len; at++) {
		for (size_t v = 0; v < sizeof(values); v++) {
			struct imported *i;

			memcpy(copy, b->data, b->len);
			copy[at] = (char)values[v];
			i = read_bytes(copy, b->len, &err);
			clean &= !i || is_clean(i);
			good += i != NULL;
			bad += i == NULL;
			import_free(i);
		}
	}
	free(copy);
	ok(clean && good && bad, "%s with random bytes changed: %u are read, %u are errors, %.1f s",
		format, good, bad, (double)(clock_mono_ns() - begin) / 1e9);
}

/* A million of the same field in a message, so that all limits are met. */
static void test_many(void)
{
	struct buf b = {0};
	struct err err;
	struct imported *i;

	buf_add(&b, "\x0a\x04\x08\x01\x10\x02", 6); /* samples, count */
	for (int k = 0; k < 1 << 20; k++)
		buf_add(&b, "\x12\x00", 2); /* samples of nothing */
	for (const char *const *s = (const char *const[]){"", "samples", "count", NULL}; *s; s++) {
		buf_addc(&b, '\x32');
		buf_addc(&b, (char)strlen(*s));
		buf_adds(&b, *s);
	}
	i = read_bytes(b.data, b.len, &err);
	ok(i, "a million empty samples are read: %s", err.what);
	import_free(i);
	buf_add(&b, "\x12\x04\x0a\x02\x01\x01", 6);
	i = read_bytes(b.data, b.len, &err);
	ok(!i && strstr(err.what, "byte "), "a missing location is an error: %s", err.what);
	import_free(i);
	buf_add(&b, "\x12\xff\xff\xff\xff\x7f", 6);
	i = read_bytes(b.data, b.len, &err);
	ok(!i && strstr(err.what, "byte "), "a message of 34 GB is an error: %s", err.what);
	import_free(i);
	buf_done(&b);
}

/* --- circles in the types of a recording ----------------------------------------------------------------- */

static void number(struct buf *b, uint64_t n)
{
	for (; n > 127; n >>= 7)
		buf_addc(b, (char)(n | 128));
	buf_addc(b, (char)n);
}

static void block(struct buf *out, const struct buf *body)
{
	/* Sizes here are below 2^14 - 2. */
	buf_addc(out, (char)((body->len + 2) | 128));
	buf_addc(out, (char)((body->len + 2) >> 7));
	buf_add(out, body->data, body->len);
}

static void head(struct buf *out, uint64_t size, uint64_t metadata)
{
	const uint64_t numbers[] = {size, 68, metadata, 0, 1000000000, 0, 1000000000};

	buf_add(out, "FLR\0\0\2\0\0", 8);
	for (size_t i = 0; i < 7; i++)
		for (int k = 8; k-- > 0;)
			buf_addc(out, (char)(numbers[i] >> 8 * k));
	buf_add(out, "\0\0\0\1", 4);
}

/* Types 2 to 2 + count, each with this number of fields of the next type; those of the last one have the first type, or there are none. */
static struct imported *read_types(int count, int fields, bool circle, struct err *err)
{
	static const char *const words[] = {
		"root", "metadata", "class", "field", "id", "name", "x"};
	struct buf body = {0}, blocks = {0}, file = {0};
	struct imported *i;
	char id[16];
	int word = 7;

	number(&body, 1), number(&body, 0), number(&body, 0), number(&body, 0);
	buf_addc(&body, 0), number(&body, 1), number(&body, 2), number(&body, 1), number(&body, 1);
	buf_add(&body, "\0\0\0\0", 4);
	block(&blocks, &body); /* one constant of the first type */
	buf_clear(&body);
	number(&body, 0), number(&body, 0), number(&body, 0), number(&body, 0);
	number(&body, (uint64_t)(7 + 1 + count));
	for (int k = 0; k < 7; k++)
		buf_addc(&body, 3), number(&body, strlen(words[k])), buf_adds(&body, words[k]);
	buf_add(&body, "\3\5class", 7); /* 7: an attribute of the same name */
	for (int k = 0; k < count; k++) {
		snprintf(id, sizeof(id), "%d", 2 + k);
		buf_addc(&body, 3), number(&body, strlen(id)), buf_adds(&body, id);
	}
	number(&body, 0), number(&body, 0), number(&body, 1);
	number(&body, 1), number(&body, 0), number(&body, (uint64_t)count);
	for (int k = 0; k < count; k++) {
		int of = k + 1 < count ? k + 1 : 0, has = k + 1 < count || circle ? fields : 0;

		number(&body, 2), number(&body, 1), number(&body, 4);
		number(&body, (uint64_t)(word + 1 + k)), number(&body, (uint64_t)has);
		for (int f = 0; f < has; f++) {
			number(&body, 3), number(&body, 1), number(&body, 7);
			number(&body, (uint64_t)(word + 1 + of)), number(&body, 0);
		}
	}
	head(&file, 68 + blocks.len + body.len + 2, 68 + blocks.len);
	block(&blocks, &body);
	buf_add(&file, blocks.data, blocks.len);
	i = read_bytes(file.data, file.len, err);
	buf_done(&body);
	buf_done(&blocks);
	buf_done(&file);
	return i;
}

static void test_perf(void)
{
	static const char text[] =
		"# captured on: Fri\n"
		"java  1234/1240 [001] 12345.900000:     250000 cpu-clock:u: \n"
		"\t    7f0011223344 Lcom/foo/Bar;::baz+0x20 (/tmp/perf-1234.map)\n"
		"\t    7f0011223355 void com.foo.Main.main(java.lang.String[])+0x8 "
		"(/tmp/perf-1234.map)\n"
		"\t    7f0011223366 JavaCalls::call(JavaValue*, Thread*)+0x10 "
		"(/usr/lib/libjvm.so)\n"
		"\n"
		"GC Thread#0  1241 12347.100000:     250000 cpu-clock:u: \n"
		"\tffffffff81000000 do_syscall_64+0x5b ([kernel.kallsyms])\n"
		"\t           10018 [unknown] (/usr/lib/libz.so.1)\n"
		"\n";
	struct buf got = {0}, b = {0};
	struct imported *i;
	struct err err;
	int unexplained = 0;

	i = read_text(text, &err);
	if (ok(i, "the output of perf script is read: %s", err.what)) {
		const struct profile_query second = {
			.from = 1, .to = 2, .thread = PROFILE_ANY_THREAD};

		is_str(i->format->name, "perf", "perf script is recognized by its first line");
		read_collapsed(&got, i, EVENT_CPU);
		is_str(buf_str(&got),
			"[java tid=1240];JavaCalls::call(JavaValue*, "
			"Thread*);com/foo/Main.main;com/foo/Bar.baz 250000\n"
			"[GC Thread#0 tid=1241];[libz.so.1] 0x10018;do_syscall_64_[k] 250000\n",
			"perf script: frames, threads and periods are right");
		ok(i->timed && profile_sum(i->profile, &second).count == 1,
			"perf script: the seconds are read");
	}
	import_free(i);
	for (size_t len = 0; len < sizeof(text); len++) {
		err = (struct err){0};
		i = read_bytes(text, len, &err);
		unexplained += !i && !err.what[0];
		import_free(i);
	}
	is_int(unexplained, 0, "perf script truncated at any byte is read, or is an error");
	i = read_text("java 1 1.0: cycles: \n\tff x (y)\n\nnonsense\n", &err);
	ok(!i && strstr(err.what, "line 4"), "a line that is not a sample is an error: %s",
		err.what);
	import_free(i);
	buf_done(&got);
	buf_done(&b);
}

/* Versions of the format, and files that something else has compressed. */
static void test_others(void)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *said, *hint;
	} rows[] = {
		{"FLR\0\0\1\0\0", 8, "Oracle JDK 7 or 8", ""},
		{"FLR\0\0\3\0\0", 8, "a later format", ""},
		{"PERFILE2", 8, "a file of perf record", "perf script -i "},
		{"BZh9", 4, "compressed with bzip2", "bzip2 -dc "},
	};

	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		char file[100] = "";
		struct imported *i;
		struct err err;

		memcpy(file, rows[k].bytes, rows[k].len);
		i = read_bytes(file, sizeof(file), &err);
		ok(!i && strstr(err.what, rows[k].said) && strstr(err.hint, rows[k].hint), "%s",
			err.what);
		import_free(i);
	}
}

static void test_circles(void)
{
	uint64_t begin = clock_mono_ns();
	struct err err;
	struct imported *i = read_types(2, 1, true, &err);

	ok(!i && strstr(err.what, "nested too deep"), "a type that contains itself is an error: %s",
		err.what);
	import_free(i);
	i = read_types(14, 100, false, &err);
	ok(!i && strstr(err.what, "too complex"), "100^13 empty fields are an error: %s", err.what);
	import_free(i);
	i = read_types(3, 2, false, &err);
	ok(i, "a few levels of nesting are accepted: %s", err.what);
	import_free(i);
	ok(clock_mono_ns() - begin < 20 * NS_PER_S, "nested types are rejected in bounded time");
}

/* --- what pprof has and the model has not ---------------------------------------------------------------- */

static void pprof_field(struct buf *out, int field, const struct buf *body)
{
	number(out, (uint64_t)field << 3 | 2);
	number(out, body->len);
	buf_add(out, buf_str(body), body->len);
}

static void pprof_numbers(struct buf *out, int field, const uint64_t *list, size_t count)
{
	struct buf body = {0};

	for (size_t k = 0; k < count; k++) {
		number(&body, (k + 1) << 3);
		number(&body, list[k]);
	}
	pprof_field(out, field, &body);
	buf_done(&body);
}

/* Bytes in use without a count, at two addresses of a library, one with a function. */
static void pprof_of_bytes(struct buf *out, const uint64_t values[3], const char *unit)
{
	const char *strings[] = {
		"", "inuse_space", unit, "/usr/lib/libshop.so.1", "deflate", "z.c"};
	struct buf body = {0}, line = {0};

	pprof_numbers(out, 1, (const uint64_t[]){1, 2}, 2);
	pprof_numbers(out, 3, (const uint64_t[]){1, 0x7f0000001000, 0x7f0000009000, 0x2000, 3}, 5);
	pprof_numbers(out, 5, (const uint64_t[]){1, 4, 4, 5}, 4);
	for (uint64_t k = 1; k <= 3; k++) {
		number(&body, 1 << 3), number(&body, k);
		number(&body, 2 << 3), number(&body, 1);
		number(&body, 3 << 3), number(&body, 0x7f0000001000 + 0x100 * k);
		if (k == 1) {
			number(&line, 1 << 3), number(&line, 1);
			pprof_field(&body, 4, &line);
		}
		pprof_field(out, 4, &body);
		buf_clear(&body);
		pprof_numbers(out, 2, (const uint64_t[]){k, values[k - 1]}, 2);
	}
	for (size_t k = 0; k < sizeof(strings) / sizeof(strings[0]); k++) {
		buf_clear(&body);
		buf_adds(&body, strings[k]);
		pprof_field(out, 6, &body);
	}
	buf_done(&body);
	buf_done(&line);
}

static void test_values(void)
{
	struct buf b = {0}, got = {0};
	struct export_options o = {.query = profile_whole(EVENT_USER_FIRST)};
	struct imported *i;
	struct err err;

	pprof_of_bytes(&b, (const uint64_t[]){3000, 200, 10}, "bytes");
	i = read_bytes(b.data, b.len, &err);
	if (ok(i, "values without a count are read: %s", err.what)) {
		o.each = profile_sample_weight(i->profile, EVENT_USER_FIRST);
		o.query.by_weight = true;
		export_collapsed(&got, i->profile, &o);
		is_str(buf_str(&got),
			"deflate 3000\n[libshop.so.1] 0x2200 200\n[libshop.so.1] 0x2300 10\n",
			"values are kept, with addresses where there is no function");
		ok(o.each == 1 && !*i->note, "no value was left out");
	}
	import_free(i);
	buf_clear(&b);
	pprof_of_bytes(&b, (const uint64_t[]){3000, (uint64_t)-200, (uint64_t)-10}, "bytes");
	i = read_bytes(b.data, b.len, &err);
	ok(i && strstr(i->note, "2 negative values are left out"),
		"negative values are counted: %s", i ? i->note : err.what);
	import_free(i);
	buf_clear(&b);
	pprof_of_bytes(&b, (const uint64_t[]){1, 1, 1}, "e\x1b[31m\nx");
	i = read_bytes(b.data, b.len, &err);
	is_str(profile_get_event(i ? i->profile : NULL, EVENT_USER_FIRST)->unit, "e?[31m?x",
		"control characters in a unit are replaced");
	import_free(i);
	buf_done(&b);
	buf_done(&got);
}

int main(void)
{
	struct buf b = {0};

	export_small(&b, export_jfr);
	test_whole(&b, "jfr", 5);
	test_cut(&b, "jfr", true);
	test_changed(&b, "jfr");
	export_small(&b, export_pprof);
	unpack(&b);
	test_whole(&b, "pprof", 5);
	test_cut(&b, "pprof", false);
	test_changed(&b, "pprof");
	export_small(&b, export_speedscope);
	test_whole(&b, "speedscope", 5);
	test_cut(&b, "speedscope", false);
	test_changed(&b, "speedscope");
	test_many();
	test_circles();
	test_others();
	test_perf();
	test_values();
	buf_done(&b);
	return tap_done();
}
