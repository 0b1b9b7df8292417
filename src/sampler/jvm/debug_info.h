/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug information between safepoints, for as long as a session lasts. Without it HotSpot's compilers say only at calls
 * and safepoints which inlined method an instruction is of, and all time between goes to the frame of the next one, which
 * is mostly their caller's. It concerns code that is compiled from then on. Publisher only.
 */
#ifndef JHOT_SAMPLER_JVM_DEBUG_INFO_H
#define JHOT_SAMPLER_JVM_DEBUG_INFO_H

#include "sampler/sampler.h"

/* Sets the JVM's flag where nobody has set it otherwise; how it is then goes to the status page. */
void debug_info_begin(struct sampler *s);
/* Gives it back as it was. */
void debug_info_end(struct sampler *s);

#endif
