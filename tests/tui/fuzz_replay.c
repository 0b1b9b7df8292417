/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random keys, clicks, sizes and seconds over a recording, in jhot's own code built with the address and
 * undefined-behavior sanitizers. After each the screen must be complete.
 *
 *   fuzz_replay RECORDING             a few seeds, as a test
 *   fuzz_replay RECORDING SECONDS     seeds for so long; prints a line of counts and the outcome
 *   fuzz_replay RECORDING 0 SEED      one seed, to reproduce a fault
 */
#include "tests/tap.h"
#include "tests/tui/fuzz.h"

#include "base/clock.h"
#include "cli/agent.h"
#include "cli/live/live.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#define EVENTS     3000 /* per seed, in a test */
#define LONG_RUN   6000
#define TEST_SEEDS 8

struct totals {
	uint64_t seeds, events, seconds, resizes, clicks;
};

/* Nothing is attached to. */
struct agent_file cli_agent(const struct args *args)
{
	return (struct agent_file){0};
}

/* Text typed into a dialog must not create files anywhere: all are written under one name, to this test's folder. */
static int save_nowhere(void *ctx, const char *path, char *done, size_t bytes, struct err *err)
{
	int rc = unlink("fuzz.jhot") && errno != ENOENT
			 ? -1
			 : live_ops.save(ctx, "fuzz.jhot", done, bytes, err);

	(void)path;
	return rc;
}

static int export_nowhere(
	void *ctx, const struct app_export *what, char *done, size_t bytes, struct err *err)
{
	const char *dot = strrchr(what->path, '.');
	struct app_export there = *what;
	char path[300];

	snprintf(path, sizeof(path), "fuzz%s", dot && !strchr(dot, '/') ? dot : "");
	there.path = path;
	return live_ops.export(ctx, &there, done, bytes, err);
}

static int settings_nowhere(
	void *ctx, const struct config_values *values, char *done, size_t bytes, struct err *err)
{
	return err_set(err, ERR_OUTPUT, "not here");
}

/* JVMs of this machine must not be attached to: the picker offers only the recording itself. */
static int list_one(void *ctx, const struct app_jvm **out, struct err *err)
{
	static const struct app_jvm jvm = {.id = 1,
		.pid = 1,
		.user = "fuzz",
		.name = "recording",
		.attach = "ok",
		.can_attach = true};

	*out = &jvm;
	return 1;
}

/* The recording's path, for attach_again(), which has only the arguments of app_ops. */
static const char *recorded;

static int attach_again(void *ctx, int pid, int event, struct err *err)
{
	return live_replay(ctx, recorded, true, err);
}

static void one_event(struct fuzz *f, struct live *live, struct totals *t)
{
	uint32_t kind = fuzz_below(f, 20);
	char done = '@';

	if (kind < 16) {
		done = fuzz_input(f, kind);
	} else {
		if (f->ui.profile && !live_ops.step(live))
			done = '.';
		ui_tick(&f->ui, f->now += 1000);
		t->seconds++;
	}
	t->events++;
	t->resizes += kind == 0;
	t->clicks += kind == 1;
	f->history[f->at++ % sizeof(f->history)] = done;
	ui_draw(&f->ui);
}

static bool fuzz_seed(const char *recording, uint64_t seed, int events, struct totals *t)
{
	struct session_options session = {0};
	struct app_options how = {.event = EVENT_CPU,
		.events = seed % 3 ? 1 : 0xf,
		.frame_fd = -1,
		.attached = true,
		.clock_step = true};
	struct fuzz f = {.rng = 0x9e3779b97f4a7c15ull * (seed + 1)};
	struct events sampled = {0};
	struct live *live = live_new(&session, &sampled);
	struct app_ops ops = live_ops;
	struct err err = {0};
	int i;

	ops.export = export_nowhere;
	ops.save = save_nowhere;
	ops.config_write = settings_nowhere;
	ops.list = list_one;
	ops.attach = attach_again;
	recorded = recording;
	if (live_replay(live, recording, true, &err) < 0) {
		diag("%s", err.what);
		live_free(live);
		return false;
	}
	ui_init(&f.ui, &ops, live, &how, seed % 2);
	f.ui.job.slice = seed % 3 * 40;
	for (i = 0; i < events; i++) {
		one_event(&f, live, t);
		if (!fuzz_sound(f.ui.canvas) || !fuzz_list_sound(&f.ui))
			break;
		if (f.ui.attach_pid || (!f.ui.profile && !fuzz_below(&f, 30)))
			ui_attach(&f.ui, 1);
	}
	if (i < events)
		diag("seed %llu, event %d, %dx%d, view %d, last: %.*s", (unsigned long long)seed, i,
			f.ui.canvas->cols, f.ui.canvas->rows, (int)f.ui.view,
			(int)sizeof(f.history), f.history);
	if (i < events) {
		const struct list *l = ui_list(&f.ui);

		diag("list: %d rows, %d shown, top %d, cursor %d; screen %s", l->count, l->rows,
			l->top, l->cursor, fuzz_sound(f.ui.canvas) ? "complete" : "incomplete");
	}
	ui_done(&f.ui);
	live_free(live);
	t->seeds++;
	return i == events;
}

static bool run_for(const char *recording, int seconds)
{
	uint64_t start = clock_mono_ns(), end = start + (uint64_t)seconds * NS_PER_S;
	uint64_t seed = clock_wall_ns() / NS_PER_S * 1000;
	struct totals t = {0};
	bool good = true;

	for (; good && clock_mono_ns() < end; seed++) {
		fprintf(stderr, "\rseed %llu ", (unsigned long long)seed); /* known if it crashes */
		good = fuzz_seed(recording, seed, LONG_RUN, &t);
	}
	fprintf(stderr, "\r\033[K");
	printf("fuzz: %.0f s, %llu seeds, %llu events (%llu sizes, %llu clicks, %llu recorded "
	       "seconds): %s\n",
		(double)(clock_mono_ns() - start) / (double)NS_PER_S, (unsigned long long)t.seeds,
		(unsigned long long)t.events, (unsigned long long)t.resizes,
		(unsigned long long)t.clicks, (unsigned long long)t.seconds,
		good ? "no fault found" : "a screen was incomplete");
	return good;
}

int main(int argc, char **argv)
{
	const char *source = getenv("srcdir"), *tmp = getenv("TMPDIR");
	char folder[300], recording[PATH_MAX], real[PATH_MAX], command[400];
	struct totals t = {0};
	bool good = true;

	snprintf(recording, sizeof(recording), "%s/tests/tui/h2.jhot", source ? source : ".");
	if (argc > 1)
		snprintf(recording, sizeof(recording), "%s", argv[1]);
	if (*recording != '/' && realpath(recording, real))
		snprintf(recording, sizeof(recording), "%s", real);
	snprintf(folder, sizeof(folder), "%s/jhot-fuzz.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(folder))
		tap_skip_all("no folder");
	if (chdir(folder) < 0)
		return 1;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	if (argc > 3) {
		ok(fuzz_seed(recording, strtoull(argv[3], NULL, 0), LONG_RUN, &t),
			"seed %s: every screen is complete", argv[3]);
	} else if (argc > 2) {
		good = run_for(recording, atoi(argv[2]));
	} else {
		for (uint64_t seed = 1; seed <= TEST_SEEDS; seed++)
			ok(fuzz_seed(recording, seed, EVENTS, &t),
				"seed %d: every screen after %d events is complete", (int)seed,
				EVENTS);
	}
	if (system(command))
		diag("%s is left", folder);
	return argc == 3 ? !good : tap_done();
}
