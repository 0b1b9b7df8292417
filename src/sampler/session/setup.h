/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning of a session on its own thread: what takes a few milliseconds and needs no VM. */
#ifndef JHOT_SAMPLER_SESSION_SETUP_H
#define JHOT_SAMPLER_SESSION_SETUP_H

#include "sampler/sampler.h"

/*
 * Afterwards handlers may run and the status page says READY. What is degraded is in the status
 * page.
 */
void setup_session(struct sampler *s);

#endif
