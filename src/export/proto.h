/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encoding protocol buffers.
 *
 * A message is a struct buf; a nested one is encoded first and then added to its parent. Scalars of
 * 0 and empty packed lists are omitted, as in proto3. proto_message, proto_bytes and proto_text
 * always write the field, since they are used for repeated fields. One thread.
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
/* A packed repeated field; packed: its varints one after the other. */
void proto_packed(struct buf *out, unsigned field, const struct buf *packed);

#endif
