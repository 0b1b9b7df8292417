/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol buffers, read field by field; bytes may be anything. Plain values into the caller's memory. */
#ifndef JHOT_IMPORT_MESSAGE_H
#define JHOT_IMPORT_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct message {
	const unsigned char *at, *end;
	bool bad; /* what is at `at` is no field */
};

struct message_field {
	unsigned number;
	bool is_bytes;
	uint64_t value;       /* of one that is none */
	struct message bytes; /* of one that is bytes, or a message */
};

static inline struct message message_of(const void *bytes, size_t len)
{
	return (struct message){bytes, (const unsigned char *)bytes + len, false};
}
static inline size_t message_left(const struct message *p)
{
	return (size_t)(p->end - p->at);
}

/* The next field; false: there is none, or (p->bad) it is none. */
bool message_next(struct message *p, struct message_field *f);
/* The next of a field's numbers, which may be packed or alone; *first: true before the first. */
bool message_number(struct message_field *f, bool *first, uint64_t *value);

#endif
