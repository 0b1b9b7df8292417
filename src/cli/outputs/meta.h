/* SPDX-License-Identifier: Apache-2.0 */
/* How an event was sampled, for files and texts: from the samples themselves, and from the vitals where there are none. */
#ifndef JHOT_CLI_OUTPUTS_META_H
#define JHOT_CLI_OUTPUTS_META_H

#include "export/export.h"

/* At which intervals. */
struct profile_intervals meta_intervals(const struct profile *p, const struct vitals *v, int event);
/* By which engine, at which intervals, with which losses. */
struct export_event meta_event(const struct profile *p, const struct vitals *v, int event);

#endif
