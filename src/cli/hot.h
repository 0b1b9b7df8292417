/* SPDX-License-Identifier: Apache-2.0 */
/* The hot methods of an event as text: what `jhot record` prints when no file is asked for. */
#ifndef JHOT_CLI_HOT_H
#define JHOT_CLI_HOT_H

#include "cli/outputs.h"

#include <stdio.h>

/* by_weight: shares of time or bytes, not of samples (always so where samples differ in weight). */
void hot_print(
	FILE *out, const struct outputs_source *source, int event, bool by_weight, bool threads);

#endif
