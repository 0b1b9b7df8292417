/* SPDX-License-Identifier: Apache-2.0 */
/* Names of break reasons. */
#include "walk/types.h"

const char *walk_break_name(enum walk_break why)
{
#define WALK_BREAK_NAME(name, text) text,
	static const char names[][24] = {WALK_BREAKS(WALK_BREAK_NAME)};

	if (why == WALK_COMPILING)
		return "[compiling]";
	return (unsigned)why < WALK_BREAK_COUNT ? names[why] : names[WALK_BREAK_NO_FRAME];
}
