/* SPDX-License-Identifier: Apache-2.0 */
/* The section of a page about measured calls (profile/calls). */
#ifndef JHOT_EXPORT_WEB_LATENCY_H
#define JHOT_EXPORT_WEB_LATENCY_H

#include "export/export.h"

/* Appends <section id="latency"> about the calls that began in the seconds of o->query; nothing if there are none. */
void web_latency(struct buf *out, const struct profile *p, const struct export_options *o);

#endif
