/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and numbers as files show them.
 *
 * Names come from the target and are data: base/clean.h makes them harmless, so that none can end a line, a field or an
 * element.
 */
#ifndef JHOT_EXPORT_TEXT_H
#define JHOT_EXPORT_TEXT_H

#include "base/buf.h"
#include "profile/profile.h"

/* The text as clean_add writes it; `not` becomes `instead`. */
void export_clean(struct buf *out, const char *text, char not, char instead);
/* A clean text as XML character data or attribute value. */
void export_xml(struct buf *out, const char *clean);

/*
 * A frame's name, not yet clean: "java.util.HashMap.get" (slashes: "java/util/HashMap.get"), native ones by their symbol
 * alone or, where no table names them, "[libc.so.6] 0x777e8", a class alone as it is, "[break_...]" where the stack is broken.
 */
void export_frame_name(
	struct buf *out, const struct profile_method *m, unsigned type, bool slashes);
/* "[main tid=31]", not yet clean. */
void export_thread_name(struct buf *out, const struct profile_thread *t);

/* With a point and so many decimals whatever the locale; n >= 0. */
void export_decimal(struct buf *out, double n, int decimals);
/* 2294 -> "2,294". */
void export_count(struct buf *out, uint64_t n);
/* A weight in its event's unit: "22.94 s", "12.3 MiB", "77". */
void export_value(struct buf *out, const char *unit, uint64_t value);

/*
 * One step of the ladder that makes names fit: 0 the name, then "j.u.HashMap.getNode", "HashMap.getNode",
 * "getNode". Native names lose their library, then their arguments, then their scope.
 */
#define EXPORT_NAME_STEPS 4
void export_shorten(struct buf *out, const char *name, enum frame_type type, int step);

#endif
