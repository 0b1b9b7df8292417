/* SPDX-License-Identifier: Apache-2.0 */
/* Collapsed stacks as several tools write them, and malformed ones. */
#include "tests/import/read.h"
#include "tests/tap.h"

static const char *const frame_letters[FRAME_TYPES] = {
	"J", "1", "i", "~", "I", "j", "n", "v", "k", "c", "?", "o", "w", "~1"};

/* "J:app.Main.main" of each frame of the first stack. */
static void letters(struct buf *out, const struct imported *i)
{
	struct buf line = {0};
	uint32_t stack = profile_info(i->profile).stacks - 1;

	buf_clear(out);
	for (; stack != PROFILE_ROOT_STACK; stack = profile_get_stack(i->profile, stack).parent) {
		const struct profile_frame *f =
			profile_get_frame(i->profile, profile_get_stack(i->profile, stack).frame);

		buf_clear(&line);
		buf_adds(&line, buf_str(out));
		buf_clear(out);
		buf_printf(out, "%s:%s%s%s", frame_letters[f->type],
			profile_get_method(i->profile, f->method)->full, line.len ? " " : "",
			buf_str(&line));
	}
	buf_done(&line);
}

/* How each spelling of a frame is understood. */
static void test_spelling(void)
{
	static const struct {
		const char *line, *want, *what;
	} rows[] = {
		{"app/Main.main_[0];app/Shop.serve_[1];java/util/HashMap.get_[j];java/util/"
		 "HashMap.getNode_[i] 3\n",
			"I:app.Main.main 1:app.Shop.serve J:java.util.HashMap.get "
			"i:java.util.HashMap.getNode",
			"suffixes give the frame types"},
		{"app/Main.main;java/lang/String_x.y 1\n", "j:app.Main.main j:java.lang.String_x.y",
			"frames without suffixes are read"},
		{"app.Main.main;app.Shop$1.<init>;Main.run 1\n",
			"j:app.Main.main j:app.Shop$1.<init> j:Main.run",
			"names with dots are read"},
		{"start_thread;do_syscall_64_[k];x.isra.0 1\n",
			"n:start_thread k:do_syscall_64 n:x.isra.0",
			"native and kernel frames are read"},
		{"start_thread;[libc.so.6] 0x777e8;[libjvm.so] 0x8d2310;[vdso] 0x6c0 1\n",
			"n:start_thread n:[libc.so.6] 0x777e8 v:[libjvm.so] 0x8d2310 n:[vdso] "
			"0x6c0",
			"functions without a symbol are read"},
		{"[kernel] 0xffffffff81001000_[k];[libc.so.6] 0x777e8s;[libc.so.6] 0x 1\n",
			"k:[kernel] 0xffffffff81001000 n:[libc.so.6] 0x777e8s n:[libc.so.6] 0x",
			"text that only resembles an address is kept"},
		{"app/Main.main;java.lang.String_[i] 1\n", "j:app.Main.main c:java.lang.String",
			"a class is accepted as a leaf"},
		{"app/Main.main;byte[]_[k] 1\n", "j:app.Main.main o:byte[]", "an array, outside"},
		{"app/Main.main;byte[] 1\n", "j:app.Main.main c:byte[]", "an array with dots"},
		{"[unknown_Java];app/A.b 1\n", "?:[unknown_Java] j:app.A.b", "a failed walk"},
		{"app/A.b;[break_native] 1\n", "j:app.A.b ?:native", "a broken stack"},
		{"app/A$$Lambda/0x7f12.run 1\n", "j:app.A$$Lambda/0x7f12.run", "a hidden class"},
		{"std::vector<int, a.b>::push(int);operator new(unsigned long) 1\n",
			"n:std::vector<int, a.b>::push(int) n:operator new(unsigned long)",
			"C++ names with blanks are read"},
		{"java;[perf-7.map];Interpreter 1\r\n", "n:java n:[perf-7.map] n:Interpreter",
			"the output of perf script with CRLF is read"},
	};
	struct buf got = {0};
	struct err err;

	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		struct imported *i = read_text(rows[k].line, &err);

		buf_clear(&got);
		if (i)
			letters(&got, i);
		is_str(i ? buf_str(&got) : err.what, rows[k].want, rows[k].what);
		import_free(i);
	}
	buf_done(&got);
}

/* What has been read is written as it was. */
static void is_same(const char *text, const char *what)
{
	struct buf got = {0};
	struct err err;
	struct imported *i = read_text(text, &err);

	if (i)
		read_collapsed(&got, i, EVENT_USER_FIRST);
	is_str(i ? buf_str(&got) : err.what, text, what);
	buf_done(&got);
	import_free(i);
}

static void test_round(void)
{
	is_same("[pool-1 #9];app/Main.main_[0];do_syscall_64_[k] 7\n"
		"[main tid=7];app/Main.main_[j];app/A.b_[i] 5\n",
		"threads, inlined and kernel frames survive a round trip");
	is_same("[main tid=7];[libc.so.6] 0x94ac3;[libjvm.so] 0x8d2310;app/Main.main 3\n",
		"functions without a symbol survive a round trip");
	is_same("[main tid=7];app/Main.main 18446744073709551\n", "a count of 54 bits comes back");
}

static void test_counts(void)
{
	const struct profile_query all = profile_whole(EVENT_USER_FIRST);
	struct buf got = {0}, late = {0};
	struct err err;
	struct imported *i = read_text("a;b 10 12\na;c 3 0\n", &err);

	if (ok(i, "a file with two counts is read"))
		read_collapsed(&got, i, EVENT_USER_FIRST);
	is_str(buf_str(&got), "a;b 12\n", "the second count is the event selected");
	if (i)
		read_collapsed(&got, i, EVENT_USER_FIRST + 1);
	is_str(buf_str(&got), "a;b 10\na;c 3\n", "the first count is an event, too");
	is_str(profile_get_event(i ? i->profile : NULL, EVENT_USER_FIRST + 1)->name, "before",
		"the first event has its name");
	import_free(i);
	i = read_text("# made by hand\n\na;b 1.6\n  \na;b 2", &err);
	if (ok(i == NULL, "a line of blanks is refused"))
		is_str(strstr(err.what, "line 4"), "line 4 does not end with a space and a number.",
			"the error has the number of the line");
	i = read_text("# made by hand\n\na;b 1.6\na;b 2", &err);
	if (ok(i, "fractions, comments and a missing final line end are accepted"))
		read_collapsed(&got, i, EVENT_USER_FIRST);
	is_str(buf_str(&got), "a;b 3600\n", "fractions are read as thousandths");
	import_free(i);
	i = read_text("a;b .25\na;c .25\na;d 0.5\na;b .2504", &err);
	if (ok(i, "fractions below 1 are accepted"))
		read_collapsed(&got, i, EVENT_USER_FIRST);
	is_str(buf_str(&got), "a;b 500\na;d 500\na;c 250\n", "fractions below 1 keep their value");
	is_int((int64_t)profile_sum(i->profile, &all).count, 1,
		"the count is the sum of the fractions");
	import_free(i);
	for (int k = 0; k < 600; k++)
		buf_adds(&late, "a;filler 1\n");
	buf_adds(&late, "a;b 1.5\na;c .5\n");
	i = read_text(buf_str(&late), &err);
	ok(i && profile_sum(i->profile, &all).count == 602 && strstr(i->note, "2 lines"),
		"late fractions are read with the right sum: %s", i ? i->note : err.what);
	buf_done(&late);
	import_free(i);
	i = read_text("\xef\xbb\xbf"
		      "a;b 1\n",
		&err);
	if (ok(i, "a file with a byte order mark is read"))
		read_collapsed(&got, i, EVENT_USER_FIRST);
	is_str(buf_str(&got), "a;b 1\n", "the byte order mark is not part of the first frame");
	import_free(i);
	i = read_text("a;b 1.2.3\n", &err);
	ok(!i, "a number with two points is refused");
	import_free(i);
	buf_done(&got);
}

/* One line with this number of frames. */
static struct imported *read_deep(size_t frames, struct err *err)
{
	struct buf text = {0};
	struct imported *i;

	for (size_t k = 0; k < frames; k++)
		buf_adds(&text, k ? ";f" : "f");
	buf_adds(&text, " 1\n");
	i = read_bytes(text.data, text.len, err);
	buf_done(&text);
	return i;
}

static void test_hostile(void)
{
	static const char *const bad[] = {"a;b 1\na;c\n", "a;b 1\n12\n", "a b\n"};
	struct buf long_name = {0};
	struct err err;
	struct imported *i;

	for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
		i = read_text(bad[k], &err);
		ok(!i && err.kind == ERR_INPUT, "a malformed file is refused: %s", err.what);
		import_free(i);
	}
	i = read_deep(PROFILE_DEPTH_MAX, &err);
	ok(i && profile_info(i->profile).stacks == PROFILE_DEPTH_MAX + 1 && !*i->note,
		"a stack of the maximum depth is complete");
	import_free(i);
	i = read_deep(70000, &err);
	ok(i && profile_info(i->profile).stacks == PROFILE_DEPTH_MAX + 2 &&
			strstr(i->note, "1 sample on stacks of more than"),
		"a deeper stack is truncated and reported: %s", i ? i->note : err.what);
	import_free(i);
	for (int k = 0; k < 3 << 20; k++)
		buf_adds(&long_name, "0123456");
	i = read_bytes(long_name.data, long_name.len, &err);
	ok(!i && strstr(err.what, "line 1 is longer"), "a line of 21 MB is refused: %s", err.what);
	import_free(i);
	buf_done(&long_name);
	i = read_text("a\x1b[31m;b 1\n", &err);
	ok(!i && err.kind == ERR_INPUT, "control characters are refused");
	import_free(i);
}

int main(void)
{
	test_spelling();
	test_round();
	test_counts();
	test_hostile();
	return tap_done();
}
