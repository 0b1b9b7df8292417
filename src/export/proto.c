/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding protocol buffers. */
#include "export/proto.h"

#include <string.h>

enum { PROTO_VARINT = 0, PROTO_FIXED64 = 1, PROTO_BYTES = 2 };

void proto_varint(struct buf *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		buf_addc(out, (char)(value | 0x80));
	buf_addc(out, (char)value);
}

void proto_number(struct buf *out, unsigned field, uint64_t value)
{
	if (!value)
		return;
	proto_varint(out, field << 3 | PROTO_VARINT);
	proto_varint(out, value);
}

void proto_fixed64(struct buf *out, unsigned field, uint64_t value)
{
	if (!value)
		return;
	proto_varint(out, field << 3 | PROTO_FIXED64);
	for (int i = 0; i < 64; i += 8)
		buf_addc(out, (char)(value >> i));
}

void proto_bytes(struct buf *out, unsigned field, const char *bytes, size_t len)
{
	proto_varint(out, field << 3 | PROTO_BYTES);
	proto_varint(out, len);
	buf_add(out, bytes, len);
}

void proto_text(struct buf *out, unsigned field, const char *text)
{
	proto_bytes(out, field, text, strlen(text));
}

void proto_message(struct buf *out, unsigned field, const struct buf *message)
{
	proto_bytes(out, field, buf_str(message), message->len);
}

void proto_packed(struct buf *out, unsigned field, const struct buf *packed)
{
	if (packed->len)
		proto_bytes(out, field, packed->data, packed->len);
}
