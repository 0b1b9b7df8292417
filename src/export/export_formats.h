/* SPDX-License-Identifier: Apache-2.0 */
/* The writers behind the table of formats, one per file; each is an export_format's write. */
#ifndef JHOT_EXPORT_EXPORT_FORMATS_H
#define JHOT_EXPORT_EXPORT_FORMATS_H

#include "export/export.h"

int export_svg(
	struct buf *out, const struct profile *p, const struct export_options *o, struct err *err);
int export_collapsed(
	struct buf *out, const struct profile *p, const struct export_options *o, struct err *err);

#endif
