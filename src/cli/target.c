/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and refusing in one step. */
#include "cli/target.h"

int target_find(const char *pid_or_name, struct hotspot *out, struct err *err)
{
	if (hotspot_find(pid_or_name, out, err))
		return -1;
	return out->verdict > HOTSPOT_UNKNOWN ? hotspot_refusal(out, err) : 0;
}
