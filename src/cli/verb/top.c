/* SPDX-License-Identifier: Apache-2.0 */
/* `jhot top`, also `jhot` alone: the live view of one JVM, chosen by pid, by name or in the picker. */
#include "base/clock.h"
#include "cli/agent.h"
#include "cli/batch.h"
#include "cli/line/events.h"
#include "cli/line/units.h"
#include "cli/line/verb.h"
#include "cli/live/fleet.h"
#include "cli/live/live.h"
#include "cli/live/remote.h"
#include "cli/live/replay.h"
#include "cli/report.h"
#include "cli/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Options of the command line besides those of the screen. */
struct top {
	struct app_options screen;
	struct session_options session;
	struct events events; /* the first is shown first */
	struct config *config;
	struct batch batch;
	const char *replay;
	bool event_given;
	struct fleet *fleet;
	const char *target; /* pid, name or HOST:NAME, NULL: the picker */
	const struct args *args;
};

static int top_options(const struct args *args, struct top *t, struct err *err)
{
	const char *clock = args_get(args, OPT_CLOCK), *delay = args_get(args, OPT_DELAY);
	const struct config *config = t->config;
	uint64_t ns;

	*t = (struct top){
		.config = t->config,
		.screen = {.event = EVENT_CPU,
			.interval_ms = config->delay_ms ? config->delay_ms : 1000},
		.session = {.agent = cli_agent(args), .take_over = args_has(args, OPT_TAKE_OVER)},
		.replay = args_get(args, OPT_REPLAY),
		.event_given = args_has(args, OPT_EVENT),
		.target =
			args->operand_count && !args_has(args, OPT_ALL) ? args->operands[0] : NULL,
		.args = args,
	};
	t->screen.user_only = args_has(args, OPT_USER);
	t->screen.kernel_only = args_has(args, OPT_KERNEL);
	if (batch_options(&t->batch, args, err))
		return -1;
	if (clock && strcmp(clock, "step"))
		return err_set(err, ERR_USAGE, "--clock must be step, not \"%s\".", clock);
	/* Without a viewer a recording need not be replayed in real time. */
	t->screen.clock_step = clock || (t->batch.wanted && t->replay);
	if (args->operand_count > 1 && !args_has(args, OPT_ALL)) {
		err_set(err, ERR_USAGE, "Only one JVM can be watched at a time.");
		err_hint(err, "jhot top --all NAME...     shows several in one list");
		return -1;
	}
	if (t->replay && args->operand_count)
		return err_set(err, ERR_USAGE, "--replay and PID or NAME cannot be used together.");
	if (args_has(args, OPT_ALL) && t->session.take_over)
		return err_set(err, ERR_USAGE, "--all and --take-over cannot be used together.");
	if (clock && !t->replay)
		return err_set(err, ERR_USAGE, "--clock=step needs --replay FILE.");
	if (screen_options(&t->screen, args, config, err) ||
		events_parse(&t->events, args, config->event >= 0 ? config->event : EVENT_CPU, err))
		return -1;
	t->screen.event = t->events.ids[0];
	t->screen.events = (1u << EVENT_USER_FIRST) - 1;
	for (int i = 0; i < t->events.count; i++)
		t->screen.events |= 1u << t->events.ids[i];
	if (!delay)
		return 0;
	if (units_duration(delay, &ns, err))
		return -1;
	if (ns < 100 * NS_PER_MS)
		return err_set(
			err, ERR_USAGE, "--delay must be at least 0.1 s, not \"%s\".", delay);
	t->screen.interval_ms = ns / NS_PER_MS;
	return 0;
}

static int top_begin(struct live *live, struct top *t, struct err *err)
{
	struct progress progress;
	struct hotspot jvm;

	if (t->replay) {
		t->screen.attached = t->screen.recorded = true;
		if (!t->event_given)
			t->screen.event = replay_event(t->replay, t->screen.event);
		t->screen.events |= 1u << t->screen.event;
		return live_replay(live, t->replay, t->screen.clock_step, err);
	}
	if (t->fleet) {
		live_fleet(live, t->fleet);
		t->screen.instances = fleet_names(t->fleet);
		return 0;
	}
	if (!t->target)
		return 0;
	if (remote_is(t->target)) {
		struct remote *remote = remote_begin(t->target, t->args, err);

		t->screen.attached = true;
		return remote ? live_remote(live, remote, t->target, err) : -1;
	}
	if (hotspot_find_ready(t->target, &jvm, err))
		return -1;
	t->screen.attached = true;
	/* No signal is caught yet. */
	struct patience patience = progress_begin(&progress, &jvm, NULL);
	live_patience(live, &patience);
	int rc = live_attach(live, &jvm, t->screen.event, err);
	live_patience(live, &(const struct patience){0});
	progress_done(&progress);
	return rc;
}

/* A terminal that cannot move its cursor gets plain screens, one below the other. */
static void top_dumb(struct top *t)
{
	const char *term = getenv("TERM");

	if (t->batch.wanted || !isatty(STDOUT_FILENO) || (term && *term && strcmp(term, "dumb")))
		return;
	fprintf(stderr, "TERM=%s cannot move the cursor; printing plain screens until Ctrl-C.\n",
		term ? term : "");
	t->batch.wanted = true;
	t->screen.clock_step |= t->replay != NULL;
}

static int run_top(const struct args *args, struct err *err)
{
	struct top t = {0};
	int rc = -1;

	if (args_has(args, OPT_PRINT_CONFIG)) {
		settings_print();
		return 0;
	}
	t.config = settings_load(err);
	if (!t.config || top_options(args, &t, err))
		goto out;
	top_dumb(&t);
	if (args_has(args, OPT_ALL) && !(t.fleet = fleet_new(args, err)))
		goto out;
	if (t.batch.wanted && !t.target && !t.replay && !t.fleet) {
		err_set(err, ERR_USAGE,
			"Plain screens need a PID or NAME: the list of JVMs needs a terminal.");
		err_hint(err, "jhot list");
		goto out;
	}
	if (!t.batch.wanted && screen_check_terminal("The live view", err)) {
		err_hint(err, "jhot top -b -n 3 PID      prints plain screens");
		err_hint(err, "jhot record -d 5 PID      prints the hot methods");
		err_hint(err,
			"ssh -t HOST jhot PID      allocates a terminal, as docker run -it does");
		goto out;
	}
	struct live *live = live_new(&t.session, &t.events);
	rc = top_begin(live, &t, err);
	if (!rc && t.batch.wanted)
		rc = batch_run(&t.batch, &live_ops, live, &t.screen, &t.events, err);
	else if (!rc)
		rc = app_run(&live_ops, live, &t.screen, err);
	live_free(live);
out:
	fleet_free(t.fleet);
	config_free(t.config);
	return rc;
}

const struct verb verb_top = {
	.bit = VERB_TOP,
	.name = "top",
	.synopsis = "[OPTION]... [--all] [PID|NAME|HOST:NAME]...",
	.help = "show a JVM's hot methods live; without PID or NAME, choose it from a list",
	.text = "The verb may be omitted: `jhot PID` is `jhot top PID`.\n\n"
		"Press ? for the keys. q ends the view and the sampling, and asks first if "
		"more than a minute of samples has not been written to a file. When it cannot "
		"ask (SIGTERM, SIGHUP, a closed terminal, another JVM chosen, a lost "
		"session), such samples are saved to the current folder, or $HOME, as with S.\n\n"
		"HOST:PID or HOST:NAME watches a JVM on another host over ssh: a jhot there "
		"samples it and the screen is drawn here. If HOST has no jhot, this program "
		"is sent there, and removed at the end. The events are those of -e (cpu, lock "
		"and wall without), and cannot be changed later.\n\n"
		"With --all, all JVMs of the given names are listed, those of this host and of "
		"HOST:NAME, each sampled by a process of its own or watched if another jhot is "
		"sampling it: CPU in percent of a core, heap, time in collections, the hottest "
		"method of the last 10 s, and what `jhot why` would find. Enter opens the live "
		"view of one, Esc returns to the list. JVMs that start later are added.\n\n"
		"With -b, plain screens are printed every --delay seconds; with --json, one "
		"object per line and screen. Their size is that of the terminal, or LINES and "
		"COLUMNS, or 50 rows of 132 columns. -b is implied on a terminal that cannot "
		"move its cursor (TERM=dumb).\n\n"
		"Settings are read from $XDG_CONFIG_HOME/jhot/config or "
		"~/.config/jhot/config; see FILES. The command line overrides them.",
	.min_operands = 0,
	.max_operands = 64,
	.run = run_top,
};
