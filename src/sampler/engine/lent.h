/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_events lent by the front end: for a JVM that may not open them itself (wire/lend.h).
 *
 * Threads begin on a CPU timer and are moved when theirs has come, which takes a tenth of a second. A lent one is kept with
 * its thread until that has ended, since cpu may be stopped and started again. The publisher's, all of it.
 */
#ifndef JHOT_SAMPLER_ENGINE_LENT_H
#define JHOT_SAMPLER_ENGINE_LENT_H

#include "sampler/sampler.h"

/*
 * lent_open: the number of the socket that the front end is to take, or -errno. It is in the program's table of descriptors,
 * where pidfd_getfd finds it, until the first datagram has come or the session ends.
 */
int lent_open(struct sampler *s);
/* lent_take: what has come, as long as there are descriptors for it. */
void lent_take(struct sampler *s);
/* lent_close: the session has ended, no engine is set any more. */
void lent_close(struct sampler *s);

#endif
