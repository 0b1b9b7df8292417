/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pull parser for protocol buffers. The bytes are not trusted. Cursors are plain values in the
 * caller's memory; nothing is allocated. One thread.
 */
#ifndef JHOT_IMPORT_MESSAGE_H
#define JHOT_IMPORT_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct message {
	const unsigned char *at, *end;
	bool bad; /* the field at `at` is malformed */
};

struct message_field {
	unsigned number;
	bool is_bytes;
	uint64_t value;       /* if !is_bytes */
	struct message bytes; /* if is_bytes: bytes, a text or a message */
};

static inline struct message message_of(const void *bytes, size_t len)
{
	return (struct message){bytes, (const unsigned char *)bytes + len, false};
}
static inline size_t message_left(const struct message *p)
{
	return (size_t)(p->end - p->at);
}

/* The next field. Returns false at the end, or if it is malformed (p->bad). */
bool message_next(struct message *p, struct message_field *f);
/* Iterates over the numbers of a repeated field, packed or not. *first: true initially. */
bool message_number(struct message_field *f, bool *first, uint64_t *value);

#endif
