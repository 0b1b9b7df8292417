/* SPDX-License-Identifier: Apache-2.0 */
/* Starting and joining threads that never enter the VM. */
#include "sampler/task.h"

#include "sampler/signal/raw.h"

#include <pthread.h>

#include "sampler/compat.h"

int spawn(size_t stack_bytes, void *(*body)(void *), void *arg, unsigned long *thread)
{
	uint64_t mask = ~(1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGFPE - 1) |
			  1ull << (SIGILL - 1) | 1ull << (SIGTRAP - 1)),
		 before = 0;
	pthread_attr_t attr;
	pthread_t id;
	int error;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, stack_bytes);
	if (!thread)
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	raw(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before, sizeof(mask));
	error = pthread_create(&id, &attr, body, arg);
	raw(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
	pthread_attr_destroy(&attr);
	if (error == 0 && thread)
		*thread = (unsigned long)id;
	return error;
}

void spawn_join(unsigned long thread)
{
	pthread_join((pthread_t)thread, NULL);
}
