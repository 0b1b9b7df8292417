/* SPDX-License-Identifier: Apache-2.0 */
/* Bare threads of the agent: no signal reaches them but those that a fault of their own would raise. */
#ifndef JHOT_SAMPLER_SPAWN_H
#define JHOT_SAMPLER_SPAWN_H

#include <stddef.h>

/* spawn: 0 or an error number. thread: for spawn_join; NULL: nobody waits for its end. */
int spawn(size_t stack_bytes, void *(*body)(void *), void *arg, unsigned long *thread);
void spawn_join(unsigned long thread);

#endif
