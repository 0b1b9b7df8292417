/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of protocol buffers: numbers of variable length, and fields of a message.
 *
 * A message is a buf; one inside another is made first and then put into it. Fields that are 0 or empty are left out,
 * as readers expect, but for proto_message, proto_bytes and proto_text: they stand in lists.
 */
#ifndef JHOT_EXPORT_PROTO_H
#define JHOT_EXPORT_PROTO_H

#include "base/buf.h"

void proto_varint(struct buf *out, uint64_t value);
void proto_number(struct buf *out, unsigned field, uint64_t value);
void proto_fixed64(struct buf *out, unsigned field, uint64_t value);
void proto_bytes(struct buf *out, unsigned field, const char *bytes, size_t len);
void proto_text(struct buf *out, unsigned field, const char *text);
void proto_message(struct buf *out, unsigned field, const struct buf *message);
/* A list of numbers as they stand in packed: varints one after the other. */
void proto_packed(struct buf *out, unsigned field, const struct buf *packed);

#endif
