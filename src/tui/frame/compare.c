/* SPDX-License-Identifier: Apache-2.0 */
/* Baselines: snapshots of all events' windows, and the significance of differences. */
#include "tui/frame/compare.h"

#include "base/buf.h"
#include "base/clock.h"
#include "profile/query/error.h"
#include "profile/query/filter.h"
#include "profile/table/flat.h"
#include "tui/screen/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct compare {
	struct profile_snapshot *events[PROFILE_EVENTS];
	uint32_t spans[PROFILE_EVENTS]; /* sampled seconds of each */
	uint32_t to;
	bool side_a; /* the baseline is side A of a file with two sides */
	uint64_t serial;
	bool on;
};

void compare_free(struct compare *c)
{
	if (!c)
		return;
	for (int i = 0; i < PROFILE_EVENTS; i++)
		profile_snapshot_free(c->events[i]);
	free(c);
}

bool compare_on(const struct ui *ui)
{
	return ui->scope.compare && ui->scope.compare->on;
}

bool compare_query(const struct ui *ui, struct profile_query *q)
{
	if (!compare_on(ui))
		return false;
	*q = ui_query(ui);
	q->snapshot = ui->scope.compare->events[ui->scope.event];
	return true;
}

const struct profile_snapshot *compare_cpu(const struct ui *ui)
{
	return ui->scope.compare ? ui->scope.compare->events[EVENT_CPU] : NULL;
}

static const char *base_clock(const struct ui *ui, char out[TEXT_NUMBER])
{
	struct profile_info info = profile_info(ui->profile);

	return text_clock(out,
		(int64_t)info.start_wall_ns + (int64_t)ui->scope.compare->to * (int64_t)NS_PER_S);
}

uint64_t compare_stamp(const struct ui *ui)
{
	struct profile_query q = ui_query(ui);
	uint64_t stamp = compare_on(ui) ? ui->scope.compare->serial : 0;

	stamp = hash_pair(stamp, (uint64_t)q.event << 32 | q.thread);
	stamp = hash_pair(stamp, (uint64_t)q.pool << 32 | q.states);
	return hash_pair(stamp, filter_generation(ui->scope.filter));
}

void compare_bar(const struct ui *ui, struct strip *s)
{
	char at[TEXT_NUMBER];

	if (compare_on(ui) && ui->scope.compare->side_a)
		strip_add(s, STYLE_WARN, 2, " B vs A ");
	else if (compare_on(ui))
		strip_add(s, STYLE_WARN, 2, " vs %us to %s ",
			ui->scope.compare->spans[ui->scope.event], base_clock(ui, at));
}

static double points_of(const struct compare_share *s)
{
	return flat_percent(s->value, s->sum);
}

static double half_width(const struct compare_share *s)
{
	return s->samples > 0 && s->sum ? error_half_width(points_of(s) / 100, s->samples)
					: flat_half_width(s->count, s->sum_count);
}

double compare_errors(const struct compare_share *now, const struct compare_share *then)
{
	return half_width(now) + half_width(then);
}

bool compare_delta(
	const struct compare_share *now, const struct compare_share *then, double *points)
{
	*points = points_of(now) - points_of(then);
	return now->sum_count && then->sum_count && now->count + then->count >= ERROR_FEW &&
	       fabs(*points) > compare_errors(now, then);
}

bool compare_text(
	char *out, size_t size, const struct compare_share *now, const struct compare_share *then)
{
	double points;
	bool significant = compare_delta(now, then, &points);

	snprintf(out, size, significant ? "%+.1f" : "~", points);
	return significant;
}

void compare_tree_set(struct compare_tree *base, struct calltree *tree)
{
	calltree_free(base->tree);
	base->tree = tree;
	hash_index_clear(&base->paths);
	for (uint32_t i = 0; tree && i < tree->count; i++)
		hash_index_add(&base->paths, hash_u64(tree->nodes[i].path), i);
}

void compare_tree_done(struct compare_tree *base)
{
	calltree_free(base->tree);
	hash_index_done(&base->paths);
}

static struct compare_share node_share(const struct calltree *tree, const struct calltree_node *n)
{
	const struct calltree_node *all = &tree->nodes[0];

	return (struct compare_share){n ? n->total_count : 0, all->total_count, n ? n->total : 0,
		all->total, tree->samples};
}

bool compare_node(const struct compare_tree *base, const struct calltree *tree,
	const struct calltree_node *n, char *out, size_t size)
{
	out[0] = '\0';
	if (!base->tree)
		return false;
	uint32_t at = hash_index_find(&base->paths, hash_u64(n->path), NULL, NULL);
	struct compare_share now = node_share(tree, n);
	struct compare_share then =
		node_share(base->tree, at == HASH_NONE ? NULL : &base->tree->nodes[at]);
	return compare_text(out, size, &now, &then);
}

/* Replaces the baseline with a snapshot of the query's seconds, for every event. */
static struct compare *compare_snapshot(struct ui *ui, struct profile_query q)
{
	struct compare *c = xcalloc(1, sizeof(*c));

	for (q.event = 0; q.event < PROFILE_EVENTS; q.event++) {
		c->events[q.event] = profile_snapshot_new(ui->profile, &q);
		c->spans[q.event] = profile_covered(ui->profile, &q);
	}
	c->to = q.to;
	c->on = compare_on(ui);
	c->serial = ui->scope.compare ? ui->scope.compare->serial + 1 : 1;
	compare_free(ui->scope.compare);
	ui->scope.compare = c;
	return c;
}

void compare_begin(struct ui *ui, uint32_t second)
{
	struct profile_query q = ui_query(ui);

	q.from = 0;
	q.to = second;
	struct compare *c = compare_snapshot(ui, q);
	c->on = c->side_a = true;
}

unsigned compare_set(struct ui *ui, int arg)
{
	struct profile_query q = ui_query(ui);
	struct compare *c = compare_snapshot(ui, q);
	char at[TEXT_NUMBER];

	ui_say(ui, "baseline set: %u s up to %s; D compares with it", c->spans[q.event],
		base_clock(ui, at));
	return UI_UPDATE | UI_FREEZE_ORDER;
}

unsigned compare_toggle(struct ui *ui, int arg)
{
	if (!ui->scope.compare) {
		ui_warn(ui, "no baseline yet: B sets it to the current window");
		return 0;
	}
	ui->scope.compare->on = !ui->scope.compare->on;
	return UI_UPDATE | UI_FREEZE_ORDER;
}
