/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the .html page, appended to out. One thread. */
#ifndef JHOT_EXPORT_WEB_HTML_H
#define JHOT_EXPORT_WEB_HTML_H

#include "export/export.h"

/* A text of the target as character data: cleaned, and escaped for XML. */
void html_text(struct buf *out, const char *text);
/* <td> with the same; numbers are aligned to the right. */
void html_cell(struct buf *out, const char *text, bool number);

/*
 * latency.c: <section id="latency"> about the measured calls (profile/calls) that began in the
 * seconds of o->query; nothing if there are none.
 */
void html_latency(struct buf *out, const struct profile *p, const struct export_options *o);

#endif
