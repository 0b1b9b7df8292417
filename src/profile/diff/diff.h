/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares two sides, A and B, of one event: what changed, and which changes are statistically
 * significant.
 *
 * A side is one recording or several. All are merged into one profile in which second 0 is side A,
 * second 1 side B and each recording a thread, under names that are stable between builds
 * (base/java_name.h); so every table, graph and view can show both sides. The rows compare each
 * method's self and total.
 *
 * Errors: the sampling error comes from the clusters of samples (query/error.h). With several
 * recordings per side, their variation is added; with four or more per side, a permutation test
 * decides. With one recording per side the variation is not known, and DIFF_NOISE is assumed.
 *
 *   merge.c          a recording's stacks and sums, under these names
 *   significance.c   which differences are significant        permutation.c   the permutation test
 *   diff.c           the merged profile, the order of rows, graphs
 *
 * diff_new() reads the recordings and does not keep them. Not thread-safe.
 */
#ifndef JHOT_PROFILE_DIFF_DIFF_H
#define JHOT_PROFILE_DIFF_DIFF_H

#include "base/err.h"
#include "profile/profile.h"

#define DIFF_RUNS  64   /* recordings of a side */
#define DIFF_NOISE 0.05 /* assumed relative variation between recordings of one program */
#define DIFF_SMALL 0.01 /* share of the total at which diff.limit is stated */
#define DIFF_LEVEL 0.03 /* family-wise error: share of false reports if nothing changed */

enum diff_side { DIFF_A, DIFF_B, DIFF_SIDES };

/* What is compared: weight per second, share of all, or plain weight. */
enum diff_mode { DIFF_RATE, DIFF_SHARE, DIFF_RAW, DIFF_MODES };

struct diff_mode_info {
	const char *name;  /* of --mode: "rate" */
	const char *words; /* "per second" */
};
extern const struct diff_mode_info diff_modes[DIFF_MODES];

/* A recording, or a window of one. Borrowed. */
struct diff_run {
	const struct profile *profile;
	struct profile_query query; /* event, seconds, filter, by_weight */
	double seconds;             /* covered by it; 0: not known */
	bool bare; /* ignore the modules of native functions, as not all of the files have them */
};
/* The recordings of both sides, and how to compare them. */
struct diff_question {
	struct diff_run runs[DIFF_SIDES][DIFF_RUNS];
	int counts[DIFF_SIDES];
	enum diff_mode mode;
};

/* Self or total of a method: the mean over a side's recordings. */
struct diff_value {
	double of[DIFF_SIDES]; /* weight per second, share (0 to 1), or weight */
	uint64_t samples[DIFF_SIDES];
	double error; /* 95 % half width of the difference */
	double p;     /* p-value, corrected for the number of tests */
	bool sure;    /* significant: p < DIFF_LEVEL */
};
static inline double diff_delta(const struct diff_value *v)
{
	return v->of[DIFF_B] - v->of[DIFF_A];
}
struct diff_row {
	uint32_t method; /* of `both` */
	struct diff_value self, total;
};

struct diff {
	struct profile *both;
	struct profile_query query[DIFF_SIDES]; /* of `both`: one side's weights */
	struct profile_query query_all;         /* of `both`: both sides */
	enum diff_mode mode;
	int runs[DIFF_SIDES];
	double seconds[DIFF_SIDES];       /* of all recordings of a side */
	struct profile_query query_graph; /* of `both`: see diff_draw() */
	double graph_scale;
	struct diff_value all;
	struct diff_row *rows; /* significant ones first, then by amount of change */
	uint32_t count;
	/*
	 * Factor from the values of rows to weights in `both`, which have the magnitude of one
	 * recording of B. DIFF_RAW: 1.
	 */
	double scale;
	bool by_weight;          /* else numbers of samples are compared */
	double each[DIFF_SIDES]; /* of `both`: weight of one sample */
	double whole; /* of `both`: the total that shares refer to; 0 for rates and counts */
	double noise; /* relative variation between recordings of a side */
	double sum;   /* of `both`: both sides together */
	double limit; /* threshold of significance, in standard errors, of a method with DIFF_SMALL of sum */
};

/* NULL and err: a side has no samples, or a rate is not known. The caller frees the diff. */
struct diff *diff_new(const struct diff_question *question, struct err *err);
/*
 * Adds an event for graphs to `both`: a sample's weight is that of both sides together, its count
 * A's part of it, both in units of 1 / graph_scale. To be called once.
 */
void diff_draw(struct diff *d);
void diff_free(struct diff *d);

/*
 * The smallest significant difference between weights a and b of `both`, by a rule that applies to
 * all stacks alike.
 */
double diff_band(const struct diff *d, double a, double b);

#endif
