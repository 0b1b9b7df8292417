/* SPDX-License-Identifier: Apache-2.0 */
/* Widths, numbers, names, sparklines, composed lines, time windows. */
#include "profile/history.h"
#include "tests/magnitudes.h"
#include "tests/profile/add.h"
#include "tests/tap.h"
#include "tui/frame/events.h"
#include "tui/frame/timeline.h"
#include "tui/screen/canvas.h"
#include "tui/screen/name.h"
#include "tui/screen/text.h"
#include "tui/screen/theme.h"

static void test_width(void)
{
	is_int(text_width("abc"), 3, "letters have one column each");
	is_int(text_width("größe"), 5, "two-byte characters have one column");
	is_int(text_width("漢字"), 4, "wide characters have two columns");
	is_int(text_width("e\xcc\x81"), 1, "a combining mark has no width");
	is_int(text_width("a\x1b[2Jb"), 6, "an escape character is one question mark");
	is_int(text_width("\xff\xfe"), 2, "each invalid byte is one question mark");
	is_int(text_width("\xc2\x9b"), 1, "a C1 control is one question mark");
	is_int((int64_t)text_prefix("漢字x", 3), 3,
		"a wide character that does not fit is left out");
	is_int((int64_t)text_prefix("abc", 9), 3, "a text that fits is complete");
}

static void test_wrap(void)
{
	const char *next;

	is_int((int64_t)text_wrap("held by main", 7, &next), 7, "a line is broken at a blank");
	is_str(next, "main", "the next line begins after the blank");
	is_int((int64_t)text_wrap("held by main", 9, &next), 7, "a word is not broken");
	is_int((int64_t)text_wrap("unbroken", 3, &next), 3, "a word longer than a line is broken");
	is_str(next, "roken", "the rest of a broken word comes next");
	is_int((int64_t)text_wrap("all", 3, &next), 3, "a text that fits is one line");
	is_str(next, "", "nothing is left after the last line");
}

static void bytes_text(char out[64], uint64_t value)
{
	text_bytes(out, (int64_t)value);
}

static void count_text(char out[64], uint64_t value)
{
	text_count(out, (int64_t)value);
}

static void interval_text(char out[64], uint64_t value)
{
	text_interval(out, (int64_t)value, true);
}

static void time_value(char out[64], uint64_t value)
{
	events_value(out, &profile_events[EVENT_CPU], value);
}

static void count_value(char out[64], uint64_t value)
{
	events_value(out, &profile_events[EVENT_USER_FIRST], value);
}

static void test_magnitudes(void)
{
	static const struct magnitude_unit bytes[] = {{"B", 1}, {"K", 0x1p10}, {"M", 0x1p20},
		{"G", 0x1p30}, {"T", 0x1p40}, {"P", 0x1p50}, {"E", 0x1p60}, {NULL, 0}};
	static const struct magnitude_unit times[] = {
		{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
	static const struct magnitude_unit counts[] = {
		{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {NULL, 0}};

	magnitude_check(bytes_text, bytes, INT64_MAX, 0.06, 4, "text_bytes");
	magnitude_check(count_text, counts, INT64_MAX, 0, 25, "text_count");
	magnitude_check(interval_text, times, INT64_MAX, 0, 21, "text_interval");
	magnitude_check(time_value, times, 999000000000, 0.06, 5, "events_value of time");
	magnitude_check(count_value, counts, 999000000000000, 0.06, 4, "events_value of counts");
}

static void test_numbers(void)
{
	char out[TEXT_NUMBER];

	is_str(text_count(out, 2294), "2 294", "thousands are grouped");
	is_str(text_count(out, 1234567), "1 234 567", "millions are grouped");
	is_str(text_count(out, 7), "7", "small numbers are not grouped");
	is_str(text_count(out, -1), "-", "an unknown number is \"-\"");
	is_str(text_counted(out, 1, "thread"), "1 thread", "text_counted uses the singular for 1");
	is_str(text_counted(out, 2294, "thread"), "2 294 threads", "text_counted uses the plural");
	is_str(text_counted(out, 0, "box"), "0 boxes", "text_counted uses the plural for 0");
	is_str(text_bytes(out, 512), "512B", "bytes have the unit B");
	is_str(text_bytes(out, 512 * 1024), "512K", "kibibytes have the unit K");
	is_str(text_bytes(out, 1288490189), "1.2G", "values below ten have one decimal");
	is_str(text_bytes(out, 1023 * 1024), "1.0M", "values never have four digits");
	is_str(text_bytes(out, INT64_MAX), "8.0E", "INT64_MAX bytes fit");
	is_str(text_bytes_of(out, 1288490189, 4294967296), "1.2/4.0G",
		"a part and its whole share a unit");
	is_str(text_bytes_of(out, 40 << 20, 4294967296), "40M/4.0G",
		"a small part has its own unit");
	is_str(text_bytes_of(out, 100 << 20, 512 << 20), "100/512M",
		"megabytes of a whole have no decimals");
	is_str(text_uptime(out, 42), "42s", "an uptime below a minute is given in seconds");
	is_str(text_uptime(out, 720), "12m", "an uptime below an hour is given in minutes");
	is_str(text_uptime(out, 11220), "3h07m",
		"an uptime below a day is given in hours and minutes");
	is_str(text_uptime(out, 273840), "3d04h",
		"an uptime of some days is given in days and hours");
	is_str(text_uptime(out, 400 * 86400), "400d", "an uptime of 400 days is given in days");
	is_str(text_uptime(out, -1), "-", "an unknown uptime is \"-\"");
	is_str(text_percent(out, 7.94), "7.9", "a percentage has one decimal");
	is_str(text_percent(out, 99.96), "100", "100 % has no decimal");
	is_str(text_interval(out, 10000000, true), "10ms", "an interval of time has a time unit");
	is_str(text_interval(out, 524288, false), "512K", "an interval of bytes has a byte unit");
	ok(text_find("java.util.HashMap", "hashmap") && !text_find("java.util.HashMap", "hashMap"),
		"lower-case letters match capitals, capitals match only themselves");
}

static const char *fit(const char *class_name, const char *name, const char *module, int width)
{
	static char out[256];
	char full[256];
	struct profile_method m = {class_name, name, "", module, full};

	if (*class_name)
		snprintf(full, sizeof(full), "%s.%s", class_name, name);
	else
		snprintf(full, sizeof(full), *module ? "[%s] %s" : "%s%s", module, name);
	name_fit(out, sizeof(out), &m, width, NAME_FULL, "~");
	return out;
}

static void test_names(void)
{
	const char *c = "com.acme.shop.pricing.PriceEngine";
	char out[128];

	is_str(fit(c, "compute", "", 41), "com.acme.shop.pricing.PriceEngine.compute",
		"a name that fits is complete");
	is_str(fit(c, "compute", "", 40), "c.acme.shop.pricing.PriceEngine.compute",
		"the first package is shortened first");
	is_str(fit(c, "compute", "", 38), "c.a.shop.pricing.PriceEngine.compute",
		"the second package is shortened next");
	is_str(fit(c, "compute", "", 27), "c.a.s.p.PriceEngine.compute",
		"all packages are shortened");
	is_str(fit(c, "compute", "", 26), "PriceEngine.compute", "packages are left out");
	is_str(fit(c, "compute", "", 15), "~Engine.compute", "the class is truncated on its left");
	is_str(fit(c, "compute", "", 8), "compute", "only the method is left");
	is_str(fit(c, "compute", "", 7), "compute", "the method is complete while it fits");
	is_str(fit(c, "compute", "", 5), "comp~", "the method is truncated last");
	is_str(fit(c, "compute", "", 0), "", "no space yields an empty name");
	is_str(fit("Foo", "bar", "", 20), "Foo.bar", "a class without a package is complete");
	is_str(fit("a.B$$Lambda/0x00.x", "run", "", 40), "a.B$$Lambda/0x00.x.run",
		"the id in a lambda's class is not taken for a package");
	is_str(fit("java.util.HashMap$Node", "", "", 40), "java.util.HashMap$Node",
		"a class without a method is complete");
	is_str(fit("java.util.HashMap$Node", "", "", 17), "j.u.HashMap$Node",
		"a class without a method has its packages shortened");
	is_str(fit("java.util.HashMap$Node", "", "", 13), "HashMap$Node",
		"a class without a method has its packages left out");
	is_str(fit("java.util.HashMap$Node", "", "", 6), "HashM~", "a class is truncated last");
	is_str(fit("Class java.util.HashMap$Node", "", "", 23), "Class j.u.HashMap$Node",
		"\"Class\" before a class name is kept with shortened packages");
	is_str(fit("Class java.util.HashMap$Node", "", "", 20), "Class HashMap$Node",
		"\"Class\" before a class name is kept without packages");
	is_str(fit("", "inflate", "libz.so.1", 20), "[libz.so.1] inflate",
		"a native function has its library");
	is_str(fit("", "inflate", "libz.so.1", 18), "inflate", "the library is left out first");
	is_str(fit("", "0x777e8", "libc.so.6", 19), "[libc.so.6] 0x777e8",
		"a function without a symbol has library and address");
	is_str(fit("", "0x777e8", "libc.so.6", 18), "[libc.so.6]",
		"the library is preferred to the address");
	is_str(fit("", "0xffffffff81001000", "libc.so.6", 24), "[libc.so.6]",
		"the library is preferred to a longer address");
	is_str(fit("", "0x777e8", "", 7), "0x777e8", "an address without a library is shown");
	is_str(fit("", "A::B::call(int, Foo<x>)", "", 30), "A::B::call",
		"parameters of native functions are removed");
	is_str(fit("", "A::operator()(int)", "", 30), "A::operator()", "operator() is kept");
	is_str(fit("", "flate.(*Writer).Write", "", 30), "flate.(*Writer).Write",
		"a Go receiver is kept");
	is_str(fit("", "(anonymous namespace)::f()", "", 30), "(anonymous namespace)::f",
		"an anonymous namespace is kept");
	is_str(fit("", "Space::Name::function(int)", "", 16), "Name::function",
		"namespaces are removed from the left");
	name_parameters(out, sizeof(out), "(Ljava/lang/Object;I[[JZ)V");
	is_str(out, "(Object, int, long[][], boolean)", "parameters have simple names");
	name_parameters(out, sizeof(out), "()V");
	is_str(out, "()", "no parameters are \"()\"");
	name_parameters(out, sizeof(out), "(Lx");
	is_str(out, "", "an invalid signature yields an empty text");
	name_parameters(out, 12, "(Ljava/lang/Object;Ljava/lang/Object;)V");
	is_str(out, "", "parameters that do not fit yield an empty text");
	name_middle(out, sizeof(out), "tcp://localhost thread-5", 15, "~");
	is_str(out, "tcp://l~hread-5", "thread names are truncated in the middle");
}

static void test_sparks(void)
{
	char out[GLYPH_SPARK_BYTES(8)];
	struct {
		int64_t v[8];
		const char *want, *what;
	} cases[] = {
		{{100, 104, 95, 99, 101, 110, 92, 100}, "▅▅▅▅▅▅▅▅",
			"random variation is drawn flat"},
		{{0, 0, 0, 0, 100, 100, 100, 100}, "    ████", "a start is drawn as a step"},
		{{100, 100, 100, 100, 100, 100, 100, 300}, "▅▅▄▄▅▅▅█", "a jump is drawn as a peak"},
		{{1, 0, 0, 2, 0, 1, 0, 1}, "        ", "too few samples are drawn as nothing"},
		{{0, 0, 0, 0, 0, 0, 0, 9}, "       █", "a few samples in one second are drawn"},
		{{-1, -1, 50, 50, 50, 50, 50, 50}, "··▅▅▅▅▅▅", "a gap is drawn as dots"},
		{{0, 0, 0, 0, 0, 0, 0, 0}, "        ", "no samples are drawn as nothing"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		glyph_spark(&glyphs_utf8, out, cases[i].v, 8);
		/* A jump lifts the mean; what is below it by more than chance is lower. */
		if (i == 2)
			ok(!strcmp(out + 21, "█") && strncmp(out, "█", 3), "%s: %s", cases[i].what,
				out);
		else
			is_str(out, cases[i].want, cases[i].what);
	}
	glyph_gauge(&glyphs_ascii, out, (int64_t[]){0, 25, 50, 100, -1}, 5, 100);
	is_str(out, " .:# ", "a gauge is drawn in ASCII");
}

static void test_canvas(void)
{
	struct canvas c;
	struct buf out = {0};

	canvas_init(&c, false);
	canvas_resize(&c, 2, 10);
	is_int(canvas_text(&c, 0, 2, 10, STYLE_NORMAL, "漢字!"), 7,
		"canvas_text returns columns, not bytes");
	canvas_text(&c, 0, 3, 10, STYLE_NORMAL, "x");
	canvas_text(&c, 1, 8, 10, STYLE_NORMAL, "a漢");
	canvas_text(&c, 5, 0, 10, STYLE_NORMAL, "below the canvas");
	canvas_text(&c, 1, 0, 99, STYLE_NORMAL, "e\xcc\x81");
	canvas_dump(&c, &out, false);
	is_str(buf_str(&out), "   x字!\ne\xcc\x81       a\n",
		"overwritten wide characters, clipping and combining marks are right");
	buf_clear(&out);
	c.ascii = true;
	canvas_text(&c, 0, 0, 10, STYLE_NORMAL, "ä漢 ");
	canvas_right(&c, 1, 0, 10, STYLE_BAD, "right");
	canvas_dump(&c, &out, true);
	ok(strstr(buf_str(&out), "?? x") == buf_str(&out),
		"non-ASCII characters become question marks in ASCII mode");
	ok(strstr(buf_str(&out), ".....lllll\n"), "styles are dumped as letters");
	buf_done(&out);
	canvas_done(&c);
}

static const char *strip(int width)
{
	static struct buf out;
	struct canvas c;
	struct strip s = {0};

	canvas_init(&c, true);
	canvas_resize(&c, 1, 60);
	strip_add(&s, STYLE_NORMAL, 0, "one");
	strip_add(&s, STYLE_NORMAL, 2, "two")->width = 5;
	strip_add(&s, STYLE_NORMAL, 1, "three");
	strip_add(&s, STYLE_NORMAL, 3, "right")->right = true;
	strip_draw(&s, &c, 0, 0, width);
	buf_clear(&out);
	canvas_dump(&c, &out, false);
	canvas_done(&c);
	return buf_str(&out);
}

static void test_strip(void)
{
	is_str(strip(30), "one  two    three        right\n", "all parts are drawn if they fit");
	is_str(strip(24), "one  two    three  right\n", "parts that just fit are drawn");
	is_str(strip(23), "one  two    three\n", "the least important part is left out first");
	is_str(strip(16), "one  three\n", "the next least important part is left out next");
	is_str(strip(9), "one\n", "the most important part stays");
	is_str(strip(2), "on\n", "the most important part is truncated");
}

static void test_timeline(void)
{
	struct profile *p = profile_new();
	struct profile_query q = {0};
	struct timeline t;

	timeline_init(&t);
	profile_advance(p, 1);
	timeline_query(&t, p, &q);
	ok(q.from == 0 && q.to == 2, "at the start the running second is included");
	profile_advance(p, 100);
	timeline_query(&t, p, &q);
	ok(q.from == 90 && q.to == 100, "later only complete seconds are included");
	timeline_freeze(&t, p, true);
	profile_advance(p, 110);
	timeline_query(&t, p, &q);
	ok(q.from == 90 && q.to == 100, "a frozen window does not move");
	ok(timeline_step(&t, p, -1) && timeline_to(&t, p) == 99, ", moves a frozen window back");
	ok(timeline_step(&t, p, 11) && timeline_to(&t, p) == 110,
		"a frozen window moves forward up to now");
	ok(!timeline_step(&t, p, 1), "a frozen window does not move into the future");
	timeline_freeze(&t, p, false);
	t.since = 105;
	timeline_query(&t, p, &q);
	ok(q.from == 105 && q.to == 110, "a window does not reach before a restart");
	t.window = 5;
	timeline_query(&t, p, &q);
	ok(q.from == 105, "the window \"all\" does not reach before a restart");
	profile_free(p);
}

/*
 * Ten samples a second, merged into steps of 10 s. Whatever second a window of 1 s ends at, its samples per covered
 * second are the true rate. Without alignment to the steps, nine of ten windows would be empty.
 */
static void test_merged_window(void)
{
	struct profile *p = profile_new();
	struct profile_query q = {.event = EVENT_CPU, .thread = PROFILE_ANY_THREAD};
	struct timeline t;
	int right = 0, tried = 0;

	profile_advance(p, 402);
	profile_set_retained(p, 10, 300);
	timeline_init(&t);
	t.window = 0;
	for (uint32_t second = 1; second <= 400; second++) {
		for (uint32_t i = 0; i < 10; i++)
			profile_add(p, EVENT_CPU, second, PROFILE_ROOT_STACK, i, 1, 1);
	}
	for (t.frozen = true, t.frozen_to = profile_info(p).oldest + 20;
		t.frozen_to < profile_info(p).merged_before; t.frozen_to++, tried++) {
		timeline_query(&t, p, &q);
		right += profile_covered(p, &q) == 10 && profile_sum(p, &q).count == 100;
	}
	ok(tried > 30, "%d seconds are in merged history", tried);
	is_int(right, tried,
		"in merged history a window of 1 s shows its whole step and covers 10 s");
	profile_free(p);
}

int main(void)
{
	test_width();
	test_wrap();
	test_numbers();
	test_magnitudes();
	test_names();
	test_sparks();
	test_canvas();
	test_strip();
	test_timeline();
	test_merged_window();
	return tap_done();
}
