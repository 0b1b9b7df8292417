/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placing copies of the agent for a JVM, which this process plays: two of the same name, removed one after the other,
 * and what happens where the agent has kept its file.
 */
#include "attach/place.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct hotspot jvm; /* this process */

static bool there(const struct place *p)
{
	return access(p->path, F_OK) == 0;
}

/* The file as a JVM has it that opened it so before it was taken away. -1: it cannot be had. */
static int kept(int flags)
{
	const struct agent_file self = {.path = "/proc/self/exe"};
	struct place p;
	struct err err;
	int fd = -1;

	if (!place_prepare(&p, &self, &jvm, &err) && !place_write(&p, &err))
		fd = open(p.path, flags | O_CLOEXEC);
	place_done(&p);
	return fd;
}

static void test_kept(void)
{
	const struct agent_file self = {.path = "/proc/self/exe"};
	int read = kept(O_RDONLY), fd = kept(O_PATH);
	struct stat own, seen;
	struct place next;
	struct err err;
	char path[64];

	ok(read >= 0 && fd >= 0, "a loader reads a copy; an agent has kept another");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	is_int(place_prepare(&next, &self, &jvm, &err), 0, "the next jhot comes");
	place_find_retained(&next);
	is_int(place_write(&next, &err), 0, "and has something to load");
	is_str(next.path, path, "which is what the agent keeps");
	ok(next.dir < 0, "nothing is put into a folder");
	ok(!fstat(fd, &own) && !stat(next.path, &seen) && own.st_ino == seen.st_ino,
		"it can be opened");
	place_done(&next);
	close(fd);
	place_prepare(&next, &self, &jvm, &err);
	place_find_retained(&next);
	is_int(place_write(&next, &err), 0, "where that is closed");
	ok(there(&next) && strncmp(next.path, "/proc", 5) != 0, "there is a copy again");
	place_done(&next);
	close(read);
}

/* Which folder the file goes to when the temporary folder is this one, with this mode, in one of that mode. */
static void expect_folder(mode_t mode, mode_t above, bool used, const char *what)
{
	const struct agent_file self = {.path = "/proc/self/exe"};
	char folder[] = "/tmp/jhot-place.XXXXXX";
	struct place p;
	struct err err;

	if (!mkdtemp(folder))
		return;
	snprintf(jvm.temp, sizeof(jvm.temp), "%s/temp", folder);
	mkdir(jvm.temp, 0700);
	chmod(jvm.temp, mode);
	chmod(folder, above);
	place_prepare(&p, &self, &jvm, &err);
	ok(!place_write(&p, &err) && there(&p) &&
			!strncmp(p.path, jvm.temp, strlen(jvm.temp)) == used,
		"%s: %s", what, p.path);
	place_done(&p);
	rmdir(jvm.temp);
	rmdir(folder);
	snprintf(jvm.temp, sizeof(jvm.temp), "/tmp");
}

/* Where no folder will do it is memory, and the JVM loads it by the path of a descriptor. */
static void test_memory(void)
{
	const struct agent_file self = {.path = "/proc/self/exe"};
	struct stat st;
	struct place p;
	struct err err;

	place_prepare(&p, &self, &jvm, &err);
	for (size_t i = 0; i < PLACE_FOLDERS; i++)
		p.safe[i] = false;
	ok(!place_write(&p, &err) && !strncmp(p.path, "/proc/", 6) && !stat(p.path, &st) &&
			(size_t)st.st_size == p.agent.len,
		"without a safe folder it is memory: %s", p.path);
	place_done(&p);
}

int main(void)
{
	const struct agent_file self = {.path = "/proc/self/exe"};
	struct place killed, next;
	struct err err;

	jvm = (struct hotspot){.pid = getpid(),
		.nspid = getpid(),
		.euid = geteuid(),
		.egid = getegid(),
		.temp = "/tmp"};
	/* this program is a library as far as its file says */
	is_int(place_prepare(&killed, &self, &jvm, &err), 0, "an agent is read");
	is_int(place_write(&killed, &err), 0, "and copied to where the JVM can open it");
	ok(there(&killed), "the copy is there");
	is_int(place_prepare(&next, &self, &jvm, &err), 0, "another jhot comes");
	is_int(place_write(&next, &err), 0, "and copies it, too");
	is_str(next.path, killed.path, "to the same path");
	place_done(&killed);
	ok(there(&next), "when the first has done, the other's copy stays");
	place_done(&next);
	ok(!there(&next), "until that has done");
	test_kept();
	expect_folder(0755, 0755, true, "a folder of the user's own");
	expect_folder(01777, 0755, true, "one that everybody writes to, with the sticky bit");
	expect_folder(0777, 0755, false, "one that everybody writes to, without it");
	expect_folder(0775, 0755, false, "one that a group writes to");
	expect_folder(0755, 0777, false, "one in a folder that everybody writes to");
	test_memory();
	return tap_done();
}
