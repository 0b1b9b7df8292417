/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a flame-graph file, of .svg and .html alike: what its header says, the picture without scripts, the data for
 * the script, the script.
 *
 *   <svg>   <title>  <g id="picture"> boxes and text </g>  <metadata class="flame"> data </metadata>  <script>
 *   <html>  <div id="picture"> per event boxes and a table </div>  per event <div class="flame"> data </div>  <script>
 *
 * The picture is right where scripts are blocked. Where they run, the script reads the data, hides the
 * picture and draws on a canvas of the window's size.
 */
#ifndef JHOT_EXPORT_WEB_SVG_H
#define JHOT_EXPORT_WEB_SVG_H

#include "export/export.h"
#include "export/web/flame.h"

struct svg_head {
	const struct profile_event *event;
	struct buf title; /* "shop-api.jar: CPU" */
	struct buf facts; /* "2,294 samples  22.94 s  10 ms (perf)  pid 41234 ..." */
};
/* Of the query's event; svg_head_done frees it. */
void svg_head_init(struct svg_head *head, const struct profile *p, const struct export_options *o);
void svg_head_done(struct svg_head *head);

#define SVG_WIDTH 1200 /* of the picture where nothing else is asked for */
struct svg_look {
	unsigned width;
	bool inverted; /* the root at the bottom */
	const struct flame_scheme *scheme;
};
struct svg_look svg_look_of(const struct export_options *o);
/* The graph of the data, and that of the picture: the same one unless it is asked for reversed. */
struct flame *svg_flame(const struct profile *p, const struct export_options *o);
struct flame *svg_reversed(const struct profile *p, const struct export_options *o);

/* The header and at most about 3,000 boxes, each at least a pixel wide. Returns the height. */
unsigned svg_picture(struct buf *out, const struct flame *f, const struct svg_head *head,
	const struct svg_look *look);

/* The data: lines of facts, the name pool, the nodes. web/data.js reads it. */
void svg_data(struct buf *out, const struct profile *p, const struct flame *f,
	const struct export_options *o, const struct svg_head *head);

/*
 * And in which second how much ended where, as one line behind the data (web/slices.js): about three bytes for each place
 * and second. What would be longer than an event's share of SLICES_BYTES is told in longer steps.
 */
#define SLICES_BYTES (8u << 20) /* of all events in a file */
void svg_slices(
	struct buf *out, const struct profile *p, struct flame *f, const struct export_options *o);

/* Digits of 64, and a number in those of five bits each, the lowest first. */
extern const char svg_digits[];
void svg_number(struct buf *out, uint64_t n);

/* Behind it how the event lies in each second, where that is known and the query chooses none of its samples (web/pulse.js). */
void svg_pulse(struct buf *out, const struct profile *p, const struct flame *f,
	const struct export_options *o);

/* What web/ was joined to. */
void svg_script(struct buf *out);

#endif
