/* SPDX-License-Identifier: Apache-2.0 */
/* Computes rows per thread, then merges them by pool. */
#include "tui/view/threads/inside.h"

#include "base/buf.h"
#include "base/clock.h"
#include "profile/query/filter.h"
#include "tui/frame/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW_S        2 /* seconds that count as now */
#define RECENT_S     4 /* how long the last displayed stack stays valid */
#define REQUEST_MOST 8 /* attributes that are shown */
#define RECENT_LEAD  4 /* samples by which another stack must lead */

void thread_rows_done(struct thread_rows *t)
{
	free(t->list);
	free(t->recent);
	*t = (struct thread_rows){0};
}

/* --- one row per thread ------------------------------------------------------------------------------ */

struct gather;
typedef void gather_fn(struct gather *g, struct thread_row *r, const struct profile_part *part);

struct gather {
	gather_fn *add; /* called for each part of the query */
	const struct thread_recent *recent;
	uint64_t *recent_now; /* per thread: current samples with its recent stack */
	const struct profile *profile;
	int event;               /* of the current pass */
	struct thread_row *rows; /* per thread of the profile */
	uint32_t count;
	uint64_t (*now)[THREAD_STATES]; /* likewise: current wall samples by state */
};

static bool stack_is_virtual(const struct profile *p, uint32_t stack)
{
	for (; stack != PROFILE_ROOT_STACK; stack = profile_get_stack(p, stack).parent) {
		const struct profile_frame *f =
			profile_get_frame(p, profile_get_stack(p, stack).frame);

		if (!strcmp(profile_get_method(p, f->method)->class_name,
			    "java.lang.VirtualThread"))
			return true;
	}
	return false;
}

static void gather_stack(struct thread_row *r, const struct profile_part *part, bool now)
{
	if (r->stack_is_now && !now)
		return;
	if (now == r->stack_is_now && part->count <= r->stack_count)
		return;
	r->stack = part->stack;
	r->stack_count = part->count;
	r->stack_is_now = now;
}

static void gather_now(struct gather *g, struct thread_row *r, const struct profile_part *part)
{
	gather_stack(r, part, true);
	if (g->recent[part->thread].stack == part->stack)
		g->recent_now[part->thread] += part->count;
}

/* Replaces the displayed stack only when another leads significantly, or when it has expired. */
static void gather_stable_stack(
	const struct gather *g, struct thread_recent *recent, struct thread_row *r, uint32_t to)
{
	uint64_t most = r->stack_count, now = g->recent_now[r->thread];
	bool fresh = to >= recent->seen && to - recent->seen <= RECENT_S;

	if (!r->stack_is_now)
		return;
	if (fresh && recent->stack != PROFILE_ROOT_STACK && most < now + RECENT_LEAD + now / 2) {
		r->stack = recent->stack;
		recent->seen = now ? to : recent->seen;
	} else {
		*recent = (struct thread_recent){r->stack, to};
	}
}

static void gather_use(struct gather *g, struct thread_row *r, const struct profile_part *part)
{
	r->use[g->event].count += part->count;
	r->use[g->event].weight += part->weight;
	if (g->event == EVENT_LOCK && part->weight > r->lock_stack_weight) {
		r->lock_stack = part->stack;
		r->lock_stack_weight = part->weight;
	}
	if (g->event != EVENT_CPU)
		return;
	gather_stack(r, part, false);
	/* Carriers are ForkJoinPool threads: checking the name first avoids walking other stacks. */
	if (!r->carries_virtual &&
		!strncmp(profile_get_thread(g->profile, part->thread)->name, "ForkJoinPool",
			strlen("ForkJoinPool")) &&
		stack_is_virtual(g->profile, part->stack))
		r->carries_virtual = true;
}

static void gather_wall(struct gather *g, struct thread_row *r, const struct profile_part *part)
{
	r->wall[part->state] += part->count;
}

static void gather_wall_now(struct gather *g, struct thread_row *r, const struct profile_part *part)
{
	g->now[part->thread][part->state] += part->count;
	gather_now(g, r, part);
}

/* CPU samples give the current stack only without wall samples. */
static void gather_cpu_now(struct gather *g, struct thread_row *r, const struct profile_part *part)
{
	for (int i = 0; i < THREAD_STATES; i++)
		if (g->now[part->thread][i])
			return;
	gather_now(g, r, part);
}

/* Samples may belong to a thread without a record of its own. */
static void gather_part(void *ctx, const struct profile_part *part)
{
	struct gather *g = ctx;

	if (part->thread < g->count)
		g->add(g, &g->rows[part->thread], part);
}

/* Sampled seconds of an event in the window, at least 1. */
static uint32_t gather_covered(const struct ui *ui, const struct thread_rows *t, int event)
{
	uint32_t begun = events_since(ui, event), seconds;
	struct profile_query q = {.event = event, .from = t->from, .to = t->to};

	q.from = begun > q.from ? begun : q.from;
	seconds = profile_covered(ui->profile, &q);
	return seconds ? seconds : 1;
}

bool threads_shares(const struct ui *ui)
{
	return ui->options->file && (!ui->options->file->timed || !ui_has_event(ui, EVENT_CPU));
}

/* The event used as CPU time: cpu, or the shown event of a file without cpu. */
static int gather_main_event(const struct ui *ui)
{
	return ui->options->file && !ui_has_event(ui, EVENT_CPU) ? ui->scope.event : EVENT_CPU;
}

static void gather_events(const struct ui *ui, struct gather *g, struct thread_rows *t)
{
	static const struct {
		int event;
		bool now;
		gather_fn *add;
	} passes[] = {
		{EVENT_CPU, false, gather_use}, /* first: usually cached from the last query */
		{EVENT_WALL, true, gather_wall_now},
		{EVENT_CPU, true, gather_cpu_now},
		{EVENT_ALLOC, false, gather_use},
		{EVENT_LOCK, false, gather_use},
		{EVENT_WALL, false, gather_wall},
	};
	struct profile_query window = ui_query(ui);

	window.thread = PROFILE_ANY_THREAD;
	window.pool = 0;
	window.holders = window.without_idle = false;
	for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]); i++) {
		struct profile_query q = window;

		q.event = g->event = passes[i].event;
		g->add = passes[i].add;
		if (passes[i].now && q.to > NOW_S && q.from < q.to - NOW_S)
			q.from = q.to - NOW_S;
		if (q.event == EVENT_CPU)
			q.event = gather_main_event(ui);
		if (ui_has_event(ui, q.event))
			profile_each(ui->profile, &q, gather_part, g);
	}
	t->to = window.to;
	t->from = window.from;
	t->span_s = gather_covered(ui, t, EVENT_CPU);
	t->share_of = 0;
	if (threads_shares(ui)) {
		window.event = gather_main_event(ui);
		t->share_of = profile_sum(ui->profile, &window).weight;
	}
}

/* Sampled seconds of an event in the window, at least 1; 0 if the event was never sampled. */
static uint32_t gather_span(const struct ui *ui, const struct thread_rows *t, int event)
{
	struct profile_query q = {.event = event, .to = t->to, .thread = PROFILE_ANY_THREAD};

	if (ui->vitals->events[event].state != VITALS_ON && !profile_sum(ui->profile, &q).count)
		return 0;
	return gather_covered(ui, t, event);
}

/* Adds the kernel's figures. Returns true when the living threads are known. */
static bool gather_live(const struct ui *ui, struct gather *g)
{
	const struct app_thread *live = NULL;
	int n = ui->ops->threads(ui->ctx, &live);

	for (int i = 0; i < n; i++) {
		if (live[i].thread >= g->count)
			continue;
		struct thread_row *r = &g->rows[live[i].thread];
		r->live = true;
		/* Used without samples; 'S' is any kind of wait. */
		r->state = live[i].state == 'R'   ? THREAD_ON_CPU
			   : live[i].state == 'D' ? THREAD_IO
			   : live[i].state == 'S' ? THREAD_SLEEPING
						  : THREAD_STATE_NONE;
		r->user = live[i].user_pct;
		r->system = live[i].system_pct;
	}
	return n > 0;
}

static void gather_wait(const struct ui *ui, const struct thread_rows *t, struct thread_row *r)
{
	r->waits = profile_wait_at(ui->profile, r->thread, t->to, &r->wait) &&
		   r->wait.until_ns >= t->to * NS_PER_S;
	if (!r->waits)
		return;
	r->state = THREAD_MONITOR;
	if (r->stack_is_now || !r->lock_stack_weight)
		return;
	r->stack = r->lock_stack;
	r->stack_count = r->use[EVENT_LOCK].count ? r->use[EVENT_LOCK].count : 1;
	r->stack_is_now = true; /* it still waits there */
}

/* Resizes the array of recent stacks. Clears it when the filter has changed or the window is frozen. */
static void recent_resize(struct thread_rows *t, const struct ui *ui, uint32_t count)
{
	uint32_t generation = filter_generation(ui->scope.filter), from = t->recent_count;

	if (count > t->recent_count) {
		t->recent = xreallocarray(t->recent, count, sizeof(*t->recent));
		t->recent_count = count;
	}
	if (generation != t->recent_generation || ui->scope.time.frozen)
		from = 0;
	t->recent_generation = generation;
	if (from < t->recent_count)
		memset(t->recent + from, 0, (t->recent_count - from) * sizeof(*t->recent));
}

/* --- pools ------------------------------------------------------------------------------------------- */

static void pool_add(struct thread_row *pool, const struct thread_row *r)
{
	/* A pool shows the state with the highest weight. */
	static const int weights[THREAD_STATES] = {[THREAD_ON_CPU] = 7,
		[THREAD_MONITOR] = 6,
		[THREAD_CARRIER] = 5,
		[THREAD_RUNNABLE] = 5,
		[THREAD_IO] = 4,
		[THREAD_WAITING] = 3,
		[THREAD_PARKED] = 2,
		[THREAD_SLEEPING] = 1};
	bool older = r->wait.since_ns != pool->wait.since_ns
			     ? r->wait.since_ns < pool->wait.since_ns
			     : r->wait.before_ns > pool->wait.before_ns;

	pool->members++;
	pool->live |= r->live;
	pool->carries_virtual |= r->carries_virtual;
	pool->user += r->user;
	pool->system += r->system;
	for (int i = 0; i < EVENT_WALL; i++) {
		pool->use[i].count += r->use[i].count;
		pool->use[i].weight += r->use[i].weight;
	}
	for (int i = 0; i < THREAD_STATES; i++)
		pool->wall[i] += r->wall[i];
	if (weights[r->state] > weights[pool->state])
		pool->state = r->state;
	if (r->stack_count > pool->stack_count) {
		pool->stack = r->stack;
		pool->stack_count = r->stack_count;
		pool->stack_is_now = r->stack_is_now;
	}
	if (r->waits && (!pool->waits || older)) {
		pool->waits = true;
		pool->wait = r->wait;
	}
}

static void rows_insert(struct thread_rows *t, uint32_t *row_of_pool, const struct thread_row *r)
{
	struct thread_row *row;

	if (row_of_pool && row_of_pool[r->pool]) {
		row = &t->list[row_of_pool[r->pool] - 1];
		pool_add(row, r);
	} else {
		t->list = xgrow(t->list, t->count, &t->cap, sizeof(*t->list));
		row = &t->list[t->count++];
		*row = *r;
		if (row_of_pool) {
			row->id = THREAD_ROW_POOL | r->pool;
			row->idle = t->merge == THREADS_IDLE;
			row_of_pool[r->pool] = t->count;
		}
	}
	if (r->ended) {
		t->ended++;
		return;
	}
	row->member_states[r->state]++;
	t->states[r->state]++;
	t->threads++;
}

static bool row_is_shown(const struct thread_row *r)
{
	uint64_t any = r->waits | r->live;

	/* jhot's own threads are shown only while they live, even if they have samples. */
	if (r->kind == THREAD_AGENT)
		return r->live;
	for (int i = 0; i < EVENT_WALL; i++)
		any |= r->use[i].count;
	for (int i = 0; i < THREAD_STATES; i++)
		any |= r->wall[i];
	return any;
}

/* True for a thread that uses nothing, is not blocked and blocks no other. */
static bool row_is_idle(const struct thread_row *r)
{
	uint64_t any = r->waits | r->holds | r->wall[THREAD_ON_CPU] | r->wall[THREAD_RUNNABLE] |
		       r->wall[THREAD_MONITOR] | r->wall[THREAD_CARRIER];

	for (int i = 0; i < EVENT_WALL; i++)
		any |= r->use[i].count;
	return !any && r->state != THREAD_ON_CPU && r->state != THREAD_RUNNABLE &&
	       r->state != THREAD_MONITOR && r->state != THREAD_CARRIER;
}

static void rows_merge(struct thread_rows *t, const struct gather *g)
{
	/* Per pool: the number of its idle threads that get no rows of their own, and its row + 1. */
	uint32_t pools = 0;

	for (uint32_t i = 0; i < g->count; i++)
		pools = g->rows[i].pool > pools ? g->rows[i].pool : pools;
	uint32_t *idle =
		t->merge == THREADS_IDLE ? xcalloc((size_t)pools + 1, sizeof(*idle)) : NULL;
	uint32_t *row_of_pool =
		t->merge == THREADS_EACH ? NULL : xcalloc((size_t)pools + 1, sizeof(*row_of_pool));
	for (uint32_t i = 0; idle && i < g->count; i++) {
		const struct thread_row *r = &g->rows[i];

		idle[r->pool] += row_is_shown(r) && row_is_idle(r);
	}
	for (int i = 0; idle && t->opened && i < t->opened->depth; i++)
		if (t->opened->ids[i] <= pools)
			idle[t->opened->ids[i]] = 0;
	for (uint32_t i = 0; i < g->count; i++) {
		const struct thread_row *r = &g->rows[i];
		bool own_row = idle && (idle[r->pool] < 2 || !row_is_idle(r));

		if (row_is_shown(r))
			rows_insert(t, own_row ? NULL : row_of_pool, r);
	}
	free(idle);
	free(row_of_pool);
}

void thread_rows_update(struct thread_rows *t, const struct ui *ui)
{
	struct gather g = {.profile = ui->profile, .count = profile_thread_count(ui->profile)};

	t->count = t->threads = t->ended = 0;
	memset(t->states, 0, sizeof(t->states));
	g.rows = xcalloc(g.count, sizeof(*g.rows));
	g.now = xcalloc(g.count, sizeof(*g.now));
	g.recent_now = xcalloc(g.count, sizeof(*g.recent_now));
	recent_resize(t, ui, g.count);
	g.recent = t->recent;
	gather_events(ui, &g, t);
	t->alloc_span_s = gather_span(ui, t, EVENT_ALLOC);
	t->lock_span_s = gather_span(ui, t, EVENT_LOCK);
	t->alloc_known = ui_has_event(ui, EVENT_ALLOC) && t->alloc_span_s;
	t->lock_known = ui_has_event(ui, EVENT_LOCK) && t->lock_span_s;
	bool live_known = !ui->scope.time.frozen && !ui->ended && gather_live(ui, &g);
	for (uint32_t i = 0; i < g.count; i++) {
		const struct profile_thread *pt = profile_get_thread(ui->profile, i);
		struct thread_row *r = &g.rows[i];
		uint64_t most = 0;

		r->id = r->thread = i;
		r->pool = pt->pool;
		r->kind = pt->kind;
		r->members = 1;
		/* Virtual threads are not in /proc, so their end is unknown. */
		r->ended = live_known && !r->live && pt->tid > 0 && pt->kind != THREAD_VIRTUAL;
		for (int state = 0; state < THREAD_STATES; state++) {
			if (g.now[i][state] <= most)
				continue;
			most = g.now[i][state];
			r->state = (enum thread_state)state;
		}
		gather_stable_stack(&g, &t->recent[i], r, t->to);
		if (t->lock_known)
			gather_wait(ui, t, r);
	}
	for (uint32_t i = 0; i < g.count; i++)
		if (g.rows[i].waits && g.rows[i].wait.owner < g.count)
			g.rows[g.rows[i].wait.owner].holds = true;
	rows_merge(t, &g);
	for (uint32_t i = 0; i < t->count && !t->requests; i++) {
		char first[2];

		thread_row_request(ui->profile, &t->list[i], first, sizeof(first));
		t->requests = *first;
	}
	free(g.rows);
	free(g.now);
	free(g.recent_now);
}

/* --- values of a row --------------------------------------------------------------------------------- */

const char *thread_row_name(const struct profile *p, const struct thread_row *r)
{
	return r->members > 1 ? profile_pool_name(p, r->pool)
			      : profile_get_thread(p, r->thread)->name;
}

void thread_row_request(
	const struct profile *p, const struct thread_row *r, char *out, size_t bytes)
{
	const char *values[REQUEST_MOST];
	int count = 0, at = 0;

	for (uint32_t stack = r->stack; stack != PROFILE_ROOT_STACK && count < REQUEST_MOST;
		stack = profile_get_stack(p, stack).parent) {
		const struct profile_frame *f =
			profile_get_frame(p, profile_get_stack(p, stack).frame);

		if (f->type == FRAME_CONTEXT)
			values[count++] = profile_get_method(p, f->method)->name;
	}
	*out = '\0';
	while (count-- && at < (int)bytes)
		at += snprintf(out + at, bytes - (size_t)at, "%s%s", at ? " " : "", values[count]);
}

double thread_row_cpu(const struct thread_rows *t, const struct thread_row *r)
{
	if (t->share_of)
		return 100.0 * (double)r->use[EVENT_CPU].weight / (double)t->share_of;
	return t->span_s ? 100.0 * (double)r->use[EVENT_CPU].weight / ((double)t->span_s * NS_PER_S)
			 : 0;
}

double thread_row_lock(const struct thread_rows *t, const struct thread_row *r)
{
	double all = (double)t->lock_span_s * NS_PER_S * (r->members ? r->members : 1);
	double share = t->lock_span_s ? 100.0 * (double)r->use[EVENT_LOCK].weight / all : 0;

	/* A wait reported late may exceed the window. */
	return share < 100 ? share : 100;
}
