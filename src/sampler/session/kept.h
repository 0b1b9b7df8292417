/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JVM's memory that stays mapped, which handlers may read in place (walk/load/self.h), and the access to all other
 * memory. Publisher only.
 */
#ifndef JHOT_SAMPLER_SESSION_KEPT_H
#define JHOT_SAMPLER_SESSION_KEPT_H

#include "sampler/sampler.h"

/*
 * Enables sig_copy, through a descriptor if nothing else is permitted. False when that is forbidden, too. Called at the
 * start of a session and in every tick, since a sandbox may be set up at any time. Idempotent.
 */
bool kept_readable(struct sampler *s);
/* Disables sig_copy and closes the descriptor. */
void kept_end(struct sampler *s);

/* Registers libjvm. Call it before the layout is read. */
void kept_begin(struct sampler *s);
/* Registers the memory the layout describes. */
void kept_layout(struct sampler *s);
/* Registers memory that HotSpot has committed since the last call. */
void kept_update(struct sampler *s);

#endif
