/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of the agent for a JVM, which this process plays: two copies under one name, removed one after the other;
 * copies that the agent retains; choice of the folder.
 */
#include "attach/place.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct hotspot jvm; /* this process */

static bool exists(const struct place *p)
{
	return access(p->path, F_OK) == 0;
}

/* Opens a copy of the agent, as a JVM does, then removes it. Returns -1 on failure. */
static int open_removed(int flags)
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

static void test_retained(void)
{
	const struct agent_file self = {.path = "/proc/self/exe"};
	int read = open_removed(O_RDONLY), fd = open_removed(O_PATH);
	struct stat own, seen;
	struct place next;
	struct err err;
	char path[64];

	ok(read >= 0 && fd >= 0, "a loader opens a copy, and an agent retains one with O_PATH");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	is_int(place_prepare(&next, &self, &jvm, &err), 0,
		"place_prepare succeeds for the next jhot");
	place_find_retained(&next);
	is_int(place_write(&next, &err), 0, "place_write succeeds when the agent retains a copy");
	is_str(next.path, path, "the path to load is the descriptor that the agent retains");
	ok(next.dir < 0, "no folder is used when the agent retains a copy");
	ok(!fstat(fd, &own) && !stat(next.path, &seen) && own.st_ino == seen.st_ino,
		"the retained path opens the same inode");
	place_done(&next);
	close(fd);
	place_prepare(&next, &self, &jvm, &err);
	place_find_retained(&next);
	is_int(place_write(&next, &err), 0,
		"place_write succeeds after the retained descriptor was closed");
	ok(exists(&next) && strncmp(next.path, "/proc", 5) != 0,
		"without a retained copy, a new one is created outside /proc");
	place_done(&next);
	close(read);
}

/* Checks whether a temporary folder with this mode, inside a folder with mode `above`, is used for the copy. */
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
	ok(!place_write(&p, &err) && exists(&p) &&
			!strncmp(p.path, jvm.temp, strlen(jvm.temp)) == used,
		"%s: %s", what, p.path);
	place_done(&p);
	rmdir(jvm.temp);
	rmdir(folder);
	snprintf(jvm.temp, sizeof(jvm.temp), "/tmp");
}

/* If no folder is safe the copy is a memfd, which the JVM loads by its descriptor's path. */
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
		"without a safe folder the copy is a memfd: %s", p.path);
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
	/* the agent's content does not matter here: any file will do */
	is_int(place_prepare(&killed, &self, &jvm, &err), 0, "place_prepare reads the agent");
	is_int(place_write(&killed, &err), 0, "place_write copies it to where the JVM can open it");
	ok(exists(&killed), "the copy exists");
	is_int(place_prepare(&next, &self, &jvm, &err), 0,
		"place_prepare succeeds for a second jhot");
	is_int(place_write(&next, &err), 0, "place_write succeeds for a second jhot");
	is_str(next.path, killed.path, "both copies have the same path");
	place_done(&killed);
	ok(exists(&next), "the second jhot's copy survives the removal of the first's");
	place_done(&next);
	ok(!exists(&next), "the last place_done removes the copy");
	test_retained();
	expect_folder(0755, 0755, true, "a temporary folder of mode 0755 is used");
	expect_folder(01777, 0755, true, "a world-writable folder with the sticky bit is used");
	expect_folder(
		0777, 0755, false, "a world-writable folder without the sticky bit is not used");
	expect_folder(0775, 0755, false, "a group-writable folder is not used");
	expect_folder(0755, 0777, false, "a folder inside a world-writable folder is not used");
	test_memory();
	return tap_done();
}
