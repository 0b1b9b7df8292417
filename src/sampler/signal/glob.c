/* SPDX-License-Identifier: Apache-2.0 */
/* Matches thread names against the pattern of the selection. */
#include "sampler/signal/signal.h"

/* Without recursion: on a mismatch, backtracks to the last star and extends its match by one character. */
static bool glob_matches(const char *glob, const char *glob_end, const char *name, const char *end)
{
	const char *star = NULL, *resume = NULL;

	while (name < end) {
		if (glob < glob_end && *glob == '*') {
			star = glob++;
			resume = name;
		} else if (glob < glob_end && (*glob == '?' || *glob == *name)) {
			glob++;
			name++;
		} else if (star) {
			glob = star + 1;
			name = ++resume;
		} else {
			return false;
		}
	}
	while (glob < glob_end && *glob == '*')
		glob++;
	return glob == glob_end;
}

bool glob_any(const char *pattern, const char *name, size_t bytes)
{
	bool more = true;

	if (!*pattern)
		return true;
	while (more) {
		size_t length = 0;

		while (pattern[length] && pattern[length] != '|')
			length++;
		if (glob_matches(pattern, pattern + length, name, name + bytes))
			return true;
		more = pattern[length] == '|';
		pattern += length + more;
	}
	return false;
}
