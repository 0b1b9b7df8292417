/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cancellation of long waits: the waiting function polls a callback about ten times a second, which can show progress and
 * cancel. Plain value; zero-initialized, the wait cannot be cancelled.
 */
#ifndef JHOT_BASE_PATIENCE_H
#define JHOT_BASE_PATIENCE_H

#include <stdbool.h>

struct patience {
	bool (*go_on)(void *ctx); /* false: cancel */
	void *ctx;
};

#define PATIENCE_STEP_MS 100

/* True while the wait may go on. */
static inline bool patience_left(const struct patience *p)
{
	return !p->go_on || p->go_on(p->ctx);
}

#endif
