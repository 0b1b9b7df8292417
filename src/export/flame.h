/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flame graph's boxes: a call tree in drawing order, with its names in a sorted pool.
 *
 * Nodes are in pre-order, siblings by name, so the same profile gives the same graph. Node 0 is "all".
 */
#ifndef JHOT_EXPORT_FLAME_H
#define JHOT_EXPORT_FLAME_H

#include "base/intern.h"
#include "profile/table/calltree.h"

#define FLAME_THREAD FRAME_TYPES /* a node's type beyond the frames': a thread */
#define FLAME_ALL    (FRAME_TYPES + 1)
#define FLAME_TYPES  (FRAME_TYPES + 2)

struct flame_node {
	uint32_t name; /* place in names */
	uint16_t level;
	uint8_t type;
	uint64_t start; /* where it begins: sum of what is left of it */
	uint64_t total; /* in the query's value: its width */
	uint64_t count, weight;
};

struct flame {
	struct flame_node *nodes;
	uint32_t count;
	const char **names; /* clean, sorted by bytes */
	uint32_t name_count;
	uint16_t levels; /* 1 + the highest */
	struct intern pool;
};

struct flame *flame_new(const struct profile *p, const struct profile_query *q, bool threads);
void flame_free(struct flame *f);

/* The colour of a box on a light ground, 0xrrggbb: its type's, shaded a little by its name. */
uint32_t flame_color(uint8_t type, const char *name);

struct flame_type {
	char letter;                      /* in the data */
	const char *name;                 /* in the legend */
	short hue, saturation, lightness; /* degrees, %, % */
};
extern const struct flame_type flame_types[FLAME_TYPES];

#endif
