/* SPDX-License-Identifier: Apache-2.0 */
/* base/file: a file is replaced only once its replacement is complete, for any kind of path. */
#include "base/file.h"
#include "tests/tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/jhot-file.XXXXXX";

static const char *path_of(const char *name)
{
	static char paths[8][512];
	static int next;

	snprintf(paths[next = (next + 1) % 8], sizeof(paths[0]), "%s/%s", folder, name);
	return paths[next];
}

static void set_up(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		diag("the test could not write %s", path);
	close(fd);
}

static bool holds(const char *path, const char *want)
{
	char text[64] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool read_it = fd >= 0 && read(fd, text, sizeof(text) - 1) >= 0;

	close(fd);
	return read_it && !strcmp(text, want);
}

static int put(const char *path, const char *text, struct err *err)
{
	memset(err, 0, sizeof(*err));
	return file_write_whole(path, text, strlen(text), err);
}

/* Number of our files in the folder besides the requested ones. */
static int litter(const char *where)
{
	DIR *d = opendir(where);
	int n = 0;

	for (struct dirent *e; d && (e = readdir(d));)
		n += strstr(e->d_name, "jhot-") != NULL;
	if (d)
		closedir(d);
	return n;
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_mode & 07777;
}

/* In a child, which may become the user nobody and lower its limits. */
static void in_child(int (*test)(void), const char *what)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child)
		_exit(test());
	ok(waitpid(child, &status, 0) == child && status == 0, "%s", what);
	if (status)
		diag("status %#x", (unsigned)status);
}

/* --- files ------------------------------------------------------------------------------------------- */

static void test_new(void)
{
	const char *file = path_of("new");
	char longest[256];
	struct err err;

	umask(027);
	ok(!put(file, "one", &err) && holds(file, "one"), "a new file is written");
	is_int(mode_of(file), 0640, "a new file's mode follows the umask");
	umask(022);
	memset(longest, 'x', 255);
	longest[255] = '\0';
	ok(!put(path_of(longest), "one", &err) && holds(path_of(longest), "one"),
		"a name of maximum length is accepted");
	ok(put(path_of("no/such"), "one", &err) == -1 && err.kind == ERR_OUTPUT &&
			strstr(err.hint, "mkdir -p"),
		"a missing folder is refused with a hint");
	ok(put(folder, "one", &err) == -1 && strstr(err.hint, "add a file name"),
		"a folder is refused with a hint");
	is_int(litter(folder), 0, "no temporary file is left");
}

static void test_old(void)
{
	const char *file = path_of("old");
	struct stat before, after;
	struct file f;
	struct err err;

	set_up(file, "old");
	chmod(file, 0604);
	stat(file, &before);
	is_int(file_check(file, &err), 0, "file_check accepts an existing file");
	stat(file, &after);
	ok(holds(file, "old") && before.st_ino == after.st_ino &&
			before.st_mtim.tv_nsec == after.st_mtim.tv_nsec,
		"file_check does not touch the file");
	ok(!file_check(path_of("none"), &err) && access(path_of("none"), F_OK),
		"file_check creates no file");
	ok(!file_create(&f, file, &err) && !file_write(f.fd, "new", 3) && holds(file, "old"),
		"the old file exists while the new one is written");
	file_appear(&f);
	ok(holds(file, "old"), "the old file still exists before the commit");
	file_abandon(&f);
	ok(holds(file, "old") && !litter(folder), "abandoning a file leaves the old one");
	ok(!file_create(&f, file, &err) && !file_write(f.fd, "new", 3) && !file_commit(&f, &err) &&
			holds(file, "new"),
		"committing a file replaces the old one");
	is_int(mode_of(file), 0604, "the new file has the old one's mode");
	is_int(litter(folder), 0, "no temporary file is left after the commit");
}

static void test_appear(void)
{
	const char *file = path_of("appears");
	struct file f;
	struct err err;

	file_create(&f, file, &err);
	file_write(f.fd, "half", 4);
	ok(access(file, F_OK) == -1, "a new file does not exist before file_appear");
	file_appear(&f);
	ok(holds(file, "half") && !litter(folder), "file_appear makes the incomplete file visible");
	file_write(f.fd, " and half", 9);
	ok(!file_commit(&f, &err) && holds(file, "half and half"),
		"writing continues under the final name");
	file_create(&f, file, &err);
	file_write(f.fd, "kept", 4);
	file_close_uncommitted(&f);
	ok(holds(file, "half and half") && litter(folder) == 1,
		"an unfinished file is kept beside the old one");
}

static void test_killed(void)
{
	int unnamed = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), before = litter(folder);
	struct file f;
	struct err err;
	pid_t child;

	if (unnamed < 0) {
		tap_skip("a writer that is killed", "no O_TMPFILE on this file system");
		return;
	}
	close(unnamed);
	child = fork();
	if (!child) {
		file_create(&f, path_of("killed"), &err);
		file_write(f.fd, "half", 4);
		raise(SIGKILL);
	}
	waitpid(child, NULL, 0);
	ok(litter(folder) == before && access(path_of("killed"), F_OK),
		"a writer that is killed leaves no file");
}

static void test_links(void)
{
	struct stat st;
	struct err err;

	mkdir(path_of("sub"), 0755);
	set_up(path_of("sub/real"), "old");
	ok(!symlink("sub/link", path_of("link")) && !symlink("real", path_of("sub/link")) &&
			!put(path_of("link"), "new", &err) && holds(path_of("sub/real"), "new"),
		"the target of a chain of links is replaced");
	ok(!lstat(path_of("link"), &st) && S_ISLNK(st.st_mode) &&
			!lstat(path_of("sub/link"), &st) && S_ISLNK(st.st_mode),
		"the links are kept");
	ok(!symlink("sub/later", path_of("dangling")) && !put(path_of("dangling"), "new", &err) &&
			holds(path_of("sub/later"), "new") && !lstat(path_of("dangling"), &st) &&
			S_ISLNK(st.st_mode),
		"the target of a dangling link is created");
	ok(!symlink("circle", path_of("circle")) && put(path_of("circle"), "new", &err) == -1 &&
			strstr(err.hint, "circle"),
		"a circular link is refused");
	set_up(path_of("elsewhere"), "mine");
	ok(!symlink("elsewhere", path_of("trap.part")) && !put(path_of("trap"), "new", &err) &&
			holds(path_of("trap"), "new") && holds(path_of("elsewhere"), "mine"),
		"a link at the temporary name is not followed");
}

/* --- what is no file --------------------------------------------------------------------------------- */

static int to_stdout(void)
{
	struct err err;
	int fd = open(path_of("stdout"), O_WRONLY | O_APPEND | O_CLOEXEC);

	dup2(fd, STDOUT_FILENO);
	return put("/dev/stdout", "new\n", &err) || put("/dev/fd/1", "newer\n", &err);
}

static int to_pipe(void)
{
	char text[8] = "";
	struct err err;
	int ends[2];

	if (pipe(ends))
		return 1;
	dup2(ends[1], STDOUT_FILENO);
	if (put("/dev/stdout", "new", &err))
		return 2;
	return read(ends[0], text, sizeof(text)) == 3 && !strcmp(text, "new") ? 0 : 3;
}

static void test_devices(void)
{
	struct stat st;
	struct err err;

	is_int(put("/dev/null", "new", &err), 0, "a device can be written to");
	ok(!stat("/dev/null", &st) && S_ISCHR(st.st_mode), "a device is not replaced");
	ok(put("/dev/full", "new", &err) == -1 && strstr(err.hint, "free some space"),
		"a device without space is refused with a hint");
	mkfifo(path_of("pipe"), 0600);
	is_int(file_check(path_of("pipe"), &err), 0,
		"file_check of a pipe does not wait for a reader");
	set_up(path_of("stdout"), "old\n");
	in_child(to_stdout, "/dev/stdout that is a file can be written to");
	ok(holds(path_of("stdout"), "old\nnew\nnewer\n"),
		"/dev/stdout that is a file is appended to, not replaced");
	in_child(to_pipe, "/dev/stdout that is a pipe can be written to");
}

/* --- folders that others write to ---------------------------------------------------------------------- */

#define OTHER 65534 /* a user that is not us */

static const char *as_other_path, *as_other_to;

static int other_links(void)
{
	return setresuid(OTHER, OTHER, OTHER) || symlink(as_other_to, as_other_path);
}

static int other_makes_file(void)
{
	if (setresuid(OTHER, OTHER, OTHER))
		return 1;
	set_up(as_other_path, "theirs");
	return chmod(as_other_path, 0600);
}

static int other_makes_fifo(void)
{
	return setresuid(OTHER, OTHER, OTHER) || mkfifo(as_other_path, 0666);
}

static int other_writes(void)
{
	struct err err;

	return setresuid(OTHER, OTHER, OTHER) || put(as_other_path, "by other", &err);
}

static void by_other(int (*act)(void), const char *path, const char *to, const char *what)
{
	as_other_path = path;
	as_other_to = to;
	in_child(act, what);
}

static bool refused_as_foreign(const char *path)
{
	struct err err;

	return put(path, "ours", &err) == -1 && strstr(err.what, "another user") && *err.hint;
}

/* Another user creates and removes a link while we write: what it leads to is never touched. */
static void test_race(const char *link_path, const char *to)
{
	struct err err;
	int written = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		if (setresuid(OTHER, OTHER, OTHER))
			_exit(1);
		for (;;) {
			(void)!symlink(to, link_path);
			unlink(link_path);
		}
	}
	for (int i = 0; i < 500 && holds(to, "mine"); i++) {
		written += !put(link_path, "ours", &err);
		unlink(link_path);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ok(holds(to, "mine"),
		"a link that another user creates and removes is not followed (%d of 500 written)",
		written);
	unlink(link_path);
}

static void test_shared_folder(mode_t mode)
{
	const char *shared = path_of(mode & S_ISVTX ? "sticky" : "writable");
	char file[600], theirs[600], inside[700], mine[600];
	struct stat st;
	struct err err;

	snprintf(file, sizeof(file), "%s/new", shared);
	snprintf(theirs, sizeof(theirs), "%s/theirs", shared);
	snprintf(mine, sizeof(mine), "%s", path_of("mine"));
	chmod(folder, 0755);
	mkdir(shared, 0777);
	chmod(shared, mode);
	set_up(mine, "mine");
	mkdir(path_of("private"), 0700);
	ok(!put(file, "ours", &err) && !stat(file, &st) && st.st_uid == geteuid() &&
			mode_of(file) == 0644 && !litter(shared),
		"mode %04o: a new file belongs to this user", (unsigned)mode);
	by_other(other_makes_file, theirs, NULL, "another user creates a file");
	ok(refused_as_foreign(theirs) && holds(theirs, "theirs") && !litter(shared),
		"another user's file is refused and not changed");
	ok(file_check(theirs, &err) == -1 && strstr(err.what, "another user"),
		"file_check reports another user's file");
	unlink(theirs);
	by_other(other_links, theirs, mine, "another user creates a link");
	ok(refused_as_foreign(theirs) && holds(mine, "mine"),
		"another user's link is not followed");
	unlink(theirs);
	by_other(
		other_links, theirs, path_of("private"), "another user creates a link to a folder");
	snprintf(inside, sizeof(inside), "%s/file", theirs);
	ok(refused_as_foreign(inside) && access(path_of("private/file"), F_OK),
		"another user's link to a folder is not followed");
	unlink(theirs);
	by_other(other_makes_fifo, theirs, NULL, "another user creates a pipe");
	ok(file_check(theirs, &err) == -1 && refused_as_foreign(theirs),
		"another user's pipe is not opened");
	unlink(theirs);
	ok(!symlink("new", theirs) && !put(theirs, "by link", &err) && holds(file, "by link"),
		"a link of this user is followed");
	if (mode & S_ISVTX)
		by_other(other_writes, path_of("sticky/others"), NULL,
			"another user can write to the shared folder");
	test_race(theirs, mine);
}

/* The folder that the path led to when the file was created is the one that gets it. */
static void test_exchanged(void)
{
	struct file f;
	struct err err;

	mkdir(path_of("folder"), 0755);
	mkdir(path_of("decoy"), 0755);
	set_up(path_of("decoy/file"), "mine");
	ok(!file_create(&f, path_of("folder/file"), &err) && !file_write(f.fd, "new", 3) &&
			!rename(path_of("folder"), path_of("away")) &&
			!symlink("decoy", path_of("folder")) && !file_commit(&f, &err),
		"a folder is replaced by a link while a file in it is written");
	ok(holds(path_of("away/file"), "new") && holds(path_of("decoy/file"), "mine") &&
			!litter(path_of("away")),
		"the file is in the folder in which it was begun");
}

/* --- what fails -------------------------------------------------------------------------------------- */

static int no_rights(void)
{
	struct err err;

	if (!geteuid() && setresuid(65534, 65534, 65534))
		return 1;
	if (put(path_of("shut/old"), "new", &err) != -1 || !strstr(err.hint, "you may not write"))
		return 2;
	if (file_check(path_of("shut/old"), &err) != -1 || !holds(path_of("shut/old"), "old"))
		return 3;
	if (put(path_of("open/readonly"), "new", &err) != -1)
		return 4;
	if (litter(path_of("shut")) || litter(path_of("open")))
		return 5;
	return holds(path_of("open/readonly"), "old") ? 0 : 6;
}

static int no_space(void)
{
	struct rlimit limit = {20, 20};
	char much[64] = "";
	struct err err;

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	if (file_write_whole(path_of("space"), much, sizeof(much), &err) != -1 ||
		!strstr(err.hint, "larger than allowed"))
		return 1;
	return holds(path_of("space"), "old") ? 0 : 2;
}

static void test_refused(void)
{
	int before = litter(folder);

	chmod(folder, 0755);
	mkdir(path_of("shut"), 0755);
	set_up(path_of("shut/old"), "old");
	chmod(path_of("shut/old"), 0666);
	chmod(path_of("shut"), 0555);
	mkdir(path_of("open"), 0755);
	set_up(path_of("open/readonly"), "old");
	chmod(path_of("open/readonly"), 0444);
	chmod(path_of("open"), 0777);
	in_child(no_rights, "a folder and a file without rights: a hint, and the old ones intact");
	chmod(path_of("shut"), 0755);
	set_up(path_of("space"), "old");
	in_child(no_space, "no space: a hint, and the old file intact");
	is_int(litter(folder), before, "no temporary file is left after failures");
}

int main(void)
{
	char remove[64];

	if (!mkdtemp(folder))
		tap_skip_all("no folder for files");
	test_new();
	test_old();
	test_appear();
	test_killed();
	test_links();
	test_devices();
	test_exchanged();
	if (geteuid()) {
		tap_skip("files of another user are refused", "only root can create them");
	} else {
		test_shared_folder(01777);
		test_shared_folder(0777);
	}
	test_refused();
	snprintf(remove, sizeof(remove), "rm -rf '%s'", folder);
	if (system(remove))
		diag("%s is left", folder);
	return tap_done();
}
