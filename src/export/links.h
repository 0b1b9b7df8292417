/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests of samples, for formats that have labels: attributes, which the model has as
 * outermost frames, and spans.
 *
 * One thread. A struct links borrows the profile and the query.
 */
#ifndef JHOT_EXPORT_LINKS_H
#define JHOT_EXPORT_LINKS_H

#include "profile/profile.h"

/* True for a frame that is an attribute: *key and *value are its texts, valid as long as the frame. */
bool links_attribute(const struct profile *p, uint32_t frame, const char **key, const char **value);

struct links;
/* The spans of the query's samples. */
struct links *links_new(const struct profile *p, const struct profile_query *q);
void links_free(struct links *l);
/*
 * Calls fn for the parts of a sample that belong to one span each, in the order of their ids, and
 * with link NULL for the rest. Their sums are those of the sample.
 */
typedef void links_fn(void *ctx, const struct profile_part *part, const struct profile_link *link);
void links_split(const struct links *l, const struct profile_part *part, links_fn *fn, void *ctx);

#define LINKS_HEX 33 /* a trace id in hexadecimal digits, with NUL */
const char *links_hex(char out[LINKS_HEX], const uint8_t *id, unsigned bytes);

#endif
