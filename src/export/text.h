/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and numbers as files show them, independent of the locale.
 *
 * Names come from the target and are not trusted: every name must pass export_clean before it is
 * written, so that it cannot end a line, a field or an XML element. All functions append to out.
 * One thread.
 */
#ifndef JHOT_EXPORT_TEXT_H
#define JHOT_EXPORT_TEXT_H

#include "base/buf.h"
#include "profile/profile.h"

/* Cleans the text by clean_add(), and replaces each `not` by `instead`. */
void export_clean(struct buf *out, const char *text, char not, char instead);
/* A clean text as XML character data or attribute value. */
void export_xml(struct buf *out, const char *clean);

/*
 * The name of a frame, not cleaned: "java.util.HashMap.get" (slashes: "java/util/HashMap.get"), a
 * native symbol, "[libc.so.6] 0x777e8" without one, a class name, or "[break_REASON]" where a walk
 * failed.
 */
void export_frame_name(
	struct buf *out, const struct profile_method *m, unsigned type, bool slashes);
/* "[main tid=31]", not cleaned. */
void export_thread_name(struct buf *out, const struct profile_thread *t);

/* Fixed-point with a decimal point; n >= 0. */
void export_decimal(struct buf *out, double n, int decimals);
/* 2294 -> "2,294". */
void export_count(struct buf *out, uint64_t n);
/* A weight in the unit of its event: "22.94 s", "12.30 MiB", "77 samples". */
void export_value(struct buf *out, const char *unit, uint64_t value);

/*
 * Shortens a name in steps, from 0 (unchanged) to EXPORT_NAME_STEPS - 1: "j.u.HashMap.getNode",
 * "HashMap.getNode", "getNode". Native names lose their library, then their arguments, then their
 * scope.
 */
#define EXPORT_NAME_STEPS 4
void export_shorten(struct buf *out, const char *name, enum frame_type type, int step);

#endif
