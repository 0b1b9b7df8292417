/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that change. Each Java thread's java.lang.Thread is looked at by loads a few times a second: a handful, as
 * long as nothing has moved. That tells only that a name may be another one; what it is tells the JVM, to a visitor.
 * The thread then goes on under a new id, so that what was sampled before keeps its name. Publisher only.
 */
#ifndef JHOT_SAMPLER_SESSION_RENAMES_H
#define JHOT_SAMPLER_SESSION_RENAMES_H

#include "sampler/sampler.h"

void renames_tick(struct sampler *s, uint64_t now);

#endif
