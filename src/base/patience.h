/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether to go on waiting: asked some ten times a second by whatever takes long, so that who waits can be told, and can
 * end it. Plain value; zero bytes wait as long as it takes.
 */
#ifndef JHOT_BASE_PATIENCE_H
#define JHOT_BASE_PATIENCE_H

#include <stdbool.h>

struct patience {
	bool (*go_on)(void *ctx); /* false: give up */
	void *ctx;
};

#define PATIENCE_STEP_MS 100

static inline bool patience_left(const struct patience *p)
{
	return !p->go_on || p->go_on(p->ctx);
}

#endif
