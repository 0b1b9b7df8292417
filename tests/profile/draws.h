/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random recordings of a known program: samples are drawn from the stacks of a real profile. Each recording has its
 * own noise, one factor per method and one common factor. The same seed draws the same recording.
 */
#ifndef JHOT_TESTS_PROFILE_DRAWS_H
#define JHOT_TESTS_PROFILE_DRAWS_H

#include "base/buf.h"
#include "profile/diff/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct draws {
	const struct profile *population;
	struct draws_stack {
		uint32_t stack, leaf; /* ids in the population: the stack, and its leaf's method */
		uint32_t drawn;       /* the same stack in `all` */
		double share;
		bool slow;
	} * stacks;
	uint32_t count, cap;
	double weight;
	struct profile *all; /* a second per comparison, a thread per recording */
	uint32_t second;
	uint64_t rng;
};

/* How recordings are drawn. */
struct draws_how {
	double samples; /* of one recording, on average */
	double noise;   /* of each method, relative */
	double common;  /* of all of them together */
	bool uneven; /* a third of the methods has a third of the noise, another third three times as much */
	int runs[DIFF_SIDES];
	double slower; /* factor on side B for the stacks of draws_mark, e.g. 1.1 */
	enum diff_mode mode;
};

static inline double draws_unit(struct draws *d)
{
	uint64_t x = d->rng += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	x ^= x >> 31;
	return ((double)(x >> 11) + 0.5) / 9007199254740992.0;
}

static inline double draws_normal(struct draws *d)
{
	return sqrt(-2 * log(draws_unit(d))) * cos(6.283185307179586 * draws_unit(d));
}

static inline uint32_t draws_poisson(struct draws *d, double mean)
{
	double limit = exp(-mean), product = draws_unit(d);
	uint32_t n = 0;

	if (mean > 200)
		return (uint32_t)fmax(0, mean + sqrt(mean) * draws_normal(d) + 0.5);
	for (; product > limit; n++)
		product *= draws_unit(d);
	return n;
}

static inline uint32_t draws_method(const struct profile *p, uint32_t stack)
{
	return profile_get_frame(p, profile_get_stack(p, stack).frame)->method;
}

static inline uint32_t draws_copy(struct draws *d, uint32_t stack)
{
	struct profile_stack s = profile_get_stack(d->population, stack);
	const struct profile_frame *f;
	const struct profile_method *m;
	uint32_t parent;

	if (stack == PROFILE_ROOT_STACK)
		return stack;
	parent = draws_copy(d, s.parent);
	f = profile_get_frame(d->population, s.frame);
	m = profile_get_method(d->population, f->method);
	return profile_stack_child(d->all, parent,
		profile_frame(d->all,
			profile_method(d->all, m->class_name, m->name, m->signature, m->module),
			(enum frame_type)f->type, f->bci, f->line));
}

static inline void draws_take(void *ctx, const struct profile_part *part)
{
	struct draws *d = ctx;

	d->stacks = xgrow(d->stacks, d->count, &d->cap, sizeof(*d->stacks));
	d->stacks[d->count++] = (struct draws_stack){part->stack,
		part->stack ? draws_method(d->population, part->stack) : PROFILE_NONE,
		draws_copy(d, part->stack), (double)part->weight, false};
	d->weight += (double)part->weight;
}

static inline void draws_init(struct draws *d, const struct profile *population)
{
	struct profile_query q = profile_whole(EVENT_CPU);

	*d = (struct draws){.population = population, .all = profile_new()};
	profile_each(population, &q, draws_take, d);
	for (uint32_t i = 0; i < d->count; i++)
		d->stacks[i].share = d->stacks[i].share / d->weight;
}

static inline void draws_done(struct draws *d)
{
	profile_free(d->all);
	free(d->stacks);
}

/* Flags all stacks through a method of this name as slow; returns their share of the total. */
static inline double draws_mark(struct draws *d, const char *full)
{
	double share = 0;

	for (uint32_t i = 0; i < d->count; i++) {
		struct draws_stack *s = &d->stacks[i];

		s->slow = false;
		for (uint32_t at = s->stack; at != PROFILE_ROOT_STACK;
			at = profile_get_stack(d->population, at).parent)
			s->slow |= !strcmp(
				profile_get_method(d->population, draws_method(d->population, at))
					->full,
				full);
		share += s->slow ? s->share : 0;
	}
	return share;
}

static inline double draws_noise(struct draws *d, const struct draws_how *how, uint32_t leaf)
{
	static const double factors[] = {1. / 3, 1, 3};
	double noise = how->noise * (how->uneven ? factors[leaf % 3] : 1);

	return exp(noise * draws_normal(d));
}

static inline void draws_run(
	struct draws *d, const struct draws_how *how, uint32_t thread, double slower)
{
	uint32_t methods = profile_method_count(d->population);
	double *noise = xcalloc(methods + 1, sizeof(*noise));
	double common = exp(how->common * draws_normal(d));

	for (uint32_t i = 0; i < methods; i++)
		noise[i] = draws_noise(d, how, i);
	for (uint32_t i = 0; i < d->count; i++) {
		const struct draws_stack *s = &d->stacks[i];
		double mean =
			how->samples * s->share * common * (s->leaf < methods ? noise[s->leaf] : 1);
		uint32_t n = draws_poisson(d, mean * (s->slow ? slower : 1));
		struct profile_sample sample = {
			s->drawn, thread, THREAD_STATE_NONE, n, n * 10000000ull};

		if (n)
			profile_add_sample(d->all, EVENT_CPU, d->second, &sample);
	}
	free(noise);
}

/* Draws and compares both sides. */
static inline struct diff *draws_diff(struct draws *d, const struct draws_how *how)
{
	struct diff_question *q = xcalloc(1, sizeof(*q));
	struct diff *diff;
	uint32_t thread = 0;

	profile_advance(d->all, ++d->second);
	q->mode = how->mode;
	for (int side = 0; side < DIFF_SIDES; side++) {
		q->counts[side] = how->runs[side];
		for (int run = 0; run < how->runs[side]; run++, thread++) {
			struct diff_run *r = &q->runs[side][run];

			draws_run(d, how, thread, side == DIFF_B ? how->slower : 1);
			*r = (struct diff_run){.profile = d->all,
				.query = profile_whole(EVENT_CPU),
				.seconds = 60};
			r->query.from = d->second;
			r->query.to = d->second + 1;
			r->query.thread = thread;
			r->query.by_weight = true;
		}
	}
	diff = diff_new(q, NULL);
	free(q);
	return diff;
}

/* The number of significant differences, including that of the total. */
static inline uint32_t draws_reported(const struct diff *diff)
{
	uint32_t n = diff->all.sure;

	for (uint32_t i = 0; i < diff->count; i++)
		n += diff->rows[i].self.sure || diff->rows[i].total.sure;
	return n;
}

/* Whether a significant increase of this method's total is reported. */
static inline bool draws_found(const struct diff *diff, const char *full)
{
	for (uint32_t i = 0; i < diff->count; i++)
		if (!strcmp(profile_get_method(diff->both, diff->rows[i].method)->full, full))
			return diff->rows[i].total.sure && diff_delta(&diff->rows[i].total) > 0;
	return false;
}

#endif
