/* SPDX-License-Identifier: Apache-2.0 */
/* Feeding the model: samples and their spans by second, gaps; merging, dropping and evicting history. */
#include "profile/calls/calls.h"
#include "profile/model/model.h"

#include "profile/history.h"
#include "profile/model/fit.h"

#define MODEL_BUDGET      (144u << 20) /* bytes of memory */
#define MODEL_SLICES_PART 6    /* slices may use 1/6 of the budget even if stacks exceed it */
#define MODEL_FINE_S      60   /* the last seconds, never merged to save memory */
#define MODEL_LATE_S      2    /* how late samples may be, in seconds */
#define MODEL_GAPS        4096 /* the youngest that are retained */
#define LINKS_FIRST       256u

struct profile *model_new(void)
{
	struct profile *p = xcalloc(1, sizeof(*p));

	p->methods = xcalloc(1, sizeof(*p->methods));
	p->frames = xcalloc(1, sizeof(*p->frames));
	p->events = xcalloc(MODEL_SLICES, sizeof(*p->events));
	p->readers = xcalloc(1, sizeof(*p->readers));
	p->readers->frozen = p->readers->unwritten = PROFILE_NONE;
	p->history_s = PROFILE_HISTORY_S;
	model_stacks_init(&p->stacks, NULL);
	model_threads_init(&p->threads);
	for (int i = 0; i < MODEL_SLICES; i++)
		slices_init(&p->events[i]);
	p->budget = MODEL_BUDGET;
	return p;
}

void model_free(struct profile *p)
{
	model_methods_done(p->methods);
	model_frames_done(p->frames);
	model_stacks_done(&p->stacks);
	model_threads_done(&p->threads);
	model_waits_done(&p->waits);
	model_waits_done(&p->frozen_waits);
	for (int i = 0; i < MODEL_SLICES; i++)
		slices_done(&p->events[i]);
	free(p->methods);
	free(p->frames);
	free(p->events);
	free(p->gaps);
	free(p->links.ring);
	free(p->io_places);
	model_vitals_free(p->vitals);
	calls_begin(p, NULL, 0);
	free(p->readers->pins.bits);
	free(p->readers);
	free(p);
}

/* --- samples -------------------------------------------------------------------------------------- */

uint32_t profile_stack_child(struct profile *p, uint32_t parent, uint32_t frame)
{
	if (parent >= p->stacks.trie.count || frame >= p->frames->count)
		return PROFILE_NONE;
	return model_stacks_child(&p->stacks, p, parent, frame);
}

static void add_sample(
	struct profile *p, int slices, uint32_t second, const struct profile_sample *sample)
{
	struct slices_sample in = {second, sample->stack, 0, sample->count, sample->weight};
	uint32_t thread = sample->thread;

	if (sample->stack >= p->stacks.trie.count)
		return;
	p->readers->fed++;
	if (p->stacks.extent[sample->stack].closed)
		p->cut_samples += sample->count;
	if (second > p->now)
		profile_advance(p, second);
	/* Invalid ids share one thread. */
	in.who = SLICES_WHO(thread < MODEL_THREADS_MAX ? thread : MODEL_THREADS_MAX,
		sample->state < THREAD_STATES ? sample->state : THREAD_STATE_NONE);
	slices_add(&p->events[slices], &in, p->merged_before, p->oldest);
}

void profile_add_sample(
	struct profile *p, int event, uint32_t second, const struct profile_sample *sample)
{
	if (event >= 0 && event < PROFILE_EVENTS)
		add_sample(p, event, second, sample);
}

void profile_add_holder(struct profile *p, uint32_t second, const struct profile_sample *sample)
{
	add_sample(p, MODEL_HOLDERS, second, sample);
}

void profile_add_process(struct profile *p, uint32_t second, uint64_t cpu_ns)
{
	struct slices_sample in = {second, PROFILE_ROOT_STACK, 0, 1, cpu_ns};

	if (cpu_ns)
		slices_add(&p->events[MODEL_PROCESS], &in, p->merged_before, p->oldest);
}

/* --- their spans: a ring that begins small and overwrites its oldest entries once it is full ------ */

void profile_add_link(struct profile *p, const struct profile_link *link)
{
	struct model_links *l = &p->links;

	if (link->stack >= p->stacks.trie.count || link->event >= PROFILE_EVENTS)
		return;
	if (l->count == l->cap && l->cap < PROFILE_LINKS) {
		l->cap = l->cap ? l->cap * 2 : LINKS_FIRST;
		l->ring = xreallocarray(l->ring, l->cap, sizeof(*l->ring));
	}
	l->ring[l->count++ % l->cap] = *link;
	p->readers->fed++;
}

uint64_t profile_links(const struct profile *p, uint64_t *first)
{
	*first = p->links.count - (p->links.count < p->links.cap ? p->links.count : p->links.cap);
	return p->links.count;
}

const struct profile_link *profile_get_link(const struct profile *p, uint64_t number)
{
	return &p->links.ring[number % p->links.cap];
}

size_t model_links_bytes(const struct profile *p)
{
	return p->links.cap * sizeof(*p->links.ring);
}

void model_links_refer(const struct profile *p, enum profile_kind kind,
	void (*fn)(const struct profile *p, uint32_t id))
{
	uint64_t first, end = profile_links(p, &first);

	for (; first < end; first++) {
		const struct profile_link *link = profile_get_link(p, first);

		if (kind == PROFILE_STACKS)
			fn(p, link->stack);
		if (kind == PROFILE_THREADS)
			fn(p, link->thread);
	}
}

/* --- memory: merging, dropping and evicting history ----------------------------------------------- */

static size_t profile_fixed_bytes(const struct profile *p)
{
	size_t bytes = sizeof(*p) + model_methods_bytes(p->methods) + p->readers->scratch_bytes;

	bytes += p->frames->cap * sizeof(*p->frames->list) +
		 ((size_t)p->frames->index.mask + 1) * 16;
	bytes += model_stacks_bytes(&p->stacks);
	bytes += p->io_places ? MODEL_IO_PLACES * sizeof(*p->io_places) : 0;
	bytes += model_threads_bytes(&p->threads) + model_waits_bytes(&p->waits) +
		 model_waits_bytes(&p->frozen_waits) + model_vitals_bytes(p) +
		 model_calls_bytes(p) + model_links_bytes(p);
	for (int i = 0; i < MODEL_SLICES; i++)
		bytes += slices_fixed_bytes(&p->events[i]);
	return bytes;
}

static size_t profile_slice_bytes(const struct profile *p)
{
	size_t bytes = 0;

	for (int i = 0; i < MODEL_SLICES; i++)
		bytes += p->events[i].bytes;
	return bytes;
}

static void profile_drop(struct profile *p, uint32_t before)
{
	for (int i = 0; i < MODEL_SLICES; i++)
		slices_drop(&p->events[i], before);
	p->oldest = before;
	if (p->merged_before < before)
		p->merged_before = before;
}

static void profile_merge(struct profile *p, uint32_t before)
{
	for (int i = 0; i < MODEL_SLICES; i++)
		slices_merge(&p->events[i], before);
	p->merged_before = before;
}

/* The step of the first slice that begins at or after this second; of now if there is none. */
static uint32_t profile_next_slice(const struct profile *p, uint32_t second)
{
	uint32_t next = p->now;

	for (int i = 0; i < MODEL_SLICES; i++) {
		uint32_t at = slices_find(&p->events[i], second);
		if (at < p->events[i].count && p->events[i].list[at].from < next)
			next = p->events[i].list[at].from;
	}
	return next - next % SLICES_STEP;
}

static uint32_t profile_evicted_from(const struct profile *p)
{
	return p->events[0].anchors[SLICES_EVICTED].second;
}

void model_evict(const struct profile *p, uint32_t to)
{
	uint32_t from = 0, frozen = p->readers->frozen;

	profile_align(p, &from, &frozen);
	for (int i = 0; i < MODEL_SLICES; i++)
		slices_evict(&p->events[i], frozen ? frozen : 1, to);
}

/* Once no second before the evicted range is frozen, drops all history up to its end, so that there is no hole. */
static void profile_evict_end(struct profile *p)
{
	uint32_t from = profile_evicted_from(p), to = p->events[0].evicted_to;

	if (!from || p->readers->frozen <= from)
		return;
	if (to > from && to > p->oldest)
		profile_drop(p, to);
	for (int i = 0; i < MODEL_SLICES; i++)
		slices_evict_end(&p->events[i]);
}

/*
 * Enforces the budget. While history is frozen, seconds after it are evicted first. Then older
 * seconds are merged into 10 s steps one by one, then the oldest steps are dropped. The last
 * MODEL_FINE_S seconds before now and before the frozen second stay as they are.
 */
static void profile_shrink(struct profile *p)
{
	size_t fixed = profile_fixed_bytes(p), limit = p->budget / MODEL_SLICES_PART;
	uint32_t fine = p->now > MODEL_FINE_S ? p->now - MODEL_FINE_S : 0, next;
	uint32_t frozen = p->readers->frozen;

	if (fine > p->readers->unwritten)
		fine = p->readers->unwritten;
	if (p->budget > fixed + limit)
		limit = p->budget - fixed;
	fine -= fine % SLICES_STEP;
	for (; frozen < fine && profile_slice_bytes(p) > limit;
		model_evict(p, next + SLICES_STEP)) {
		next = profile_evicted_from(p) ? p->events[0].evicted_to : frozen;
		next = profile_next_slice(p, next > frozen ? next : frozen);
		if (next >= fine)
			break;
	}
	uint32_t old = frozen > MODEL_FINE_S ? frozen - MODEL_FINE_S : 0;
	old = old - old % SLICES_STEP < fine ? old - old % SLICES_STEP : fine;
	while (profile_slice_bytes(p) > limit) {
		next = profile_next_slice(p, p->merged_before);
		if (next < old) {
			profile_merge(p, next + SLICES_STEP);
			continue;
		}
		next = profile_next_slice(p, p->oldest);
		if (next >= old)
			break;
		profile_drop(p, next + SLICES_STEP);
	}
}

void profile_advance(struct profile *p, uint32_t second)
{
	if (second <= p->now)
		return;
	p->readers->fed++;
	p->now = second;
	if (second > MODEL_LATE_S) {
		for (int i = 0; i < MODEL_SLICES; i++)
			slices_pack(&p->events[i], second - MODEL_LATE_S);
	}
	profile_evict_end(p);
	uint32_t now = second < p->readers->frozen ? second : p->readers->frozen;
	uint32_t oldest = now > p->history_s ? now - p->history_s : 0;
	if (oldest > p->readers->unwritten)
		oldest = p->readers->unwritten;
	oldest -= oldest % SLICES_STEP;
	if (oldest > p->oldest)
		profile_drop(p, oldest);
	profile_shrink(p);
	model_sweep(p);
}

/* --- seconds: anchored, frozen, with an event on, without sampling -------------------------------- */

void profile_anchor(const struct profile *p, int event, uint32_t second, uint32_t other)
{
	if (event < 0 || event >= PROFILE_EVENTS)
		return;
	slices_anchor(&p->events[event], (const uint32_t[]){second, other});
	if (event == EVENT_CPU)
		slices_anchor(&p->events[MODEL_PROCESS], (const uint32_t[]){second, other});
	if (event == EVENT_LOCK)
		slices_anchor(&p->events[MODEL_HOLDERS], (const uint32_t[]){second, other});
	p->readers->fed++;
}

void profile_freeze(const struct profile *p, uint32_t second)
{
	struct model_readers *r = p->readers;

	/* Ids that are shown stay valid for the usual time after the release. */
	if (second == PROFILE_NONE && r->frozen != PROFILE_NONE && r->due < p->now + MODEL_SWEEP_S)
		r->due = p->now + MODEL_SWEEP_S;
	r->frozen = second;
}

void profile_event_runs(struct profile *p, int event, uint32_t second, bool on)
{
	if (event >= 0 && event < PROFILE_EVENTS)
		slices_run(&p->events[event], second, on);
	if (event == EVENT_LOCK)
		slices_run(&p->events[MODEL_HOLDERS], second, on);
}

void profile_gap(struct profile *p, uint32_t from, uint32_t to)
{
	struct model_gap *last = p->gap_count ? &p->gaps[p->gap_count - 1] : NULL;

	/* Gaps are kept sorted and disjoint. */
	if (last && from < last->from)
		from = last->to;
	if (from >= to)
		return;
	if (last && from <= last->to) {
		last->to = to > last->to ? to : last->to;
		return;
	}
	/* Gaps before the history are needed, too: a total covers them. */
	if (p->gap_count == MODEL_GAPS)
		memmove(p->gaps, p->gaps + 1, --p->gap_count * sizeof(*p->gaps));
	p->gaps = fit(p->gaps, &p->gap_cap, p->gap_count + 1, sizeof(*p->gaps));
	p->gaps[p->gap_count++] = (struct model_gap){from, to};
}

/* --- the profile as a whole ----------------------------------------------------------------------- */

void profile_set_start(struct profile *p, uint64_t wall_ns)
{
	p->start_wall_ns = wall_ns < INT64_MAX / 2 ? wall_ns : 0; /* recordings are not trusted */
}

void profile_set_budget(struct profile *p, size_t bytes)
{
	p->budget = bytes;
}

void profile_set_history(struct profile *p, uint32_t seconds)
{
	p->history_s = seconds;
}

struct profile_info profile_info(const struct profile *p)
{
	struct profile_info info = {
		.now = p->now,
		.oldest = p->oldest,
		.start_wall_ns = p->start_wall_ns,
		.bytes = profile_fixed_bytes(p) + profile_slice_bytes(p),
		.stacks = p->stacks.trie.count,
		.merged_before = p->merged_before,
		.evicted_from = profile_evicted_from(p),
		.evicted_to = profile_evicted_from(p) ? p->events[0].evicted_to : 0,
		.swept = p->readers->swept,
		.cut_samples = p->cut_samples,
		.cut_texts = p->methods->texts.cut + p->threads.texts.cut,
	};

	for (int i = 0; i < MODEL_SAMPLED; i++)
		info.slice_entries += p->events[i].entries;
	return info;
}

/* --- for files (history.h) ------------------------------------------------------------------------ */

void profile_set_retained(struct profile *p, uint32_t oldest, uint32_t merged_before)
{
	profile_drop(p, oldest);
	if (merged_before > oldest)
		profile_merge(p, merged_before - merged_before % SLICES_STEP);
	profile_advance(p, oldest);
}

void profile_retain_unwritten(const struct profile *p, uint32_t second)
{
	p->readers->unwritten = second;
}

uint32_t profile_next_retained(const struct profile *p, uint32_t second)
{
	uint32_t next = PROFILE_NONE;

	for (int i = 0; i < MODEL_SLICES; i++) {
		const struct slices *s = &p->events[i];
		uint32_t at = slices_find(s, second);

		if (at < s->count && s->list[at].from < next)
			next = s->list[at].from;
		if (s->anchors[SLICES_EVICTED].second &&
			second <= s->anchors[SLICES_EVICTED].second &&
			s->anchors[SLICES_EVICTED].second < next &&
			s->evicted_to > s->anchors[SLICES_EVICTED].second)
			next = s->anchors[SLICES_EVICTED].second;
	}
	return next;
}

bool profile_get_run(const struct profile *p, int event, uint32_t i, struct profile_run *out)
{
	if (event < 0 || event >= PROFILE_EVENTS || i >= p->events[event].run_count)
		return false;
	const struct slices *s = &p->events[event];
	*out = (struct profile_run){s->runs[i].from, s->runs[i].to};
	return true;
}

bool profile_get_gap(const struct profile *p, uint32_t i, struct profile_run *out)
{
	if (i >= p->gap_count)
		return false;
	*out = (struct profile_run){p->gaps[i].from, p->gaps[i].to};
	return true;
}
