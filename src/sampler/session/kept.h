/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which memory of the JVM stays mapped, so that handlers may read it in place (walk/load/here.h), and how all other memory
 * is read. Publisher only.
 */
#ifndef JHOT_SAMPLER_SESSION_KEPT_H
#define JHOT_SAMPLER_SESSION_KEPT_H

#include "sampler/sampler.h"

/*
 * Sees to it that sig_copy works, by a descriptor where nothing else is allowed. False when that is forbidden, too. At the
 * beginning of a session, and again and again: a sandbox may be set up at any time.
 */
bool kept_readable(struct sampler *s);
/* The end of that. */
void kept_end(struct sampler *s);

/* Before the layout is read. */
void kept_begin(struct sampler *s);
/* Adds what the layout tells of. */
void kept_layout(struct sampler *s);
/* Adds what HotSpot has committed since the last call. */
void kept_update(struct sampler *s);

#endif
