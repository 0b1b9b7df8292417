/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live view over the fake session, as a program for the terminal tests and for the eye:
 *
 *   fake_top [ascii|auto] [mono|16] [idle] [collects] [picker] [step] [keep] [crash|memory] [rate=N] [warm=SECONDS]
 *            [interval=MS] [frame=FD] [tick=FD]
 *
 * From the second tick on, crash raises SIGSEGV and memory fails an allocation: the terminal must be restored.
 */
#include "tests/tui/fake.h"

#include <signal.h>

struct run {
	struct fake fake;
	struct app_options options;
	unsigned rate, warm;
	int tick_fd;
	bool crash, memory;
};

static int crashing_drain(void *ctx, struct err *err)
{
	struct fake *f = ctx;

	if (f->second >= 2)
		raise(SIGSEGV);
	return fake_drain(ctx, err);
}

static int greedy_drain(void *ctx, struct err *err)
{
	struct fake *f = ctx;

	if (f->second >= 2)
		free(xreallocarray(NULL, SIZE_MAX, 2));
	return fake_drain(ctx, err);
}

static void parse_argument(struct run *r, const char *a)
{
	struct app_options *o = &r->options;

	o->charset = !strcmp(a, "ascii")  ? APP_CHARSET_ASCII
		     : !strcmp(a, "auto") ? APP_CHARSET_AUTO
					  : o->charset;
	o->color = !strcmp(a, "mono") ? APP_COLOR_NEVER
		   : !strcmp(a, "16") ? APP_COLOR_16
				      : o->color;
	o->clock_step |= !strcmp(a, "step");
	o->keep |= !strcmp(a, "keep");
	o->attached &= strcmp(a, "picker") != 0;
	r->fake.idle |= !strcmp(a, "idle");
	r->fake.collects |= !strcmp(a, "collects");
	r->crash |= !strcmp(a, "crash");
	r->memory |= !strcmp(a, "memory");
	sscanf(a, "rate=%u", &r->rate);
	sscanf(a, "warm=%u", &r->warm);
	sscanf(a, "interval=%lu", &o->interval_ms);
	sscanf(a, "frame=%d", &o->frame_fd);
	sscanf(a, "tick=%d", &r->tick_fd);
}

int main(int argc, char **argv)
{
	struct run r = {.rate = 400,
		.options = {.charset = APP_CHARSET_UTF8,
			.frame_fd = -1,
			.attached = true,
			.events = 0xf}};
	struct app_ops ops = fake_ops;
	struct err err = {0};
	bool idle, collects;
	int rc;

	for (int i = 1; i < argc; i++)
		parse_argument(&r, argv[i]);
	idle = r.fake.idle;
	collects = r.fake.collects;
	fake_init(&r.fake, r.rate);
	r.fake.idle = idle;
	r.fake.collects = collects;
	r.fake.tick_fd = r.tick_fd;
	for (unsigned i = 0; i < r.warm; i++)
		fake_second(&r.fake);
	if (r.crash)
		ops.drain = crashing_drain;
	if (r.memory)
		ops.drain = greedy_drain;
	rc = app_run(&ops, &r.fake, &r.options, &err);
	fake_done(&r.fake);
	if (rc < 0)
		fprintf(stderr, "%s\n%s\n", err.what, err.hint);
	return rc < 0 ? 1 : 0;
}
