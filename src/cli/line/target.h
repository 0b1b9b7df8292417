/* SPDX-License-Identifier: Apache-2.0 */
/* The JVM that a command line names. */
#ifndef JHOT_CLI_LINE_TARGET_H
#define JHOT_CLI_LINE_TARGET_H

#include "attach/jvm/hotspot.h"

/* target_find: a JVM that may be attached to; else -1 with the refusal. */
int target_find(const char *pid_or_name, struct hotspot *out, struct err *err);

#endif
