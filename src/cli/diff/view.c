/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison in the live view: shows B, with its change from A beside each row. */
#include "base/buf.h"
#include "base/clock.h"
#include "cli/batch.h"
#include "cli/diff/diff.h"
#include "cli/live/live.h"
#include "cli/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FACTS_MOST (2 * DIFF_RUNS)

static int view_check(const struct batch *batch, struct err *err)
{
	if (batch->wanted || !screen_check_terminal("--view", err))
		return 0;
	err_hint(err, "jhot diff BEFORE AFTER     prints the table");
	return -1;
}

/* Which files there are on which side. */
static void view_facts(const struct comparison *c, struct app_fact facts[FACTS_MOST + 1])
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		const char *label = side == DIFF_A ? "A" : "B";

		for (int i = 0; i < c->diff->runs[side]; i++, label = "")
			*facts++ = (struct app_fact){label, c->files[side][i]};
	}
	*facts = (struct app_fact){NULL, NULL};
}

static int view_run(const struct comparison *c, struct app_options *screen,
	const struct batch *batch, struct err *err)
{
	const struct diff *d = c->diff;
	struct imported *file = xcalloc(1, sizeof(*file));
	struct app_fact facts[FACTS_MOST + 1];
	struct app_file shown = {.name = "B vs A",
		.host = "",
		.from = DIFF_B,
		.to = UINT32_MAX,
		.compared = true,
		.facts = facts};
	struct events events = {.count = 0};
	int rc;

	view_facts(c, facts);
	file->profile = d->both;
	vitals_unknown(&file->vitals);
	file->duration_ns = (uint64_t)(d->seconds[DIFF_B] / d->runs[DIFF_B] * (double)NS_PER_S);
	events_insert(&events, d->both, d->query_all.event);
	screen->event = d->query_all.event;
	screen->events = 1u << d->query_all.event;
	rc = live_file_show(file, &shown, &events, screen, batch, err);
	free(file);
	return rc;
}

int comparison_view(const struct comparison *c, const struct args *args, struct err *err)
{
	struct app_options screen = {.interval_ms = 1000};
	struct config *config = settings_load(err);
	struct batch batch;
	int rc = -1;

	if (config && !screen_options(&screen, args, config, err) &&
		!batch_options(&batch, args, err) && !view_check(&batch, err)) {
		batch.count = 1; /* nothing would change */
		rc = view_run(c, &screen, &batch, err);
	}
	config_free(config);
	return rc;
}
