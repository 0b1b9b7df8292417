/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies of HotSpot's attach listener: a number on the first line, then text.
 *
 * Hostile input, any bytes; text is NUL-terminated at len. Pure functions.
 */
#ifndef JHOT_ATTACH_REPLY_H
#define JHOT_ATTACH_REPLY_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* reply_text: what follows a first line that says 0, else NULL with an error that quotes the JVM. */
const char *reply_text(const char *reply, size_t len, struct err *err);

/*
 * reply_load: the agent's result out of the reply to "load": -1 with an error unless its second line is
 * "return code: N" (9 and later) or "N" (8). The first line proves nothing: it is 0 also when the
 * agent failed, and on 21+ even when it could not be opened.
 */
int reply_load(const char *reply, size_t len, int *result, struct err *err);

/* Did a JVM answer so that has not finished starting? It is to be asked again. */
bool reply_is_starting(const char *reply);

#endif
