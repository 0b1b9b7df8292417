/* SPDX-License-Identifier: Apache-2.0 */
/* A profile is a model, and the scratch of those who ask it. */
#include "profile/profile.h"

#include "profile/query/query.h"

struct profile *profile_new(void)
{
	struct profile *p = model_new();

	p->scratch = scratch_new(p);
	return p;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	scratch_free(p->scratch);
	model_free(p);
}
