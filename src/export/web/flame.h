/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flame graph's boxes: a call tree in drawing order, with its names in a sorted pool.
 *
 * Nodes are in pre-order, siblings by name, so the same profile gives the same graph. Node 0 is "all".
 */
#ifndef JHOT_EXPORT_WEB_FLAME_H
#define JHOT_EXPORT_WEB_FLAME_H

#include "base/intern.h"
#include "profile/table/calltree.h"

#define FLAME_THREAD FRAME_TYPES /* a node's type beyond the frames': a thread */
#define FLAME_ALL    (FRAME_TYPES + 1)
#define FLAME_NARROW (FRAME_TYPES + 2) /* what min_share left out of one place */
#define FLAME_TYPES  (FRAME_TYPES + 3)

struct flame_node {
	uint32_t name; /* place in names */
	uint16_t level;
	uint8_t type;
	uint64_t start; /* where it begins: sum of what is left of it */
	uint64_t total; /* in the query's value: its width */
	uint64_t self;  /* of this what ends in it */
	uint64_t count, weight;
};

struct flame {
	struct flame_node *nodes;
	uint32_t count;
	const char **names; /* clean, sorted by bytes */
	uint32_t name_count;
	uint16_t levels; /* 1 + the highest */
	struct intern pool;
	/* Totals are of both its sides, counts what A has of them; NULL: it is of one profile. */
	const struct diff *diff;
	uint32_t *rank; /* per text of the pool: its place in names */
};

struct flame_options {
	bool threads;  /* the first level is the thread */
	bool reversed; /* leaves first, then who called them */
	/* What has less of all than this (0.001: 0.1 %) becomes one box in each place: "[narrow frames]". */
	double min_share;
};
struct flame *flame_new(const struct profile *p, const struct profile_query *q,
	const struct flame_options *options);
void flame_free(struct flame *f);
/* The weight of each sample, if it is the same everywhere; else 0. */
uint64_t flame_each(const struct flame *f);
/* The number in the pool of a text made clean, and of a thread's. */
uint32_t flame_text(struct flame *f, const char *text);
uint32_t flame_thread_text(struct flame *f, const struct profile_thread *t);

/* --- flame_index.c ------------------------------------------------------------------------------------- */

/*
 * Where samples end: a sampled stack's node, or if that is in narrow frames these. Of a graph that is not reversed; as long
 * as the profile is not fed.
 */
struct flame_index;
struct flame_index *flame_index_new(const struct profile *p, struct flame *f, bool threads);
uint32_t flame_index_find(struct flame_index *ix, uint32_t stack, uint32_t thread);
void flame_index_free(struct flame_index *ix);

/* --- flame_diff.c -------------------------------------------------------------------------------------- */

/* By how much B differs from A in a node: -1 (gone) to 1 (new); 0: not by more than chance. */
struct diff;
double flame_change(const struct flame *f, const struct flame_node *n);

/* --- flame_color.c ------------------------------------------------------------------------------------- */

struct flame_hue {
	short hue, saturation, lightness; /* degrees, %, % */
};
struct flame_type {
	char letter;           /* in the data */
	const char *name;      /* in the legend */
	struct flame_hue type; /* familiar colours */
	struct flame_hue safe; /* told apart without red and green, too */
};
extern const struct flame_type flame_types[FLAME_TYPES];

/* What the colours of boxes on a light ground, 0xrrggbb, are made of. */
struct flame_scheme {
	const char *name; /* of --colors */
	uint32_t (*color)(const struct flame *f, const struct flame_node *n);
};
extern const struct flame_scheme flame_schemes[]; /* ends with name NULL */
extern const struct flame_scheme flame_scheme_diff;
const struct flame_scheme *flame_scheme_by_name(
	const char *name); /* NULL: the first; unknown: NULL */
/* The colour of a type in the legend of a scheme that is of types; 0: it is of something else. */
uint32_t flame_legend_color(const struct flame_scheme *scheme, uint8_t type);

#endif
