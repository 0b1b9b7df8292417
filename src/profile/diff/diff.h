/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two sides of one event compared: what changed from A to B, and what of it is more than chance.
 *
 * A side is one recording or several. All of them become one profile, in which A is the first second, B the next, and a
 * recording one thread, under names that mean the same in each (base/java_name.h): so every table, graph and view that
 * can show a profile can show both sides. Beside it stand the rows: what each method had itself and in total.
 *
 * How sure a row is, the recordings tell: what chance makes of samples, from their clusters (query/error.h), and with
 * several recordings a side how much those of one side differ, from four a side on also what is found when they are dealt
 * to the sides in other ways. With one a side, which cannot tell that, they are taken to differ by DIFF_NOISE beside
 * chance.
 *
 * The recordings are read by diff_new alone. One thread.
 */
#ifndef JHOT_PROFILE_DIFF_DIFF_H
#define JHOT_PROFILE_DIFF_DIFF_H

#include "base/err.h"
#include "profile/profile.h"

#define DIFF_RUNS  64   /* of a side */
#define DIFF_NOISE 0.05 /* what recordings of one program are taken to differ by where none tells */
#define DIFF_SMALL 0.01
#define DIFF_LEVEL 0.03 /* of reports without a true difference so many may have a false one */

enum diff_side { DIFF_A, DIFF_B, DIFF_SIDES };

/* What is compared: what there was per second, as a share of all, or as it was counted. */
enum diff_mode { DIFF_RATE, DIFF_SHARE, DIFF_RAW, DIFF_MODES };

/* A recording, or a stretch of one. */
struct diff_run {
	const struct profile *profile;
	struct profile_query query; /* event, seconds, filter; are weights compared */
	double seconds;             /* that it covers; 0: not known */
	bool bare; /* native functions are known without their libraries, as not all files have those */
};
/* The recordings of both sides, and how to compare them. */
struct diff_question {
	struct diff_run runs[DIFF_SIDES][DIFF_RUNS];
	int counts[DIFF_SIDES];
	enum diff_mode mode;
};

/* What one method had, itself or in total: the mean of a side's recordings. */
struct diff_value {
	double of[DIFF_SIDES]; /* weight per second, share (0 to 1), or weight */
	uint64_t samples[DIFF_SIDES];
	double error; /* 95 % half width of the difference */
	double p;     /* how often chance makes one of so many differences as large as this */
	bool sure;    /* less often than DIFF_LEVEL */
};
static inline double diff_delta(const struct diff_value *v)
{
	return v->of[DIFF_B] - v->of[DIFF_A];
}
struct diff_row {
	uint32_t method; /* of both */
	struct diff_value self, total;
};

struct diff {
	struct profile *both;
	struct profile_query query[DIFF_SIDES]; /* of both: one side's weights */
	struct profile_query query_all;         /* of both sides */
	enum diff_mode mode;
	int runs[DIFF_SIDES];
	double seconds[DIFF_SIDES];       /* of all recordings of a side */
	struct profile_query query_graph; /* of both: see diff_draw */
	double graph_scale;
	struct diff_value all;
	struct diff_row *rows; /* those that are sure first, then by how much they changed */
	uint32_t count;
	/*
	 * What both holds is of one recording of B, and what A would have had in its place: values of the rows times this
	 * scale.
	 */
	double scale;
	bool by_weight;          /* else numbers of samples are compared */
	double each[DIFF_SIDES]; /* of both: weight of one sample */
	double whole; /* of both: what all of a side has, of which shares are; 0: rates and counts */
	double noise; /* relative, between recordings of a side */
	double sum;   /* of both together, as drawn */
	double limit; /* from so many standard errors on a difference in DIFF_SMALL of that is sure */
};

struct diff *diff_new(const struct diff_question *question, struct err *err);
/*
 * Both get an event for graphs: a sample's weight is what both sides have together, its number what A has of that, in units
 * of 1 / graph_scale.
 */
void diff_draw(struct diff *d);
void diff_free(struct diff *d);

/* From which difference on two weights of both are surely different, by what holds for all of its stacks alike. */
double diff_band(const struct diff *d, double a, double b);

#endif
