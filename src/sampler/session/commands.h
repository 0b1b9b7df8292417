/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands of the front end: one per sequence number, copied out of the shared map before it is
 * looked at. Publisher only.
 */
#ifndef JHOT_SAMPLER_SESSION_COMMANDS_H
#define JHOT_SAMPLER_SESSION_COMMANDS_H

#include "sampler/sampler.h"

/* Runs the command of this sequence number unless it is done; true when it changed something. */
bool commands_run(struct sampler *s, uint32_t seq);

#endif
