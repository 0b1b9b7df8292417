/* SPDX-License-Identifier: Apache-2.0 */
/* What the rest of the agent asks of the event of locks. */
#ifndef JHOT_SAMPLER_ENGINE_LOCK_LOCK_H
#define JHOT_SAMPLER_ENGINE_LOCK_LOCK_H

#include <stdint.h>

struct sampler;

/* WAIT records of waits that have become long, have another owner, or are over. */
void lock_publish(struct sampler *s);
/* Bytes of its memory that are in use. */
uint64_t lock_memory(const struct sampler *s);
/* The thread that looks at locks, 0 if there is none. */
int32_t lock_tid(const struct sampler *s);

/* circle.c: deadlocks, looked for while the event is off; told as WAIT records. Publisher only. */
void circles_open(struct sampler *s);
void circles_look(struct sampler *s, uint64_t now);
uint64_t circles_memory(const struct sampler *s);

#endif
