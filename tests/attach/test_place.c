/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of the agent for a JVM, which this process plays: two of the same name, one after the other taken away; and what
 * is done where the agent has kept its file.
 */
#include "attach/place.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

	if (!place_prepare(&p, &self, getpid(), getpid(), &err) && !place_put(&p, getpid(), &err))
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
	is_int(place_prepare(&next, &self, getpid(), getpid(), &err), 0, "the next jhot comes");
	place_find_kept(&next, getpid());
	is_int(place_put(&next, getpid(), &err), 0, "and has something to load");
	is_str(next.path, path, "which is what the agent keeps");
	ok(next.dir < 0, "nothing is put into a folder");
	ok(!fstat(fd, &own) && !stat(next.path, &seen) && own.st_ino == seen.st_ino,
		"it can be opened");
	place_done(&next);
	close(fd);
	place_prepare(&next, &self, getpid(), getpid(), &err);
	place_find_kept(&next, getpid());
	is_int(place_put(&next, getpid(), &err), 0, "where that is closed");
	ok(there(&next) && strncmp(next.path, "/proc", 5) != 0, "there is a copy again");
	place_done(&next);
	close(read);
}

int main(void)
{
	const struct agent_file self = {.path = "/proc/self/exe"};
	struct place killed, next;
	struct err err;

	/* this program is a library as far as its file says */
	is_int(place_prepare(&killed, &self, getpid(), getpid(), &err), 0, "an agent is read");
	is_int(place_put(&killed, getpid(), &err), 0, "and copied to where the JVM can open it");
	ok(there(&killed), "the copy is there");
	is_int(place_prepare(&next, &self, getpid(), getpid(), &err), 0, "another jhot comes");
	is_int(place_put(&next, getpid(), &err), 0, "and copies it, too");
	is_str(next.path, killed.path, "to the same path");
	place_done(&killed);
	ok(there(&next), "when the first has done, the other's copy stays");
	place_done(&next);
	ok(!there(&next), "until that has done");
	test_kept();
	return tap_done();
}
