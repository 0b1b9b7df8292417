/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of events and of frame types. */
#include "profile/profile.h"

#include <string.h>

const struct profile_event profile_events[PROFILE_EVENTS] = {
	[EVENT_CPU] = {"cpu", "ns", "samples of CPU time", 10000000, true},
	[EVENT_ALLOC] = {"alloc", "bytes", "samples of allocated memory", 512 * 1024, false},
	[EVENT_LOCK] = {"lock", "ns", "waits for contended locks", 10000, true},
	[EVENT_WALL] = {"wall", "ns", "samples of wall-clock time", 50000000, true},
	[EVENT_USER_FIRST] = {"user1", "events", "samples of a chosen event", 1000, false},
	[EVENT_USER_FIRST + 1] = {"user2", "events", "samples of a chosen event", 1000, false},
	[EVENT_USER_FIRST + 2] = {"user3", "events", "samples of a chosen event", 1000, false},
	[EVENT_USER_FIRST + 3] = {"user4", "events", "samples of a chosen event", 1000, false},
};

const struct frame_type_info frame_types[FRAME_TYPES] = {
	[FRAME_COMPILED] = {'J', "compiled"},
	[FRAME_C1] = {'J', "C1-compiled"},
	[FRAME_INLINED] = {'i', "inlined"},
	[FRAME_INTERPRETED] = {'I', "interpreted"},
	[FRAME_JAVA] = {'J', "Java"},
	[FRAME_NATIVE] = {'n', "native"},
	[FRAME_VM] = {'v', "VM"},
	[FRAME_KERNEL] = {'k', "kernel"},
	[FRAME_CLASS] = {'c', "class"},
	[FRAME_BREAK] = {'?', "broken"},
};

int profile_event_find(const char *name)
{
	for (int i = 0; i < PROFILE_EVENTS; i++) {
		if (!strcmp(profile_events[i].name, name))
			return i;
	}
	return -1;
}
