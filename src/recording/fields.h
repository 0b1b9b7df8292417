/* SPDX-License-Identifier: Apache-2.0 */
/* Vitals by the names of their fields, so that files of older and newer versions tell what they know. */
#ifndef JHOT_RECORDING_FIELDS_H
#define JHOT_RECORDING_FIELDS_H

#include "profile/vitals.h"
#include "recording/format.h"

enum field_kind { FIELD_NUMBER, FIELD_TEXT };

/* What was told last: only what has changed is told again. Zero-initialised. */
struct fields_told {
	struct vitals last;
	bool begun;
};
/* Adds the fields that are new, and what has changed, to two chunks. */
void fields_tell(
	struct fields_told *t, const struct vitals *v, struct buf *fields, struct buf *vitals);

/* The fields of a file by their numbers. Zero-initialised. */
struct fields_known {
	struct field_known {
		enum field_kind kind;
		int row;          /* of ours; -1: none, or a counter's */
		char counter[24]; /* its name, or "" */
	} * list;
	uint32_t count, cap;
};
void fields_done(struct fields_known *k);
void fields_define(struct fields_known *k, struct format_cursor *c);
void fields_take(const struct fields_known *k, struct format_cursor *c, struct vitals *v);

#endif
