/* SPDX-License-Identifier: Apache-2.0 */
/* gzip: adds to out what these bytes are compressed, the same for the same bytes. */
#ifndef JHOT_EXPORT_ZIP_H
#define JHOT_EXPORT_ZIP_H

#include "base/buf.h"

void zip_add(struct buf *out, const struct buf *plain);

#endif
