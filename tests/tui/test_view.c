/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files in the live view, by jhot in a terminal: a file of each format opens with its data and its name, keys that
 * need a JVM say so, quitting leaves nothing behind, and an unreadable file is an error before any screen is drawn.
 */
#include "tests/tap.h"
#include "tests/tui/vt.h"

#include <glob.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALT_SCREEN "\033[?1049h"

static char program[4096], source[3500], folder[200];

static struct vt *start(const char *a, const char *b, const char *c)
{
	static const char *const env[] = {
		"LC_ALL=C.UTF-8", "XDG_CONFIG_HOME=/nonexistent", "TZ=UTC", NULL};
	const char *argv[] = {program, a, b, c, NULL};
	struct vt_options o = {.rows = 24, .cols = 80, .setenv = env, .jhot = true};

	return vt_open(&o, argv);
}

static int files_here(void)
{
	glob_t found;
	int n = glob("*", 0, NULL, &found) ? 0 : (int)found.gl_pathc;

	globfree(&found);
	return n;
}

/* The key shows this message, which Esc removes. */
static void says(struct vt *vt, const char *key, const char *text)
{
	vt_keys(vt, key);
	ok(vt_wait(vt, text), "key \"%s\" is answered by: %s", key, text);
	vt_keys(vt, "\033");
	vt_frame(vt);
}

static void quit(struct vt *vt, int files)
{
	struct termios modes;
	int status;

	vt_keys(vt, "q");
	status = vt_end(vt);
	ok(WIFEXITED(status) && !WEXITSTATUS(status), "q exits with status 0");
	vt_modes(vt, &modes);
	ok(!vt_alt_screen(vt) && !vt_shows(vt, "METHOD") && modes.c_lflag & ECHO,
		"the terminal is restored after q");
	is_int(files_here(), files, "the view has created no file");
	vt_close(vt);
}

/* Opens a file that convert made of a recording. timed: its format has timestamps. */
static void test_format(const char *file, const char *event, const char *tab, bool timed)
{
	int files = files_here();
	struct vt *vt;
	char title[100];

	diag("%s", file);
	vt = start("view", file, NULL);
	snprintf(title, sizeof(title), "jhot %s ", file);
	ok(vt_wait(vt, title) && vt_shows(vt, " FILE"), "the title names the file");
	ok(strstr(vt_row(vt, 0), event) && strstr(vt_row(vt, 1), tab),
		"the event %s is shown first", event);
	ok(vt_shows(vt, "Annotate$TypeAnnotate.visitMethodDef"), "the methods are shown");
	is_int(vt_shows(vt, "TREND"), timed, "the trend is shown only for files with times");

	says(vt, " ", "A recording is not live");
	says(vt, "r", "A recording is not live");
	says(vt, "d", "A recording does not change");
	says(vt, "c", "This is a recording, not a JVM");
	if (!timed)
		says(vt, ",", "have no timestamps");
	vt_keys(vt, "e");
	ok(vt_wait(vt, "events of the file"), "e lists the events of the file");
	vt_keys(vt, " ");
	ok(vt_wait(vt, "The events of a recording cannot be changed."),
		"the events of a file cannot be changed");
	vt_keys(vt, "\033");
	vt_frame(vt);
	vt_keys(vt, "?");
	ok(vt_wait(vt, "HELP: Methods") && !vt_shows(vt, "freeze") && !vt_shows(vt, "restart") &&
			!vt_shows(vt, "other JVM"),
		"the help omits keys that need a JVM");
	vt_keys(vt, "?");
	vt_frame(vt);

	vt_keys(vt, "I");
	snprintf(title, sizeof(title), "file        %s", file);
	ok(vt_wait(vt, title), "I names the file");
	ok(!strcmp(event, "samples") ||
			(vt_shows(vt, "begins      2026-") && vt_shows(vt, "process     14866")),
		"I gives the process and the start if the file has them");
	quit(vt, files);
}

static void test_without_a_verb(void)
{
	struct vt *vt = start("a.jhot", NULL, NULL);

	ok(vt_wait(vt, "jhot a.jhot "), "jhot FILE opens the file");
	quit(vt, files_here());
	vt = start("a.jfr", "a.jhot", "a.collapsed");
	ok(vt_wait(vt, "jhot 3 files "), "several files open as one profile");
	vt_keys(vt, "I");
	ok(vt_wait(vt, "a.collapsed") && vt_shows(vt, "a.jfr") && vt_shows(vt, "a.jhot"),
		"I names each of several files");
	quit(vt, files_here());
}

/* No screen opens, and the error can be read after jhot has ended. */
static void test_broken(const char *file, const char *sentence)
{
	struct vt *vt = start("view", file, NULL);
	int status = vt_end(vt);

	ok(WIFEXITED(status) && WEXITSTATUS(status) == 7, "%s: the exit status is 7", file);
	ok(!vt_received(vt, ALT_SCREEN), "no screen is opened for a broken file");
	ok(vt_shows(vt, sentence), "a broken file is reported: %s", sentence);
	vt_close(vt);
}

/* The data before the cut is shown, with a note that the rest is missing. */
static void test_cut(void)
{
	struct vt *vt = start("view", "cut.jhot", NULL);

	ok(vt_wait(vt, "jhot cut.jhot "), "a truncated recording opens");
	vt_keys(vt, "I");
	ok(vt_wait(vt, "the recording is incomplete"), "I says that the recording is incomplete");
	quit(vt, files_here());
}

static bool make_files(void)
{
	char command[sizeof(program) + sizeof(source) + 400];

	/* All formats of one recording, then damaged files. */
	snprintf(command, sizeof(command),
		"cp '%s/tests/recording/compile.jhot' a.jhot && '%s' convert -o a.collapsed "
		"-o a.pb.gz -o a.jfr a.jhot 2>/dev/null && : >empty.jfr && head -c 3000 a.jfr "
		">cut.jfr && head -c 500 a.pb.gz >cut.pb.gz && head -c 4000 a.jhot >cut.jhot && "
		"printf 'a;b 1\\na;b\\n' >line.folded",
		source, program);
	return !system(command);
}

int main(void)
{
	const char *build = getenv("builddir"), *top = getenv("srcdir"), *tmp = getenv("TMPDIR");
	char here[3000], command[300];

	if (!getcwd(here, sizeof(here)))
		tap_skip_all("no folder");
	snprintf(program, sizeof(program), "%s/jhot", build && *build == '/' ? build : here);
	snprintf(source, sizeof(source), "%s", top ? top : here);
	snprintf(folder, sizeof(folder), "%s/jhot-view.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(folder) || chdir(folder) < 0)
		tap_skip_all("no folder");
	ok(make_files(), "files of all formats are created");
	test_format("a.jhot", "cpu/perf 50Hz", "[1 cpu]", true);
	test_format("a.jfr", "cpu 50Hz", "[1 cpu]", true);
	test_format("a.pb.gz", "cpu 50Hz", "[1 cpu]", false);
	test_format("a.collapsed", "samples", "[5 samples]", false);
	test_without_a_verb();
	test_broken("empty.jfr", "empty.jfr is empty.");
	test_broken("cut.jfr", "the file ends within a chunk");
	test_broken("cut.pb.gz", "cut.pb.gz is truncated");
	test_broken("line.folded", "line 2");
	test_broken("none.jhot", "No such file");
	test_cut();
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	if (system(command))
		diag("%s is left", folder);
	return tap_done();
}
