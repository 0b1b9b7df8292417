/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The samples of one window of one event, kept however old they get: what a later one is compared with.
 *
 * Set in a query it stands for the query's seconds; thread and filter apply as ever. Owned by the caller;
 * good for the profile that it was taken of. Costs 24 bytes per distinct stack and thread of the window.
 */
#ifndef JHOT_PROFILE_QUERY_SNAPSHOT_H
#define JHOT_PROFILE_QUERY_SNAPSHOT_H

#include "profile/profile.h"

/* Of the query's event and seconds, whatever its thread and filter. */
struct profile_snapshot *profile_snapshot_new(
	const struct profile *p, const struct profile_query *q);
void profile_snapshot_free(struct profile_snapshot *s);

#endif
