/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random keys, resizes and seconds; each screen afterwards must be complete and consistent. Meant for a build with
 * --enable-sanitizers=address,undefined.
 *
 *    test_fuzz [EVENTS [SEED]]
 */
#include "tests/tap.h"
#include "tests/tui/fake.h"
#include "tests/tui/fuzz.h"

struct run {
	struct fuzz f;
	struct fake fake;
};

static void random_event(struct run *r)
{
	struct fuzz *f = &r->f;
	uint32_t kind = fuzz_below(f, 20);
	char done = '@';

	if (kind < 16)
		done = fuzz_input(f, kind);
	else
		ui_tick(&f->ui, f->now += 250 + fuzz_below(f, 2000));
	f->history[f->at++ % sizeof(f->history)] = done;
	ui_draw(&f->ui);
	if (f->ui.attach_pid) {
		r->fake.end = fuzz_below(f, 3) ? 0 : r->fake.second + fuzz_below(f, 50);
		ui_attach(&f->ui, f->ui.attach_pid);
		ui_draw(&f->ui);
	}
}

static void fuzz(uint64_t seed, int events)
{
	struct app_options options = {.frame_fd = -1, .attached = seed % 3 != 0, .events = 0xf};
	struct run r = {.f.rng = 0x9e3779b97f4a7c15ull * (seed + 1)};
	struct ui *ui = &r.f.ui;
	int i;

	fake_init(&r.fake, 50);
	r.fake.timed = seed % 4 != 0;
	ui_init(ui, &fake_ops, &r.fake, &options, seed % 2);
	ui->job.slice = seed % 3 * 40;
	for (i = 0; i < events; i++) {
		random_event(&r);
		if (!fuzz_sound(ui->canvas) || !fuzz_list_sound(ui))
			break;
	}
	if (!ok(i == events, "seed %llu: every screen after %d events is complete",
		    (unsigned long long)seed, events))
		diag("event %d, %dx%d, view %d, last (# resize, + click, @ tick): %.*s", i,
			ui->canvas->cols, ui->canvas->rows, (int)ui->view, (int)sizeof(r.f.history),
			r.f.history);
	ui_done(ui);
	fake_done(&r.fake);
}

int main(int argc, char **argv)
{
	int events = argc > 1 ? atoi(argv[1]) : 1500;

	if (argc > 2) {
		fuzz(strtoull(argv[2], NULL, 0), events);
		return tap_done();
	}
	for (uint64_t seed = 1; seed <= 6; seed++)
		fuzz(seed, events);
	return tap_done();
}
