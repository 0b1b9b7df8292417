/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The boxes of a flame graph: a call tree in drawing order, and a sorted pool of its names.
 *
 * Nodes are in pre-order, siblings sorted by name, so equal profiles give equal graphs. Node 0 is
 * "all". A graph is independent of the profile once built. One thread.
 */
#ifndef JHOT_EXPORT_WEB_FLAME_H
#define JHOT_EXPORT_WEB_FLAME_H

#include "base/intern.h"
#include "profile/table/calltree.h"

#define FLAME_THREAD FRAME_TYPES /* types of nodes that are not frames: a thread */
#define FLAME_ALL    (FRAME_TYPES + 1)
#define FLAME_NARROW (FRAME_TYPES + 2) /* the siblings below min_share */
#define FLAME_TYPES  (FRAME_TYPES + 3)

struct flame_node {
	uint32_t name; /* index in names */
	uint16_t level;
	uint8_t type;
	uint64_t start; /* left edge: the sum of everything to its left */
	uint64_t total; /* width: count or weight, as query.by_weight selects */
	uint64_t self;  /* the part of total that ends here */
	uint64_t count, weight;
};

struct flame {
	struct flame_node *nodes;
	uint32_t count;
	const char **names; /* cleaned, in byte order */
	uint32_t name_count;
	uint16_t levels; /* depth of the tree */
	struct intern pool;
	/* Not NULL: a graph of two sides; totals are A + B, counts are A. */
	const struct diff *diff;
	uint32_t *rank; /* by id in the pool: index in names */
};

struct flame_options {
	bool threads;  /* the first level are threads */
	bool reversed; /* from leaves to callers */
	/* Siblings below this share of the total (0.001: 0.1 %) are merged into "[narrow frames]". */
	double min_share;
};
struct flame *flame_new(const struct profile *p, const struct profile_query *q,
	const struct flame_options *options);
void flame_free(struct flame *f);
/* The weight per sample, if it is the same in all nodes, else 0. */
uint64_t flame_each(const struct flame *f);
/* The id in the pool of a cleaned text, and of the name of a thread. */
uint32_t flame_text(struct flame *f, const char *text);
uint32_t flame_thread_text(struct flame *f, const struct profile_thread *t);

/* --- flame_color.c ------------------------------------------------------------------------------------- */

struct flame_hue {
	short hue, saturation, lightness; /* degrees, %, % */
};
struct flame_type {
	char letter;           /* in the data */
	const char *name;      /* in the legend */
	struct flame_hue type; /* conventional colors */
	struct flame_hue safe; /* colors for red-green color blindness */
};
extern const struct flame_type flame_types[FLAME_TYPES];

/* Colors of boxes on a light background, 0xrrggbb. */
struct flame_scheme {
	const char *name; /* for --colors */
	uint32_t (*color)(const struct flame *f, const struct flame_node *n);
};
extern const struct flame_scheme flame_schemes[]; /* ends with name NULL */
extern const struct flame_scheme flame_scheme_diff;
/* NULL: no such scheme. name NULL: the first one. */
const struct flame_scheme *flame_scheme_by_name(const char *name);
/* The change of a node from A to B, -1 (gone) to 1 (new); 0 if not statistically significant. */
double flame_change(const struct flame *f, const struct flame_node *n);
/* The color of a type in the legend, 0 if the scheme does not color by type. */
uint32_t flame_legend_color(const struct flame_scheme *scheme, uint8_t type);

#endif
