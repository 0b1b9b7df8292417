/* SPDX-License-Identifier: Apache-2.0 */
/* Called by Upcalls.java: C functions that call back into Java. Compiled without frame pointers. */
#include <pthread.h>
#include <stdint.h>

struct wide {
	int64_t a, b, c;
};

typedef int64_t leaf_fn(int64_t x);

/* The addition after the call prevents a tail call. */
int64_t c_call(leaf_fn *up, int64_t x)
{
	volatile int64_t kept = x;

	return up(x) + kept;
}

/* A frame of more than a page. */
int64_t c_large(leaf_fn *up, int64_t x)
{
	volatile char kept[6000];

	kept[x & 4095] = 1;
	return up(x) + kept[x & 4095];
}

/* The result is too large for registers: Java writes it into a buffer of the caller. */
int64_t c_wide(struct wide (*up)(double, int64_t, struct wide), int64_t x)
{
	struct wide in = {x, 2, 3}, out = up(1.5, x, in);

	return out.a + out.b + out.c;
}

int64_t c_spin(int64_t x)
{
	volatile uint64_t y = (uint64_t)x;

	for (int i = 0; i < 2000; i++)
		y = y * 31 + (unsigned)i;
	return (int64_t)y;
}

struct birth {
	leaf_fn *up;
	int64_t times, sum;
};

static void *c_thread(void *arg)
{
	struct birth *b = arg;

	for (int64_t i = 0; i < b->times; i++)
		b->sum += c_call(b->up, i);
	return NULL;
}

/* A thread that is unknown to the JVM calls Java this many times. */
int64_t c_birth(leaf_fn *up, int64_t times)
{
	struct birth b = {up, times, 0};
	pthread_t thread;

	if (pthread_create(&thread, NULL, c_thread, &b))
		return -1;
	pthread_join(thread, NULL);
	return b.sum;
}
