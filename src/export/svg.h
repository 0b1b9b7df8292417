/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a flame-graph file: what its header says, the picture without scripts, the data for the script.
 *
 *   <svg>  <title>  <g id="picture"> boxes and text </g>  <metadata> data </metadata>  <script> </svg>
 *
 * The picture is right where scripts are blocked. Where they run, the script reads the data, hides the
 * picture and draws on a canvas of the window's size.
 */
#ifndef JHOT_EXPORT_SVG_H
#define JHOT_EXPORT_SVG_H

#include "export/export.h"
#include "export/flame.h"

struct svg_head {
	struct buf title; /* "shop-api.jar: CPU" */
	const struct profile_event *event;
	struct buf facts; /* "2,294 samples  22.94 s  10 ms (perf)  pid 41234 ..." */
};

/* The header and at most about 3,000 boxes, each at least a pixel wide. Fills *height. */
void svg_picture(
	struct buf *out, const struct flame *f, const struct svg_head *head, unsigned *height);

/* The data: lines of facts, the name pool, the nodes. flame.js reads it. */
void svg_data(struct buf *out, const struct flame *f, const struct export_options *o,
	const struct svg_head *head);

#endif
