/* SPDX-License-Identifier: Apache-2.0 */
/* export: names and numbers, the exact bytes of the collapsed format, determinism, and atomic replacement of files. */
#include "export/export.h"
#include "export/jfr/jfr.h"
#include "export/proto.h"
#include "export/text.h"
#include "export/web/flame.h"
#include "tests/magnitudes.h"
#include "tests/profile/feed.h"
#include "tests/tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/jhot-export-XXXXXX";

static const char *path_of(const char *name)
{
	static char path[4][256];
	static int n;

	n = (n + 1) % 4;
	snprintf(path[n], sizeof(path[n]), "%s/%s", folder, name);
	return path[n];
}

/* --- text -------------------------------------------------------------------------------------------- */

static void is_text(struct buf *got, const char *want, const char *name)
{
	is_str(buf_str(got), want, name);
	buf_clear(got);
}

static void test_text(void)
{
	static const struct {
		const char *name;
		enum frame_type type;
		const char *steps[EXPORT_NAME_STEPS];
	} names[] = {
		{"com.acme.shop.Foo.bar", FRAME_COMPILED,
			{"com.acme.shop.Foo.bar", "c.a.s.Foo.bar", "Foo.bar", "bar"}},
		{"Foo.bar", FRAME_JAVA, {"Foo.bar", "Foo.bar", "Foo.bar", "bar"}},
		{"a.B$$Lambda.0x00007f.run", FRAME_INLINED,
			{"a.B$$Lambda.0x00007f.run", "a.B$$Lambda.0x00007f.run",
				"B$$Lambda.0x00007f.run", "run"}},
		{"java.lang.String", FRAME_CLASS,
			{"java.lang.String", "j.l.String", "String", "String"}},
		{"[libz.so.1] inflate", FRAME_NATIVE,
			{"[libz.so.1] inflate", "inflate", "inflate", "inflate"}},
		{"[libc.so.6] 0x777e8", FRAME_NATIVE,
			{"[libc.so.6] 0x777e8", "[libc.so.6]", "[libc.so.6]", "[libc.so.6]"}},
		{"A<b::c>::f<int>(d::e, g*)", FRAME_VM,
			{"A<b::c>::f<int>(d::e, g*)", "A<b::c>::f<int>(d::e, g*)",
				"A<b::c>::f<int>", "f<int>"}},
		{"(anonymous namespace)::f(int)", FRAME_VM,
			{"(anonymous namespace)::f(int)", "(anonymous namespace)::f(int)",
				"(anonymous namespace)::f", "f"}},
		{"X::operator()(int)", FRAME_VM,
			{"X::operator()(int)", "X::operator()(int)", "X::operator()",
				"operator()"}},
		{"", FRAME_NATIVE, {"", "", "", ""}},
		{"....", FRAME_COMPILED, {"....", "....", ".", ""}},
	};
	char name[160];
	struct buf b = {0};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		for (int k = 0; k < EXPORT_NAME_STEPS; k++) {
			export_shorten(&b, names[i].name, names[i].type, k);
			snprintf(name, sizeof(name), "\"%s\" is shortened to \"%s\" in step %d",
				names[i].name, names[i].steps[k], k);
			is_text(&b, names[i].steps[k], name);
		}
	}
	export_clean(&b, "a;b\nc\x01\xff\xc3\xa9\xc2\x85", ';', ',');
	is_text(&b, "a,b?c??\xc3\xa9?",
		"a clean text is UTF-8 without control characters and separators");
	export_clean(&b, "\n", 0, 0);
	is_text(&b, "?", "a control character becomes a question mark");
	export_xml(&b, "<a href=\"x\">&amp;\xef\xbf\xbe\xef");
	is_text(&b, "&lt;a href=&quot;x&quot;&gt;&amp;amp;\xef\xbf\xbd\xef", "XML is escaped");
	export_count(&b, 1234567);
	is_text(&b, "1,234,567", "a count has commas between thousands");
	export_value(&b, "ns", 1500000);
	is_text(&b, "1.50 ms", "a value in ns is formatted as time");
	export_value(&b, "bytes", 3 << 20);
	is_text(&b, "3.00 MiB", "a value in bytes is formatted as memory");
	export_value(&b, "events", 1000);
	is_text(&b, "1,000 events", "a value in any other unit is formatted as a count");
	buf_done(&b);
}

/* --- formats ----------------------------------------------------------------------------------------- */

static uint32_t push(struct profile *p, uint32_t stack, const char *class_name, const char *name,
	const char *module, enum frame_type type)
{
	return profile_stack_child(p, stack,
		profile_frame(p, profile_method(p, class_name, name, "", module), type, 0, 0));
}

static void fill_golden(struct profile *p)
{
	struct profile_thread t = {.tid = 12, .name = "pool-1;x"};
	uint32_t java = push(p, 0, "java.lang.Thread", "run", "", FRAME_INTERPRETED), s;

	profile_thread_set(p, 1, &t);
	s = push(p, java, "a.b.C$D", "<init>", "", FRAME_C1);
	profile_add(p, EVENT_CPU, 1, s, 1, 3, 30);
	s = push(p, s, "a.b.E", "f", "", FRAME_INLINED);
	profile_add(p, EVENT_CPU, 1, s, 1, 10, 100);
	s = push(p, s, "", "__libc_write", "libc.so.6", FRAME_NATIVE);
	s = push(p, s, "", "do_syscall_64", "", FRAME_KERNEL);
	profile_add(p, EVENT_CPU, 1, s, 1, 7, 70);
	s = push(p, java, "a.b.E", "f", "", FRAME_COMPILED);
	profile_add(p, EVENT_CPU, 1, s, 1, 5, 50);
	s = push(p, java, "a.b.E", "f", "", FRAME_INLINED);
	profile_add(p, EVENT_CPU, 1, s, 1, 1, 10);
	s = push(p, 0, "", "[break_no_frame]", "", FRAME_BREAK);
	s = push(p, s, "", "", "libfoo.so", FRAME_NATIVE);
	profile_add(p, EVENT_CPU, 1, s, 2, 1, 10);
	s = push(p, java, "java.lang.String", "", "", FRAME_CLASS);
	profile_add(p, EVENT_ALLOC, 1, s, 1, 2, 1048576);
}

static void is_collapsed(
	const struct profile *p, const struct export_options *o, const char *want, const char *name)
{
	struct buf out = {0};

	export_format_by_path("x.collapsed")->write(&out, p, o);
	is_text(&out, want, name);
	buf_done(&out);
}

static void test_collapsed(void)
{
	struct profile *p = profile_new();
	struct export_options o = {.query = {.to = UINT32_MAX, .thread = PROFILE_ANY_THREAD}};

	fill_golden(p);
	is_collapsed(p, &o,
		"java/lang/Thread.run;a/b/C$D.<init> 3\n"
		"java/lang/Thread.run;a/b/C$D.<init>;a/b/E.f 10\n"
		"java/lang/Thread.run;a/b/C$D.<init>;a/b/E.f;__libc_write;do_syscall_64_[k] 7\n"
		"java/lang/Thread.run;a/b/E.f 6\n"
		"[break_no_frame];[libfoo.so] 1\n",
		"the collapsed format has a line per stack, with its count");
	o.annotate = o.threads = true;
	is_collapsed(p, &o,
		"[pool-1,x tid=12];java/lang/Thread.run_[0];a/b/C$D.<init>_[1] 3\n"
		"[pool-1,x tid=12];java/lang/Thread.run_[0];a/b/C$D.<init>_[1];a/b/E.f_[i] 10\n"
		"[pool-1,x "
		"tid=12];java/lang/Thread.run_[0];a/b/C$D.<init>_[1];a/b/"
		"E.f_[i];__libc_write;do_syscall_64_[k] 7\n"
		"[pool-1,x tid=12];java/lang/Thread.run_[0];a/b/E.f_[j] 5\n"
		"[pool-1,x tid=12];java/lang/Thread.run_[0];a/b/E.f_[i] 1\n"
		"[tid=0];[break_no_frame];[libfoo.so] 1\n",
		"collapsed stacks have threads and how frames ran, if asked for");
	o.annotate = o.threads = false;
	o.query.event = EVENT_ALLOC;
	is_collapsed(p, &o, "java/lang/Thread.run;java.lang.String_[i] 2\n",
		"a class in a collapsed stack has dots");
	o.dot = o.query.by_weight = true;
	is_collapsed(p, &o, "java.lang.Thread.run;java.lang.String 1048576\n",
		"with --dot and --total, collapsed stacks have dots and weights");
	o.query.event = EVENT_LOCK;
	is_collapsed(p, &o, "", "the collapsed file of an event without samples is empty");
	profile_free(p);
}

static void is_bytes(struct buf *got, const char *want, size_t len, const char *name)
{
	ok(got->len == len && !memcmp(buf_str(got), want, len), "%s", name);
	buf_clear(got);
}

/* The examples in the published descriptions of the two formats. */
static void test_encoders(void)
{
	struct buf b = {0}, inner = {0};

	proto_varint(&b, 0);
	proto_varint(&b, 127);
	proto_varint(&b, 300);
	is_bytes(&b, "\0\x7f\xac\x02", 4, "varints have seven bits per byte");
	proto_varint(&b, UINT64_MAX);
	is_bytes(&b, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10,
		"the largest varint has ten bytes");
	proto_number(&b, 1, 150);
	proto_number(&b, 2, 0);
	proto_text(&b, 2, "testing");
	is_bytes(&b, "\x08\x96\x01\x12\x07testing", 12, "a field of the value 0 is omitted");
	proto_number(&inner, 1, 150);
	proto_message(&b, 3, &inner);
	is_bytes(&b, "\x1a\x03\x08\x96\x01", 5, "a nested message has its length before it");
	jfr_varint(&b, UINT64_MAX);
	is_bytes(&b, "\xff\xff\xff\xff\xff\xff\xff\xff\xff", 9,
		"the largest number of a flight recording has nine bytes");
	buf_clear(&inner);
	for (int i = 0; i < 126; i++)
		buf_addc(&inner, 'x');
	jfr_block(&b, &inner);
	ok(b.len == 127 && b.data[0] == 127, "the size of a block includes the size itself");
	buf_clear(&b);
	buf_addc(&inner, 'x');
	jfr_block(&b, &inner);
	is_bytes(&b, b.data, 129, "from 128 bytes on, the size of a block takes two bytes");
	buf_done(&b);
	buf_done(&inner);
}

static void test_formats(void)
{
	is_str(export_format_by_path("a.b.svg")->suffixes[0], ".svg",
		"a format is chosen by the suffix");
	is_str(export_format_by_path("X.SVG")->suffixes[0], ".svg",
		"the case of a suffix does not matter");
	ok(!export_format_by_path("svg"), "a name without a dot has no format");
	ok(!export_format_by_path(".svg"), "a suffix without a name has no format");
	ok(!export_format_by_path("x.jpg"), "an unknown suffix has no format");
}

static void write_svg(struct buf *out, uint64_t seed)
{
	struct export_options o = {.query = {.to = UINT32_MAX, .thread = PROFILE_ANY_THREAD},
		.meta = {.name = "a<b>", .pid = 7}};
	struct profile *p = profile_new();
	struct feed f;

	feed_init(&f, p, &(struct feed_options){.seed = seed, .stacks = 400});
	for (uint32_t s = 1; s < 20; s++)
		feed_second(&f, s);
	export_format_by_path("x.svg")->write(out, p, &o);
	feed_done(&f);
	profile_free(p);
}

/* The screen sets the user's locale, in which 1.5 may be written 1,5. Files must not depend on it. */
static void test_locale(void)
{
	static const char *const comma[] = {
		"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "nl_NL.UTF-8", "ru_RU.UTF-8"};
	struct buf here = {0}, there = {0};
	const char *set = NULL;

	write_svg(&here, 1);
	for (size_t i = 0; i < sizeof(comma) / sizeof(*comma) && !set; i++)
		set = setlocale(LC_ALL, comma[i]) ? comma[i] : NULL;
	write_svg(&there, 1);
	setlocale(LC_ALL, "C");
	if (set)
		ok(here.len == there.len && !memcmp(here.data, there.data, here.len),
			"a file written in the locale %s is the same", set);
	else
		tap_skip("a file written in any locale is the same",
			"no locale with a decimal comma here");
	buf_done(&here);
	buf_done(&there);
}

static void test_svg(void)
{
	struct buf a = {0}, b = {0}, empty = {0};
	struct export_options o = {.query = {.to = UINT32_MAX, .thread = PROFILE_ANY_THREAD}};
	struct profile *p = profile_new();

	write_svg(&a, 1);
	write_svg(&b, 1);
	ok(a.len == b.len && !memcmp(a.data, b.data, a.len),
		"the same profile gives the same %zu bytes", a.len);
	buf_clear(&b);
	write_svg(&b, 2);
	ok(a.len != b.len || memcmp(a.data, b.data, a.len), "another profile gives other bytes");
	export_format_by_path("x.svg")->write(&empty, p, &o);
	ok(strstr(empty.data, "0 samples") && !strstr(empty.data, "nan") &&
			!strstr(empty.data, "inf\""),
		"the file of an empty profile says \"0 samples\"");
	buf_done(&a);
	buf_done(&b);
	buf_done(&empty);
	profile_free(p);
}

/* Boxes lie inside their parents without overlaps, and their widths are what was sampled. */
static void test_flame(void)
{
	struct profile *p = profile_new();
	struct profile_query q = {.to = UINT32_MAX, .thread = PROFILE_ANY_THREAD};
	uint64_t end[512] = {0};
	bool inside = true, sorted = true;
	struct flame *fl;
	struct feed f;

	feed_init(&f, p, &(struct feed_options){.stacks = 400});
	feed_all(&f, 1);
	fl = flame_new(p, &q, &(struct flame_options){.threads = true});
	for (uint32_t i = 0; i < fl->count; i++) {
		const struct flame_node *n = &fl->nodes[i];

		inside = inside && n->start >= (n->level ? end[n->level] : 0) &&
			 n->weight == n->count * f.o.interval;
		end[n->level] = n->start + n->total;
		end[n->level + 1] = n->start;
		inside = inside && (!n->level || end[n->level] <= end[n->level - 1]);
	}
	for (uint32_t i = 1; i < fl->name_count; i++)
		sorted = sorted && strcmp(fl->names[i - 1], fl->names[i]) < 0;
	ok(inside, "boxes of a flame graph lie inside their parents without overlaps");
	ok(sorted, "names of a flame graph are sorted and unique");
	is_int(fl->nodes[0].total, f.samples, "the root of a flame graph has all samples");
	flame_free(fl);
	feed_done(&f);
	profile_free(p);
}

/* --- files ------------------------------------------------------------------------------------------- */

/* True when the file's first line is `want`; for NULL, when there is no such file. */
static bool holds(const char *path, const char *want)
{
	char text[64] = "";
	FILE *f = fopen(path, "r");
	bool same;

	if (!f)
		return !want;
	same = want && fgets(text, sizeof(text), f) && !strcmp(text, want);
	fclose(f);
	return same;
}

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

static int write_to(const char *path, struct err *err)
{
	struct export_options o = {.query = {.to = UINT32_MAX, .thread = PROFILE_ANY_THREAD}};
	struct profile *p = profile_new();
	int result;

	memset(err, 0, sizeof(*err));
	fill_golden(p);
	result = export_write(path, export_format_by_path("x.collapsed"), p, &o, err);
	profile_free(p);
	return result;
}

static void is_refused(const char *path, const char *what, const char *part_of_hint)
{
	struct err err;

	is_int(write_to(path, &err), -1, what);
	ok(err.kind == ERR_OUTPUT && strstr(err.hint, part_of_hint), "the hint says \"%s\"",
		part_of_hint);
	if (!strstr(err.hint, part_of_hint))
		diag("%s / %s / %s", err.what, err.hint, err.details);
}

/* Number of the writer's temporary files in a folder. */
static int temporary_files(const char *where)
{
	DIR *d = opendir(where);
	int n = 0;

	for (struct dirent *e; d && (e = readdir(d));)
		n += strstr(e->d_name, ".part") != NULL;
	if (d)
		closedir(d);
	return n;
}

#define FIRST_LINE "java/lang/Thread.run;a/b/C$D.<init> 3\n"

static void test_files(void)
{
	const char *file = path_of("a.collapsed"), *link = path_of("link.collapsed");
	struct stat st;
	struct err err;

	is_int(write_to(file, &err), 0, "a new file can be written");
	ok(holds(file, FIRST_LINE), "a new file has its contents");
	write_text(file, "old\n");
	chmod(file, 0640);
	ok(symlink(file, link) == 0 && !write_to(link, &err) && holds(file, FIRST_LINE),
		"writing to a symbolic link replaces its target");
	ok(!lstat(link, &st) && S_ISLNK(st.st_mode), "writing to a symbolic link leaves the link");
	ok(!stat(file, &st) && (st.st_mode & 0777) == 0640, "a replaced file keeps its mode");
	is_int(temporary_files(folder), 0, "no temporary file is left");
	is_refused(folder, "writing to a folder is an error", "add a file name");
	is_refused(path_of("no/such/a.collapsed"),
		"writing into a folder that does not exist is an error", "mkdir -p");
	is_refused(path_of("a.collapsed/b.collapsed"), "writing below a file is an error",
		"a file, not a folder");
	is_refused("/dev/full", "writing to a full device is an error", "free some space");
	is_int(write_to("/dev/null", &err), 0, "writing to a device succeeds");
	ok(!stat("/dev/null", &st) && S_ISCHR(st.st_mode),
		"writing to a device does not replace it");
}

/* The child lowers its limit on the size of files, so the new file cannot be written. */
static void test_no_space(void)
{
	const char *file = path_of("space.collapsed");
	struct rlimit limit = {20, 20};
	int status;
	pid_t child;

	write_text(file, "old\n");
	fflush(stdout);
	child = fork();
	if (!child) {
		struct err err;

		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
		_exit(write_to(file, &err) == -1 && strstr(err.hint, "larger than allowed") ? 0
											    : 1);
	}
	ok(waitpid(child, &status, 0) == child && status == 0,
		"a file above the size limit is an error with a hint");
	ok(holds(file, "old\n"), "a file above the size limit leaves the old file intact");
	is_int(temporary_files(folder), 0, "a file above the size limit leaves no temporary file");
}

/* Runs a test that changes its user or its mounts, in a child. Its result is the exit status; 77: not permitted here. */
static void in_child(int (*test)(void), const char *what)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child)
		_exit(test());
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		tap_skip(what, "not allowed to set it up here");
	else
		ok(status == 0, "%s", what);
}

static int no_rights(void)
{
	struct err err;

	if (!geteuid() && setresuid(65534, 65534, 65534))
		return 77;
	if (write_to(path_of("shut/a.collapsed"), &err) != -1 ||
		!strstr(err.hint, "you may not write there"))
		return 1;
	return holds(path_of("shut/a.collapsed"), "old\n") ? 0 : 2;
}

static int small_disk(const char *options, unsigned long flags, const char *hint)
{
	const char *disk = path_of("disk"), *file = path_of("disk/a.collapsed");
	struct err err;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		mount("jhot", disk, "tmpfs", 0, options))
		return 77;
	write_text(file, "old\n");
	if (flags && mount("jhot", disk, "tmpfs", MS_REMOUNT | flags, NULL))
		return 77;
	if (!flags) { /* fill it to the last byte */
		char block[4096] = {0};
		int fd = open(path_of("disk/filler"), O_WRONLY | O_CREAT, 0600);

		while (write(fd, block, sizeof(block)) > 0)
			;
		close(fd);
	}
	if (write_to(file, &err) != -1 || !strstr(err.hint, hint))
		return 1;
	if (temporary_files(disk))
		return 2;
	return holds(file, "old\n") ? 0 : 3;
}

static int full_disk(void)
{
	return small_disk("size=64k", 0, "free some space");
}

static int read_only(void)
{
	return small_disk("size=64k", MS_RDONLY, "read-only");
}

static void test_disks(void)
{
	mkdir(path_of("shut"), 0755);
	write_text(path_of("shut/a.collapsed"), "old\n");
	if (geteuid()) {
		chmod(path_of("shut"), 0555);
	} else {
		chmod(folder, 0755);
		chmod(path_of("shut/a.collapsed"), 0644);
	}
	in_child(no_rights, "a folder without write permission is an error with a hint, and the "
			    "old file is intact");
	chmod(path_of("shut"), 0755);
	mkdir(path_of("disk"), 0755);
	in_child(full_disk, "a full disk is an error with a hint, leaves no temporary file, and "
			    "the old file is intact");
	in_child(read_only,
		"a read-only file system is an error with a hint, and the old file is intact");
}

static void format_value(char out[64], const char *unit, uint64_t value)
{
	struct buf b = {0};

	export_value(&b, unit, value);
	snprintf(out, 64, "%s", buf_str(&b));
	buf_done(&b);
}

static void value_ns(char out[64], uint64_t value)
{
	format_value(out, "ns", value);
}

static void value_bytes(char out[64], uint64_t value)
{
	format_value(out, "bytes", value);
}

static void value_events(char out[64], uint64_t value)
{
	format_value(out, "events", value);
}

static void test_magnitudes(void)
{
	static const struct magnitude_unit ns[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9},
		{"min", 60e9}, {"h", 3600e9}, {NULL, 0}};
	static const struct magnitude_unit bytes[] = {
		{"bytes", 1}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {NULL, 0}};
	static const struct magnitude_unit events[] = {{"events", 1}, {NULL, 0}};

	magnitude_check(value_ns, ns, INT64_MAX, 0.006, 16, "export_value of time");
	magnitude_check(value_bytes, bytes, INT64_MAX, 0.006, 18, "export_value of bytes");
	magnitude_check(value_events, events, INT64_MAX, 0, 32, "export_value of events");
}

int main(void)
{
	char command[64];

	if (!mkdtemp(folder))
		return 1;
	test_text();
	test_encoders();
	test_formats();
	test_collapsed();
	test_svg();
	test_locale();
	test_flame();
	test_files();
	test_no_space();
	test_disks();
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	test_magnitudes();
	return tap_done() | (system(command) != 0);
}
