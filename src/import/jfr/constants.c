/* SPDX-License-Identifier: Apache-2.0 */
/* The index of constants, and their conversion to threads, methods and stacks of the profile. */
#include "import/jfr/jfr.h"

#include "base/clean.h"

#include <stdlib.h>
#include <string.h>

#define CHECK_CONSTANTS 65536 /* constants between two checks of memory */

/* Flushes repeat keys; the first constant wins. */
static int read_constant(struct jfr *j, uint32_t type, struct jfr_cursor *c)
{
	struct jfr_type *t = &j->types[type];
	uint64_t key;
	size_t at = c->at;

	if (!flight_read_varint(j, c, &key))
		return flight_bad(j, at, "a constant exceeds its event");
	if (t->known && hash_index_find(&t->index, hash_u64(key), NULL, NULL) == HASH_NONE) {
		/* The list and its index, which is at most half full. */
		j->im->reader_bytes += sizeof(*t->constants) + 32;
		t->constants = xgrow(
			t->constants, t->constant_count, &t->constants_cap, sizeof(*t->constants));
		t->constants[t->constant_count] = (struct jfr_constant){key, c->at, JFR_NONE};
		hash_index_add(&t->index, hash_u64(key), t->constant_count++);
	}
	return flight_read_record(j, type, c, NULL);
}

static int read_pool(struct jfr *j, struct jfr_cursor *c)
{
	uint64_t id, count;
	size_t at = c->at;

	if (!flight_read_varint(j, c, &id) || !flight_read_varint(j, c, &count))
		return flight_bad(j, at, "constants exceed their event");
	uint32_t type = flight_type_find(j, id);
	if (type == JFR_NONE)
		return flight_bad(j, at, "constants of an undeclared type");
	if (count > c->end - c->at)
		return flight_bad(j, at, "more constants than their event has bytes");
	while (count--)
		if (read_constant(j, type, c) ||
			(count % CHECK_CONSTANTS == 0 && feed_check(j->im, j->err)))
			return -1;
	return 0;
}

int flight_constants(struct jfr *j, struct jfr_cursor *c)
{
	uint64_t pools, other;
	size_t at = c->at;

	/* start, duration, position of the previous ones (found anyway), kind */
	if (!flight_read_varint(j, c, &other) || !flight_read_varint(j, c, &other) ||
		!flight_read_varint(j, c, &other) || !flight_skip(c, 1, &at) ||
		!flight_read_varint(j, c, &pools))
		return flight_bad(j, at, "constants exceed their event");
	while (pools--)
		if (read_pool(j, c))
			return -1;
	return 0;
}

/* Decodes the fields of a constant. */
static int constant_record(struct jfr *j, enum jfr_known known, const struct jfr_constant *constant,
	struct jfr_record *r)
{
	struct jfr_cursor c = {constant->at, j->size};

	return flight_read_record(j, j->known[known], &c, r);
}

/* A constant that is a single string: a symbol, frame type, thread state. */
int flight_word(struct jfr *j, enum jfr_known known, enum jfr_slot slot, uint64_t key)
{
	const struct jfr_constant *constant = flight_constant(j, known, key);
	struct jfr_record r;

	buf_clear(&j->text);
	if (!constant)
		return 0;
	if (constant_record(j, known, constant, &r))
		return -1;
	flight_string(j, &r, slot);
	return 0;
}

int flight_class_name(struct jfr *j, uint64_t key)
{
	const struct jfr_constant *constant = flight_constant(j, KNOWN_CLASS, key);
	struct jfr_record r;

	buf_clear(&j->text);
	if (!constant)
		return 0;
	if (constant_record(j, KNOWN_CLASS, constant, &r) ||
		flight_word(j, KNOWN_SYMBOL, SLOT_STRING, flight_value(&r, SLOT_NAME)))
		return -1;
	char *name = xstrdup(buf_str(&j->text));
	buf_clear(&j->text);
	clean_add_class(&j->text, name, strlen(name));
	free(name);
	return 0;
}

int flight_thread(struct jfr *j, uint64_t key, uint32_t *thread)
{
	struct jfr_constant *constant = flight_constant(j, KNOWN_THREAD, key);
	struct profile_thread t;
	struct jfr_record r;

	*thread = PROFILE_NONE;
	if (!constant)
		return 0;
	if (constant->value == JFR_NONE) {
		if (constant_record(j, KNOWN_THREAD, constant, &r))
			return -1;
		bool is_virtual = r.has >> SLOT_VIRTUAL & 1 && r.value[SLOT_VIRTUAL];
		uint64_t tid = flight_value(&r, SLOT_OS_THREAD);
		uint64_t java = flight_value(&r, SLOT_JAVA_THREAD);
		t = (struct profile_thread){.tid = tid < INT32_MAX ? (int)tid : 0,
			.java_tid = java && java < INT64_MAX ? (int64_t)java : -1,
			.kind = is_virtual ? THREAD_VIRTUAL
				: java     ? THREAD_JAVA
					   : THREAD_NATIVE};
		buf_clear(&j->more);
		buf_adds(&j->more, flight_string(j, &r, SLOT_JAVA_NAME));
		if (!j->more.len)
			buf_adds(&j->more, flight_string(j, &r, SLOT_OS_NAME));
		if (!j->more.len && is_virtual)
			buf_printf(&j->more, PROFILE_VIRTUAL "%lld", (long long)t.java_tid);
		t.name = buf_str(&j->more);
		constant->value = feed_thread(j->im, &t);
	}
	*thread = constant->value;
	return 0;
}

/* --- stacks ------------------------------------------------------------------------------------------ */

static enum frame_type frame_type_of(const char *word)
{
	static const struct {
		const char *word;
		enum frame_type type;
	} words[] = {
		{"Interpreted", FRAME_INTERPRETED},
		{"JIT compiled", FRAME_COMPILED},
		{"C1 compiled", FRAME_C1},
		{"Inlined", FRAME_INLINED},
		{"Native", FRAME_NATIVE},
		{"C++", FRAME_VM},
		{"Kernel", FRAME_KERNEL},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i].word, word))
			return words[i].type;
	return FRAME_JAVA;
}

/*
 * Native code has no class, or, from async-profiler, one named after its library. In JDK files a
 * native frame is a native Java method.
 */
static bool frame_is_native(const struct jfr *j, enum frame_type type)
{
	return type == FRAME_VM || type == FRAME_KERNEL || (type == FRAME_NATIVE && j->profiler);
}

static int method_of(struct jfr *j, uint64_t key, enum frame_type *type, uint32_t *method)
{
	struct jfr_constant *constant = flight_constant(j, KNOWN_METHOD, key);
	struct jfr_record r;
	int rc = -1;

	if (!constant) {
		*method = feed_method(j->im, "", "", "", "");
		*type = FRAME_BREAK;
		return 0;
	}
	if (constant->value != JFR_NONE) {
		*method = constant->value;
		if (!frame_is_java(*type) && *profile_get_method(j->im->p, *method)->class_name)
			*type = FRAME_JAVA;
		return 0;
	}
	if (constant_record(j, KNOWN_METHOD, constant, &r) ||
		flight_class_name(j, flight_value(&r, SLOT_TYPE)))
		return -1;
	char *class_name = xstrdup(buf_str(&j->text));
	rc = flight_word(j, KNOWN_SYMBOL, SLOT_STRING, flight_value(&r, SLOT_NAME));
	char *name = xstrdup(buf_str(&j->text));
	if (!rc)
		rc = flight_word(j, KNOWN_SYMBOL, SLOT_STRING, flight_value(&r, SLOT_DESCRIPTOR));
	char *signature = xstrdup(*class_name ? buf_str(&j->text) : "");
	if (!rc && frame_is_native(j, *type) && *name) {
		*method = feed_method(
			j->im, "", name, "", *type == FRAME_KERNEL ? "[kernel]" : class_name);
		constant->value = *method;
	} else if (!rc) {
		*method = feed_method(j->im, class_name, name, *class_name ? signature : "", "");
		constant->value = *method;
		if (*class_name && !frame_is_java(*type))
			*type = FRAME_JAVA;
	}
	free(class_name);
	free(name);
	free(signature);
	return rc;
}

/* The frame type for the key of its constant. */
static int frame_type(struct jfr *j, uint64_t key, enum frame_type *type)
{
	struct jfr_constant *constant = flight_constant(j, KNOWN_FRAME_TYPE, key);

	if (constant && constant->value != JFR_NONE) {
		*type = (enum frame_type)constant->value;
		return 0;
	}
	if (flight_word(j, KNOWN_FRAME_TYPE, SLOT_DESCRIPTION, key))
		return -1;
	*type = frame_type_of(buf_str(&j->text));
	if (constant)
		constant->value = *type;
	return 0;
}

static int frame_of(struct jfr *j, const struct jfr_record *r, uint32_t *frame)
{
	uint64_t line = flight_value(r, SLOT_LINE);
	uint64_t bci = r->has >> SLOT_BCI & 1 ? r->value[SLOT_BCI] : 0xffff;
	enum frame_type type;
	uint32_t method;

	if (frame_type(j, flight_value(r, SLOT_TYPE), &type))
		return -1;
	if (method_of(j, flight_value(r, SLOT_METHOD), &type, &method))
		return -1;
	const char *name = profile_get_method(j->im->p, method)->name;
	/* names in brackets are reasons why a walk failed */
	if (!frame_is_java(type) && type != FRAME_KERNEL && *name == '[')
		*frame = feed_frame_text(j->im, name, strlen(name), false);
	else
		*frame = profile_frame(j->im->p, method, type,
			bci < 0xffff ? (unsigned)bci : 0xffff, line < INT32_MAX ? (int)line : 0);
	return 0;
}

/* Frames are leaf first. */
static int stack_of(struct jfr *j, size_t frames_at, uint32_t *stack)
{
	struct jfr_cursor c = {frames_at, j->size};
	uint64_t count;
	uint32_t *frames, n = 0;
	int rc = 0;

	*stack = PROFILE_ROOT_STACK;
	if (!flight_read_varint(j, &c, &count) || count > c.end - c.at)
		return flight_bad(j, frames_at, "a stack has an impossible number of frames");
	frames = xreallocarray(NULL, (size_t)count + 1, sizeof(*frames));
	while (n < count && !rc) {
		struct jfr_record r;

		rc = flight_read_record(j, j->known[KNOWN_FRAME], &c, &r);
		if (!rc)
			rc = frame_of(j, &r, &frames[n++]);
	}
	while (n-- > 0 && !rc)
		*stack = profile_stack_child(j->im->p, *stack, frames[n]);
	free(frames);
	return rc;
}

int flight_stack(struct jfr *j, uint64_t key, uint32_t *stack)
{
	struct jfr_constant *constant = flight_constant(j, KNOWN_TRACE, key);
	struct jfr_record r;

	*stack = PROFILE_ROOT_STACK;
	if (!constant)
		return 0;
	if (constant->value == JFR_NONE) {
		if (constant_record(j, KNOWN_TRACE, constant, &r))
			return -1;
		if (r.positions >> SLOT_FRAMES & 1 && j->known[KNOWN_FRAME] != JFR_NONE &&
			stack_of(j, r.value[SLOT_FRAMES], stack))
			return -1;
		constant->value = *stack;
	}
	*stack = constant->value;
	return 0;
}
