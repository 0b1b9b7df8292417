/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of the agent for a JVM, which this process plays: two of the same name, one after the other taken away. */
#include "attach/place.h"
#include "tests/tap.h"

#include <unistd.h>

static bool there(const struct place *p)
{
	return access(p->path, F_OK) == 0;
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
	return tap_done();
}
