/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the process context: a header at the beginning of its mapping, and a protobuf message that the header points to. */
#include "session/context/context.h"

#include "base/clean.h"
#include "import/message.h"

#include <stdlib.h>
#include <string.h>

#define KEY_MAP "threadlocal.attribute_key_map"

struct header {
	char magic[8]; /* OTEL_CTX */
	uint32_t version, bytes;
	uint64_t stamp; /* 0: being written */
	uint64_t payload;
};
#define HEADER_VERSION 2u

/* Fields of the messages. */
enum { CONTEXT_RESOURCE = 1, CONTEXT_ATTRIBUTE };
enum { RESOURCE_ATTRIBUTE = 1 };
enum { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE };
enum { VALUE_TEXT = 1, VALUE_BOOL, VALUE_INT, VALUE_ARRAY = 5 };
enum { ARRAY_VALUE = 1 };

void process_context_done(struct process_context *c)
{
	for (int i = 0; i < WIRE_CONTEXT_KEYS; i++)
		free(c->keys[i]);
	for (int i = 0; i < c->label_count; i++)
		free(c->labels[i]);
	*c = (struct process_context){0};
}

static void text_add(struct buf *out, const struct message *text)
{
	clean_add(out, (const char *)text->at, message_left(text));
}

/* Finds the key and the value of an attribute. */
static bool attribute_of(struct message m, struct message *key, struct message *value)
{
	struct message_field f;

	*key = *value = message_of("", 0);
	while (message_next(&m, &f)) {
		if (f.is_bytes && f.number == ATTRIBUTE_KEY)
			*key = f.bytes;
		if (f.is_bytes && f.number == ATTRIBUTE_VALUE)
			*value = f.bytes;
	}
	return !m.bad;
}

/* "key=value" for values that are texts, numbers or truth values. */
static void label_add(struct process_context *c, struct message key, struct message value)
{
	struct message_field f;
	struct buf label = {0};

	text_add(&label, &key);
	buf_addc(&label, '=');
	if (c->label_count == CONTEXT_LABELS || label.len == 1 || !message_next(&value, &f)) {
		buf_done(&label);
		return;
	}
	if (f.is_bytes && f.number == VALUE_TEXT)
		text_add(&label, &f.bytes);
	else if (!f.is_bytes && f.number == VALUE_BOOL)
		buf_adds(&label, f.value ? "true" : "false");
	else if (!f.is_bytes && f.number == VALUE_INT)
		buf_printf(&label, "%lld", (long long)f.value);
	c->labels[c->label_count++] = buf_steal(&label);
}

/* An array of texts, whose places are the keys of the threads' attributes. */
static void keys_add(struct process_context *c, struct message value)
{
	struct message_field array, item, text;
	unsigned key = 0;

	if (!message_next(&value, &array) || !array.is_bytes || array.number != VALUE_ARRAY)
		return;
	for (; key < WIRE_CONTEXT_KEYS && message_next(&array.bytes, &item); key++) {
		struct buf name = {0};

		if (item.is_bytes && message_next(&item.bytes, &text) && text.is_bytes)
			text_add(&name, &text.bytes);
		free(c->keys[key]);
		c->keys[key] = name.len ? buf_steal(&name) : NULL;
		buf_done(&name);
	}
}

bool process_context_parse(const void *bytes, size_t len, struct process_context *out)
{
	struct message m = message_of(bytes, len), key, value;
	struct message_field f, attribute;
	bool good = true;

	while (good && message_next(&m, &f)) {
		if (!f.is_bytes)
			continue;
		while (f.number == CONTEXT_RESOURCE && good && message_next(&f.bytes, &attribute)) {
			if (!attribute.is_bytes || attribute.number != RESOURCE_ATTRIBUTE)
				continue;
			good = attribute_of(attribute.bytes, &key, &value);
			label_add(out, key, value);
		}
		if (f.number == CONTEXT_ATTRIBUTE) {
			good = attribute_of(f.bytes, &key, &value);
			if (message_left(&key) == strlen(KEY_MAP) &&
				!memcmp(key.at, KEY_MAP, strlen(KEY_MAP)))
				keys_add(out, value);
		}
		good &= !f.bytes.bad;
	}
	return good && !m.bad;
}

bool process_context_read(const struct context_mem *mem, uint64_t addr, struct process_context *out)
{
	struct header h, after;
	void *payload = NULL;
	bool good;

	process_context_done(out);
	if (!mem->read(mem->ctx, addr, &h, sizeof(h)) || memcmp(h.magic, "OTEL_CTX", 8) != 0 ||
		h.version != HEADER_VERSION || !h.stamp || h.bytes > CONTEXT_BYTES_MAX)
		return false;
	payload = xmalloc(h.bytes + 1);
	good = mem->read(mem->ctx, h.payload, payload, h.bytes) &&
	       mem->read(mem->ctx, addr, &after, sizeof(after)) && after.stamp == h.stamp &&
	       process_context_parse(payload, h.bytes, out);
	free(payload);
	if (!good)
		process_context_done(out);
	return good;
}
