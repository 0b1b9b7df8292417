/* SPDX-License-Identifier: Apache-2.0 */
/* The lock event: its interface to the rest of the agent. */
#ifndef JHOT_SAMPLER_ENGINE_LOCK_LOCK_H
#define JHOT_SAMPLER_ENGINE_LOCK_LOCK_H

#include <stdint.h>

struct sampler;

/* Publishes WAIT records of waits that have become long, have a new owner, or have ended. Publisher only. */
void lock_publish(struct sampler *s);
/* Bytes of the event's memory that are in use. */
uint64_t lock_memory(const struct sampler *s);
/* The tid of the thread that polls locks; 0 if there is none. */
int32_t lock_tid(const struct sampler *s);

/* cycle.c: deadlock detection while the event is off; reports WAIT records. Publisher only. `now` is in ns. */
void cycles_open(struct sampler *s);
void cycles_poll(struct sampler *s, uint64_t now);
uint64_t cycles_memory(const struct sampler *s);

#endif
