/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files written from the live view, by jhot over a recording: exports, recordings, settings; and where they cannot be
 * written, a message, without loss of data.
 */
#include "tests/tap.h"
#include "tests/tui/vt.h"

#include <glob.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char program[4096], recording[4096], folder[200], config[300];

static struct vt *start(const char *config_home)
{
	const char *env[] = {"LC_ALL=C.UTF-8", config_home, NULL};
	const char *argv[] = {program, "top", "--replay", recording, "--clock=step", NULL};
	struct vt_options o = {.rows = 24, .cols = 100, .setenv = env, .jhot = true};
	struct vt *vt = vt_open(&o, argv);

	vt_frame(vt);
	vt_keys(vt, "..");
	vt_wait(vt, "2s (window"); /* there are methods */
	return vt;
}

static void stop(struct vt *vt)
{
	int status;

	vt_keys(vt, "q");
	status = vt_end(vt);
	ok(WIFEXITED(status) && !WEXITSTATUS(status), "jhot exits with status 0");
	vt_close(vt);
}

/* The beginning of a file, "" if there is none. */
static const char *contents(const char *path)
{
	static char text[8192];
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	text[n] = '\0';
	return text;
}

/* True when the file can be read, and has only stacks of the recording that is shown. */
static bool is_whole(const char *path)
{
	char command[4 * 4096 + 300];

	snprintf(command, sizeof(command),
		"'%s' convert -o - '%s' >got 2>/dev/null && test -s got && "
		"'%s' convert -o - '%s' 2>/dev/null | cut -d' ' -f1 >all && cut -d' ' -f1 got | "
		"grep -qxFf all",
		program, path, program, recording);
	return !system(command);
}

/* Types a path into the export dialog in place of the proposed one. */
static void export_to(struct vt *vt, const char *path)
{
	vt_keys(vt, "x");
	vt_wait(vt, " export ");
	vt_keys(vt, "\025");
	vt_keys(vt, path);
	vt_wait(vt, path);
	vt_keys(vt, "\n");
	vt_frame(vt);
}

static void test_saves(void)
{
	struct vt *vt = start(config);
	glob_t found;

	vt_keys(vt, "S");
	vt_wait(vt, "saved everything to ");
	ok(glob("*-*-*.jhot", 0, NULL, &found) == 0 && found.gl_pathc == 1,
		"S writes one file with a generated name");
	ok(found.gl_pathc && vt_shows(vt, found.gl_pathv[0]),
		"the name of the file is on the screen");
	ok(found.gl_pathc && is_whole(found.gl_pathv[0]), "the file is a complete recording");
	globfree(&found);
	vt_keys(vt, "SS");
	vt_frame(vt);
	vt_keys(vt, "j");
	vt_frame(vt);
	glob("*-*-*.jhot", 0, NULL, &found);
	is_int(found.gl_pathc, 3, "pressing S three times writes three files");
	globfree(&found);

	export_to(vt, "a.collapsed");
	ok(vt_wait(vt, "wrote a.collapsed") && strchr(contents("a.collapsed"), ';'),
		"x writes the format of the suffix");
	is_int(truncate("a.collapsed", 0), 0, "the exported file is truncated for the test");
	export_to(vt, "a.collapsed");
	ok(vt_wait(vt, "Press Enter again to overwrite it") && !*contents("a.collapsed"),
		"an existing file is not overwritten at once");
	vt_keys(vt, "\n");
	ok(vt_wait(vt, "wrote a.collapsed") && *contents("a.collapsed"),
		"a second Enter overwrites the file");
	vt_keys(vt, "x");
	vt_wait(vt, " export ");
	vt_keys(vt, "\025b.collapsed\033[Z\033[Z\033[C\n"); /* two rows up, each thread apart */
	ok(vt_wait(vt, "wrote b.collapsed") && contents("b.collapsed")[0] == '[',
		"with threads apart the stacks begin with the thread");
	stop(vt);
}

static void test_failures(void)
{
	struct vt *vt = start(config);

	export_to(vt, "/proc/a.svg");
	ok(vt_wait(vt, "cannot write /proc/a.svg"),
		"a folder that cannot be written to is reported");
	vt_keys(vt, "\033");
	vt_wait(vt, "q quit");
	export_to(vt, "full.svg");
	vt_wait(vt, "Press Enter again to overwrite it");
	vt_keys(vt, "\n");
	ok(vt_wait(vt, "No space left on device"), "a full disk is reported");
	vt_keys(vt, "\033");
	vt_wait(vt, "q quit");
	export_to(vt, "a.nothing");
	ok(vt_wait(vt, "does not select a format"), "an unknown suffix is reported");
	vt_keys(vt, "\033");
	vt_wait(vt, "q quit");
	ok(vt_shows(vt, "METHOD") && strlen(vt_row(vt, 5)) > 20,
		"the data is still shown after failed exports");
	export_to(vt, "c.svg");
	ok(vt_wait(vt, "wrote c.svg"), "a later export succeeds");
	stop(vt);
}

static void test_settings(void)
{
	struct vt *vt = start(config);
	char path[400];

	snprintf(path, sizeof(path), "%s/config/jhot/config", folder);
	vt_keys(vt, "]]pW");
	ok(vt_wait(vt, "saved the settings to "), "W writes the settings and creates the folder");
	ok(strstr(contents(path), "\nwindow = 1m ") && strstr(contents(path), "\nnames = class "),
		"the current settings are written");
	stop(vt);
	vt = start(config);
	ok(vt_shows(vt, "window 1m"), "the settings are used by the next start");
	stop(vt);
	vt = start("XDG_CONFIG_HOME=/proc/nowhere");
	vt_keys(vt, "W");
	ok(vt_wait(vt, "The settings were not saved: cannot write /proc/nowhere/jhot/config"),
		"settings that cannot be written are reported");
	stop(vt);
}

/* Configured keys and colors. */
static void test_own(void)
{
	char path[400];
	struct vt *vt;
	FILE *f;
	int status;

	snprintf(path, sizeof(path), "%s/config/jhot/config", folder);
	f = fopen(path, "w");
	if (f) {
		fputs("mouse = on\nformat = .collapsed\nkeys {\n\tquit = X ^X\n}\n"
		      "colors {\n\tcursor = 231 on 196\n}\n",
			f);
		fclose(f);
	}
	vt = start(config);
	ok(vt_received(vt, "48;5;196m"), "a configured color is used");
	ok(vt_received(vt, "\033[?1000h"), "a configured mouse is enabled");
	ok(vt_shows(vt, "X quit"), "the key line shows a configured key");
	vt_keys(vt, "q");
	ok(vt_wait(vt, "no such key"), "the default key of a reconfigured command is unknown");
	vt_keys(vt, "x");
	ok(vt_wait(vt, ".collapsed "), "x offers the configured format");
	vt_keys(vt, "\033");
	vt_frame(vt);
	vt_keys(vt, "\030");
	status = vt_end(vt);
	ok(WIFEXITED(status) && !WEXITSTATUS(status) && !vt_shows(vt, "METHOD"),
		"the second configured key quits, and the screen is restored");
	vt_close(vt);
}

/* --keep: the last screen stays, as text. */
static void test_keep(void)
{
	static const char *const env[] = {"LC_ALL=C.UTF-8", "XDG_CONFIG_HOME=/nonexistent", NULL};
	const char *argv[] = {
		program, "top", "--replay", recording, "--clock=step", "--keep", NULL};
	struct vt_options o = {.rows = 30, .cols = 80, .setenv = env, .jhot = true};
	struct vt *vt = vt_open(&o, argv);
	int status;

	vt_frame(vt);
	vt_keys(vt, ".");
	vt_wait(vt, "METHOD");
	vt_keys(vt, "q");
	status = vt_end(vt);
	ok(WIFEXITED(status) && !vt_alt_screen(vt) && vt_shows(vt, "q quit"),
		"--keep leaves the last screen visible");
	vt_close(vt);
}

int main(void)
{
	const char *build = getenv("builddir"), *source = getenv("srcdir"), *tmp = getenv("TMPDIR");
	char here[3000], command[300];

	if (!getcwd(here, sizeof(here)))
		tap_skip_all("no folder");
	if (!build || *build != '/')
		build = here;
	snprintf(program, sizeof(program), "%s/jhot", build);
	snprintf(recording, sizeof(recording), "%s/tests/recording/compile.jhot",
		source ? source : here);
	snprintf(folder, sizeof(folder), "%s/jhot-files.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(folder) || chdir(folder) < 0 || symlink("/dev/full", "full.svg") < 0)
		tap_skip_all("no folder");
	snprintf(config, sizeof(config), "XDG_CONFIG_HOME=%s/config", folder);
	test_saves();
	test_failures();
	test_settings();
	test_own();
	test_keep();
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	if (system(command))
		diag("%s is left", folder);
	return tap_done();
}
