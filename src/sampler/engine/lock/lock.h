/* SPDX-License-Identifier: Apache-2.0 */
/* What the publisher does for the engine of locks: lock.c. */
#ifndef JHOT_SAMPLER_ENGINE_LOCK_LOCK_H
#define JHOT_SAMPLER_ENGINE_LOCK_LOCK_H

#include "sampler/sampler.h"

/* WAIT records of waits that have become long, have another owner, or are over. */
void lock_publish(struct sampler *s);
/* Bytes of its memory that are in use. */
uint64_t lock_memory(const struct sampler *s);
/* The thread that looks at locks, 0 if there is none. */
int32_t lock_tid(const struct sampler *s);
/* Gives its memory back. The engine is off. */
void lock_free(struct sampler *s);

#endif
