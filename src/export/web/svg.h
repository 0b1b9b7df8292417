/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flame-graph files, .svg and .html: header, static picture, data, script.
 *
 *   <svg>   <title>  <g id="picture"> boxes and text </g>  <metadata class="flame"> data </metadata>  <script>
 *   <html>  <div id="picture"> per event boxes and a table </div>  per event <div class="flame"> data </div>  <script>
 *
 * The static picture is what viewers without scripts show. Where scripts run, they parse the data,
 * hide the picture and draw on a canvas of the size of the window. Functions append to out. One
 * thread.
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
/* Title and facts of the query's event; to be freed with svg_head_done. */
void svg_head_init(struct svg_head *head, const struct profile *p, const struct export_options *o);
void svg_head_done(struct svg_head *head);

#define SVG_WIDTH 1200 /* default width of the picture, px */
struct svg_style {
	unsigned width;
	bool inverted; /* root at the bottom */
	const struct flame_scheme *scheme;
};
struct svg_style svg_style_of(const struct export_options *o);
/* The graph of the data, and the reversed one for the picture. The caller frees them. */
struct flame *svg_flame(const struct profile *p, const struct export_options *o);
struct flame *svg_reversed(const struct profile *p, const struct export_options *o);

/* The picture: title, facts, legend, and at most about 3,000 boxes of at least one pixel. Returns its height. */
unsigned svg_picture(struct buf *out, const struct flame *f, const struct svg_head *head,
	const struct svg_style *style);

/* The data: metadata, names, nodes (format: svg_data.c). Read by web/data.js. */
void svg_data(struct buf *out, const struct profile *p, const struct flame *f,
	const struct export_options *o, const struct svg_head *head);

/*
 * Samples over time, one line after the data (format: svg_slices.c), about three bytes per place
 * and second. Uses longer steps if that would exceed the event's share of SLICES_BYTES. Read by
 * web/slices.js.
 */
#define SLICES_BYTES (8u << 20) /* of all events of a file */
void svg_slices(
	struct buf *out, const struct profile *p, struct flame *f, const struct export_options *o);

/* 64 digits, and a number in units of five bits, low ones first; all but the last digit are in the upper half. */
extern const char svg_digits[];

/*
 * Distribution of the event within each second, if known and not filtered (format: svg_slices.c).
 * Read by web/pulse.js.
 */
void svg_pulse(struct buf *out, const struct profile *p, const struct flame *f,
	const struct export_options *o);

/* The joined scripts of this folder. */
void svg_script(struct buf *out);

#endif
