/* SPDX-License-Identifier: Apache-2.0 */
/* One line on stderr that is written over. */
#include "cli/progress.h"

#include "base/clock.h"

#include <stdio.h>
#include <unistd.h>

#define FIRST_NS (1 * NS_PER_S)

static bool go_on(void *ctx)
{
	struct progress *p = ctx;
	uint64_t waited_ns = clock_mono_ns() - p->begin_ns;

	if (p->stop && *p->stop)
		return false;
	if (waited_ns < FIRST_NS || !isatty(STDERR_FILENO))
		return true;
	fprintf(stderr, "\r\033[Kattaching to %d %.40s ... %d s  (Ctrl-C gives up)",
		(int)p->jvm->pid, p->jvm->name, (int)(waited_ns / NS_PER_S));
	fflush(stderr);
	p->shown = true;
	return true;
}

struct patience progress_begin(
	struct progress *p, const struct hotspot *jvm, const volatile sig_atomic_t *stop)
{
	*p = (struct progress){.jvm = jvm, .stop = stop, .begin_ns = clock_mono_ns()};
	return (struct patience){go_on, p};
}

void progress_done(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}
