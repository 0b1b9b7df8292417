/* SPDX-License-Identifier: Apache-2.0 */
/* Between hotspot.c and hotspot_list.c: a look that gives up early on what is not Java. */
#ifndef JHOT_ATTACH_HOTSPOT_CHECK_H
#define JHOT_ATTACH_HOTSPOT_CHECK_H

#include "attach/hotspot.h"
#include "attach/libjvm.h"

/* 0 = a Java process; -1 = none, or gone. The memo is shared by the looks of one list. */
int hotspot_check_java(pid_t pid, struct hotspot *out, struct libjvm_memo *memo);

#endif
