/* SPDX-License-Identifier: Apache-2.0 */
/* `jhot view`: a profile from a file in the live view. */
#include "base/buf.h"
#include "base/clock.h"
#include "cli/batch.h"
#include "cli/line/events.h"
#include "cli/line/verb.h"
#include "cli/live/live.h"
#include "cli/reading.h"
#include "cli/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FACTS 16

struct view_facts {
	struct app_fact list[FACTS + 1];
	char *texts[FACTS];
	int count;
};

static void fact_add(struct view_facts *f, const char *label, const char *text)
{
	if (f->count == FACTS || !*text)
		return;
	f->texts[f->count] = xstrdup(text);
	f->list[f->count] = (struct app_fact){label, f->texts[f->count]};
	f->count++;
}

static void view_facts(struct view_facts *f, const struct args *args, const struct imported *file)
{
	time_t start = (time_t)(profile_info(file->profile).start_wall_ns / NS_PER_S);
	char text[256];
	struct tm tm;

	for (int i = 0; i < args->operand_count; i++)
		fact_add(f, i ? "" : "file", args->operands[i]);
	if (args->operand_count == 1)
		fact_add(f, "format", file->format->what);
	fact_add(f, "host", file->host);
	snprintf(text, sizeof(text), file->vitals.pid > 0 ? "%d" : "", file->vitals.pid);
	fact_add(f, "process", text);
	fact_add(f, "program", *file->vitals.command ? file->vitals.command : file->vitals.name);
	fact_add(f, "JDK", file->vitals.jdk);
	if (start && localtime_r(&start, &tm) && strftime(text, sizeof(text), "%F %H:%M:%S", &tm))
		fact_add(f, "begins", text);
	snprintf(text, sizeof(text), file->duration_ns ? "%.1f s" : "",
		(double)file->duration_ns / (double)NS_PER_S);
	fact_add(f, "lasts", text);
	for (int i = 0; i < file->label_count; i++)
		fact_add(f, i ? "" : "labels", file->labels[i]);
	fact_add(f, "note", file->note);
}

/* Offers all events that have samples, and selects the one shown first: -e, else the first (cpu comes first). */
static int view_events(struct app_options *screen, struct events *events, const struct args *args,
	const struct profile *p, struct err *err)
{
	screen->event = -1;
	for (int i = 0; i < PROFILE_EVENTS; i++) {
		if (!events_sampled(p, i))
			continue;
		screen->events |= 1u << i;
		if (screen->event < 0)
			screen->event = i;
	}
	if (screen->event < 0)
		return err_set(err, ERR_INPUT, "%s has no samples.", args->operands[0]);
	if (events_of_profile(events, args, p, err))
		return -1;
	if (args_has(args, OPT_EVENT))
		screen->event = events->ids[0];
	return 0;
}

static int view_run(const struct args *args, const struct imported *file,
	struct app_options *screen, const struct batch *batch, struct err *err)
{
	const char *name = strrchr(args->operands[0], '/');
	struct view_facts facts = {.count = 0};
	struct app_file shown = {.host = file->host,
		.timed = file->timed,
		.vitals = profile_vitals_first(file->profile) != NULL,
		.facts = facts.list};
	struct events events;
	char title[128];

	if (reading_span(args, file, &shown.from, &shown.to, err) ||
		view_events(screen, &events, args, file->profile, err))
		return -1;
	snprintf(title, sizeof(title), "%s", name ? name + 1 : args->operands[0]);
	if (args->operand_count > 1)
		snprintf(title, sizeof(title), "%d files", args->operand_count);
	shown.name = strcmp(title, IMPORT_STDIN) ? title : "stdin";
	view_facts(&facts, args, file);
	int rc = live_show_file(file, &shown, &events, screen, batch, err);
	while (facts.count)
		free(facts.texts[--facts.count]);
	return rc;
}

static int run_view(const struct args *args, struct err *err)
{
	const char *path = args->operands[0];
	struct app_options screen = {.interval_ms = 1000};
	struct config *config = settings_load(err);
	struct imported *file = NULL;
	struct batch batch;
	int rc = -1;

	if (!config || screen_options(&screen, args, config, err) ||
		batch_options(&batch, args, err))
		goto out;
	if (!batch.wanted && screen_check_terminal("The live view", err)) {
		err_hint(err, "jhot convert %s                  prints the hot methods", path);
		err_hint(err, "jhot convert -o NAME.svg %s      draws a flame graph", path);
		err_hint(err, "jhot view --dump-screen 120x40 %s    prints a screen", path);
		goto out;
	}
	batch.count = 1; /* nothing would change */
	file = reading_operands(args, err);
	if (file)
		rc = view_run(args, file, &screen, &batch, err);
out:
	import_free(file);
	config_free(config);
	return rc;
}

const struct verb verb_view = {
	.bit = VERB_VIEW,
	.name = "view",
	.synopsis = "[OPTION]... FILE...",
	.help = "show profiles from files in the live view",
	.text = "The verb may be omitted: `jhot FILE` is `jhot view FILE`.\n\nReads the formats "
		"that `jhot convert` reads and merges several files. All views, searches, filters "
		"and "
		"exports are available. If a file records when its samples were taken, , and . "
		"move the window through its time, and [ and ] change its width. Press ? for the "
		"keys.\n\n"
		"With --dump-screen, one screen is printed and no terminal is needed.",
	.min_operands = 1,
	.max_operands = 10000,
	.run = run_view,
};
