/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of `jhot top --all`: figures of the last seconds, the hottest method, and the worst finding. */
#include "cli/live/fleet.h"

#include "base/buf.h"
#include "base/clock.h"
#include "profile/table/flat.h"
#include "tui/screen/name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_S  10u             /* of the hottest method */
#define JUDGED_S  60u             /* of the findings */
#define JUDGE_S   5u              /* between evaluations */
#define FIRST_S   10u             /* silence of the rules means "ok" from this second on */
#define BUSY_NS   (15 * NS_PER_S) /* the longest wait for that second */
#define HOT_WIDTH 60

/* The method with the most self time, of cpu or else of the first event that has samples. */
static void find_hottest(struct instance *i, const struct profile *p, uint32_t now)
{
	struct profile_query q = profile_whole(EVENT_CPU);
	const struct flat_row *hottest = NULL;
	struct flat *flat;

	i->hot_pct = -1;
	i->hot[0] = '\0';
	q.by_weight = true;
	q.without_idle = true;
	q.from = now > WINDOW_S ? now - WINDOW_S : 0;
	q.to = now + 1;
	while (q.event + 1 < EVENT_USER_FIRST && !profile_sum(p, &q).count)
		q.event++;
	flat = flat_new(p, &q);
	for (uint32_t k = 0; k < flat->count; k++)
		if (!hottest || flat_compare(&flat->rows[k], hottest) < 0)
			hottest = &flat->rows[k];
	if (hottest && hottest->self) {
		i->hot_pct = (int)(flat_percent(hottest->self, flat->sum) + 0.5);
		name_fit(i->hot, sizeof(i->hot), profile_get_method(p, hottest->method), HOT_WIDTH,
			NAME_CLASS, "~");
	}
	flat_free(flat);
}

static void judge(struct instance *i, const struct profile *p, const struct vitals *v, uint32_t now)
{
	if (!i->findings)
		i->findings = findings_new();
	findings_vitals(i->findings, v);
	if (now < i->judged + JUDGE_S)
		return;
	i->judged = now;
	i->found = findings_evaluate(i->findings, p, now > JUDGED_S ? now - JUDGED_S : 0, now + 1);
}

static void row_verdict(const struct instance *i, struct app_jvm *row)
{
	static const char *const states[] = {[INSTANCE_WAITING] = "waiting",
		[INSTANCE_STARTING] = "attaching",
		[INSTANCE_ENDED] = "ended"};
	const struct finding *worst = i->found ? findings_get(i->findings, 0) : NULL;

	if (i->state != INSTANCE_RUNNING) {
		snprintf(row->verdict, sizeof(row->verdict), "%s",
			i->refused ? "refused" : states[i->state]);
		snprintf(row->why, sizeof(row->why), "%s", i->why);
		return;
	}
	snprintf(row->verdict, sizeof(row->verdict), "%s",
		worst                  ? worst->rule->title
		: i->judged >= FIRST_S ? "ok"
				       : "-");
	if (worst)
		snprintf(row->why, sizeof(row->why), "%s", worst->what);
}

static void row_live(struct instance *i, struct app_jvm *row)
{
	const struct vitals *v = shared_vitals(i->stream->shared);
	uint32_t now = profile_info(i->stream->profile).now;

	if (now != i->counted) {
		i->counted = now;
		find_hottest(i, i->stream->profile, now);
		judge(i, i->stream->profile, v, now);
	}
	row->pid = v->pid;
	row->cpu_pct = v->cpu_pct;
	row->heap_used = v->heap_used;
	row->heap_max = v->heap_max;
	row->gc_pct_x10 = v->gc_pct_x10;
	row->hot_pct = i->hot_pct;
	snprintf(row->hot, sizeof(row->hot), "%s", i->hot);
	snprintf(row->jdk, sizeof(row->jdk), "%s", v->jdk);
}

int fleet_rows(
	struct fleet *f, const struct fleet_stream *shown, const struct app_jvm **out, bool *busy)
{
	uint64_t now_ns = clock_mono_ns();

	*busy = !f->scanned;
	f->rows = xreallocarray(f->rows, f->count, sizeof(*f->rows));
	for (uint32_t k = 0; k < f->count; k++) {
		struct instance *i = f->list[k];
		struct app_jvm *row = &f->rows[k];

		*row = (struct app_jvm){.id = i->id,
			.pid = i->jvm.pid,
			.cpu_pct = -1,
			.heap_used = -1,
			.heap_max = -1,
			.gc_pct_x10 = -1,
			.hot_pct = -1,
			.can_attach = i->state == INSTANCE_RUNNING,
			.shown = shown && i->stream == shown};
		snprintf(row->name, sizeof(row->name), "%s", i->remote ? i->remote : i->jvm.name);
		snprintf(row->user, sizeof(row->user), "%s", i->jvm.user);
		snprintf(row->jdk, sizeof(row->jdk), "%s", i->jvm.jdk);
		if (i->state == INSTANCE_RUNNING)
			row_live(i, row);
		row_verdict(i, row);
		*busy |= i->child && now_ns - i->begun_ns < BUSY_NS &&
			 (i->state == INSTANCE_STARTING || i->judged < FIRST_S);
	}
	*out = f->rows;
	return (int)f->count;
}
