/* SPDX-License-Identifier: Apache-2.0 */
/* Bare threads of the agent: no signal reaches them but those that a fault of their own would raise. */
#ifndef JHOT_SAMPLER_SPAWN_H
#define JHOT_SAMPLER_SPAWN_H

#include <stddef.h>
#include <stdint.h>

struct spawn {
	const char *name; /* as the kernel shows it */
	size_t stack_bytes;
	void *(*body)(void *);
	void *arg;
	_Atomic int32_t *
		tid; /* set when spawn returns: whoever lists threads knows it for the agent's own */
	unsigned long *thread; /* for spawn_join; NULL: nobody waits for its end */
};

/* spawn: 0 or an error number. */
int spawn(const struct spawn *how);
void spawn_join(unsigned long thread);
/*
 * The calling thread looks at others at times of its own choice: it wants to run when its time has come. Where it has to
 * wait for a CPU, it runs as soon as somebody begins to wait, and finds more who wait than there are.
 */
void spawn_punctual(void);

#endif
