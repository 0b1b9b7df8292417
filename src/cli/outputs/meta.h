/* SPDX-License-Identifier: Apache-2.0 */
/* How an event was sampled, for files and texts: from its samples, or from the vitals if it has none. */
#ifndef JHOT_CLI_OUTPUTS_META_H
#define JHOT_CLI_OUTPUTS_META_H

#include "export/export.h"

/* The shortest and longest interval. */
struct profile_intervals meta_intervals(const struct profile *p, const struct vitals *v, int event);
/* Engine, intervals and losses. */
struct export_event meta_event(const struct profile *p, const struct vitals *v, int event);

#endif
