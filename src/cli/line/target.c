/* SPDX-License-Identifier: Apache-2.0 */
/* Finding, waiting for one that has just been started, and refusing in one step. */
#include "cli/line/target.h"

#include <poll.h>
#include <stddef.h>

#define STARTING_LOOKS    100
#define STARTING_PAUSE_MS 100

/* `java ... & jhot record $!`: what takes no requests yet will do so soon. */
static int target_await(struct hotspot *jvm, struct err *err)
{
	for (int i = 0; jvm->starting && i < STARTING_LOOKS; i++) {
		poll(NULL, 0, STARTING_PAUSE_MS);
		if (hotspot_check(jvm->pid, jvm, err))
			return -1;
	}
	return 0;
}

int target_find(const char *pid_or_name, struct hotspot *out, struct err *err)
{
	if (hotspot_find(pid_or_name, out, err) || target_await(out, err))
		return -1;
	return out->verdict > HOTSPOT_UNKNOWN ? hotspot_refusal(out, err) : 0;
}
