/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vitals as (field id, value) pairs. A file defines its ids by name, so older and newer versions
 * read the fields that they know and skip the others. One thread.
 */
#ifndef JHOT_RECORDING_FIELDS_H
#define JHOT_RECORDING_FIELDS_H

#include "profile/vitals.h"
#include "recording/format.h"

enum field_kind { FIELD_NUMBER, FIELD_TEXT };

/* The last values written to the file. Zero-initialized. */
struct fields_written {
	struct vitals last;
	bool begun;
};
/* Appends definitions of new fields to `fields`, and changed values to `vitals`. */
void fields_write(
	struct fields_written *t, const struct vitals *v, struct buf *fields, struct buf *vitals);

/* The fields that a file has defined, by id. Zero-initialized. */
struct fields_known {
	struct field_known {
		enum field_kind kind;
		int row;          /* in our table; -1: unknown, or a counter */
		char counter[24]; /* its name, or "" */
	} * list;
	uint32_t count, cap;
};
void fields_done(struct fields_known *k);
/* Read a chunk of definitions, and one of values into v. Set c->bad if the chunk is malformed. */
void fields_define(struct fields_known *k, struct format_cursor *c);
void fields_read(const struct fields_known *k, struct format_cursor *c, struct vitals *v);

#endif
