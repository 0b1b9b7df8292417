/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constant pools. A constant is encoded on first use, after the constants of other pools that it
 * refers to. Empty pools are left out, since some readers fail on them.
 */
#include "export/jfr/jfr.h"

#include "base/clean.h"
#include "export/text.h"

#include <stdlib.h>

/* Frame types as async-profiler names them; tools know the first seven by their index. */
static const char *const frame_words[] = {"Interpreted", "JIT compiled", "Inlined", "Native", "C++",
	"Kernel", "C1 compiled", "Java", "Waits", "Request"};
static const uint8_t frame_word_of[FRAME_TYPES] = {
	[FRAME_COMPILED] = 1,
	[FRAME_C1] = 6,
	[FRAME_INLINED] = 2,
	[FRAME_NO_INLINING] = 1,
	[FRAME_C1_NO_INLINING] = 6,
	[FRAME_INTERPRETED] = 0,
	[FRAME_JAVA] = 7,
	[FRAME_NATIVE] = 3,
	[FRAME_VM] = 4,
	[FRAME_KERNEL] = 5,
	[FRAME_CLASS] = 7,
	[FRAME_BREAK] = 3,
	[FRAME_CLASS_OUTSIDE] = 7,
	[FRAME_WAITS] = 8,
	[FRAME_CONTEXT] = 9,
};
/* Named as in the JDK and async-profiler. Neither has a name for a thread in a blocking system call. */
static const char *const state_words[] = {
	[JFR_STATE_DEFAULT] = "STATE_DEFAULT",
	[JFR_STATE_RUNNABLE] = "STATE_RUNNABLE",
	[JFR_STATE_SLEEPING] = "STATE_SLEEPING",
	[JFR_STATE_MONITOR] = "STATE_BLOCKED_ON_MONITOR_ENTER",
	[JFR_STATE_WAITING] = "STATE_IN_OBJECT_WAIT",
	[JFR_STATE_PARKED] = "STATE_PARKED",
	[JFR_STATE_IO] = "STATE_IN_IO",
};

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof(*(array))))
#define THREAD_GROUP 1          /* id of the only one */
#define UNKNOWN_BCI  UINT32_MAX /* -1 as an int, as the JDK documents */

void jfr_clean_text(struct buf *out, const char *text)
{
	struct buf clean = {0};

	if (text)
		export_clean(&clean, text, 0, 0);
	jfr_text(out, buf_str(&clean));
	buf_done(&clean);
}

static uint32_t constants_symbol(struct jfr *j, const char *text)
{
	struct buf clean = {0};

	export_clean(&clean, text, 0, 0);
	uint32_t id = intern_add(&j->symbols, buf_str(&clean), clean.len) + 1;
	buf_done(&clean);
	return id;
}

static uint32_t constants_package(struct jfr *j, const char *class_name)
{
	const char *end = strrchr(class_name, '/');
	bool is_new;

	if (!end)
		return 0;
	char *name = xstrndup(class_name, (size_t)(end - class_name));
	uint32_t symbol = constants_symbol(j, name);
	uint32_t id = ids_of_u64(&j->packages.ids, symbol, &is_new) + 1;
	if (is_new) {
		jfr_varint(&j->packages.bytes, id);
		jfr_varint(&j->packages.bytes, symbol);
	}
	free(name);
	return id;
}

/* "java.lang.String[]" as the JVM has it: "[Ljava/lang/String;". */
static void constants_class_name(struct buf *out, const char *name)
{
	size_t len = strlen(name);
	bool array = len > 2 && !strcmp(name + len - 2, "[]");
	char letter = 0;

	for (; len > 2 && !memcmp(name + len - 2, "[]", 2); len -= 2)
		buf_addc(out, '[');
	for (const char *c = "BCDFIJSZ"; array && *c; c++)
		if (strlen(descriptor_primitive(*c)) == len &&
			!memcmp(descriptor_primitive(*c), name, len))
			letter = *c;
	if (letter) {
		buf_addc(out, letter);
		return;
	}
	if (array)
		buf_addc(out, 'L');
	for (size_t i = 0; i < len; i++)
		buf_addc(out, name[i] == '.' ? '/' : name[i]);
	if (array)
		buf_addc(out, ';');
}

static uint32_t constants_class(struct jfr *j, const char *name)
{
	uint32_t symbol = constants_symbol(j, name);
	bool is_new;
	uint32_t id = ids_of_u64(&j->classes.ids, symbol, &is_new) + 1;

	if (is_new) {
		uint32_t package = *name == '[' ? 0 : constants_package(j, name);
		jfr_varint(&j->classes.bytes, id);
		jfr_varint(&j->classes.bytes, 0); /* class loader: not known */
		jfr_varint(&j->classes.bytes, symbol);
		jfr_varint(&j->classes.bytes, package);
		jfr_varint(&j->classes.bytes, 0);
	}
	return id;
}

uint32_t jfr_class(struct jfr *j, const char *name)
{
	struct buf internal = {0};

	constants_class_name(&internal, name);
	uint32_t id = constants_class(j, buf_str(&internal));
	buf_done(&internal);
	return id;
}

/* Native functions have the class "". */
static uint32_t constants_method(struct jfr *j, uint32_t method, unsigned type)
{
	const struct profile_method *m = profile_get_method(j->p, method);
	bool is_new, java = *m->class_name && *m->name;
	uint32_t id = ids_of_u64(&j->methods.ids, method, &is_new) + 1;
	struct buf *out = &j->methods.bytes;

	if (!is_new)
		return id;
	uint32_t class_id = java ? jfr_class(j, m->class_name) : constants_class(j, "");
	buf_clear(&j->text);
	if (java)
		buf_adds(&j->text, m->name);
	else
		export_frame_name(&j->text, m, type, false);
	uint32_t name = constants_symbol(j, buf_str(&j->text));
	jfr_varint(out, id);
	jfr_varint(out, class_id);
	jfr_varint(out, name);
	/* Tools parse the parameter types, so a method without a signature gets an empty one. */
	jfr_varint(out,
		constants_symbol(j,
			*m->signature == '(' && strchr(m->signature, ')') ? m->signature : "()V"));
	jfr_varint(out, 0);
	buf_addc(out, 0);
	return id;
}

uint32_t jfr_trace(struct jfr *j, uint32_t stack)
{
	uint32_t depth = profile_get_stack(j->p, stack).depth;
	struct buf *out = &j->traces.bytes;
	bool is_new, broken = false;

	if (stack == PROFILE_ROOT_STACK)
		return 0;
	uint32_t id = ids_of_u64(&j->traces.ids, stack, &is_new) + 1;
	if (!is_new)
		return id;
	for (uint32_t at = stack; at != PROFILE_ROOT_STACK; at = profile_get_stack(j->p, at).parent)
		broken |= profile_get_frame(j->p, profile_get_stack(j->p, at).frame)->type ==
			  FRAME_BREAK;
	jfr_varint(out, id);
	buf_addc(out, broken);
	jfr_varint(out, depth);
	for (uint32_t at = stack; at != PROFILE_ROOT_STACK;
		at = profile_get_stack(j->p, at).parent) {
		const struct profile_frame *f =
			profile_get_frame(j->p, profile_get_stack(j->p, at).frame);

		jfr_varint(out, constants_method(j, f->method, f->type));
		jfr_varint(out, f->line > 0 ? (uint64_t)f->line : 0);
		jfr_varint(out, f->bci == 0xffff ? UNKNOWN_BCI : f->bci);
		jfr_varint(out, frame_word_of[f->type]);
	}
	return id;
}

uint32_t jfr_thread(struct jfr *j, uint32_t thread)
{
	const struct profile_thread *t = profile_get_thread(j->p, thread);
	struct buf *out = &j->threads.bytes;
	bool is_new, java = t->java_tid > 0;
	uint32_t id = ids_of_u64(&j->threads.ids, thread, &is_new) + 1;

	if (!is_new)
		return id;
	jfr_varint(out, id);
	jfr_clean_text(out, t->name);
	jfr_varint(out, t->tid > 0 ? (uint64_t)t->tid : 0);
	if (java)
		jfr_clean_text(out, t->name);
	else
		buf_addc(out, 0); /* no name */
	jfr_varint(out, java ? (uint64_t)t->java_tid : 0);
	jfr_varint(out, java ? THREAD_GROUP : 0);
	buf_addc(out, t->kind == THREAD_VIRTUAL);
	return id;
}

/* --- writing ----------------------------------------------------------------------------------------- */

struct constants {
	struct buf *body;
	unsigned pools;
	struct buf bytes; /* of all pools */
};

static void constants_pool(
	struct constants *c, enum jfr_type type, uint32_t count, const struct buf *bytes)
{
	if (!count)
		return;
	c->pools++;
	jfr_varint(&c->bytes, type);
	jfr_varint(&c->bytes, count);
	buf_add(&c->bytes, bytes->data, bytes->len);
}

static void constants_words(struct constants *c, enum jfr_type type, const char *const *words,
	uint32_t first, uint32_t end)
{
	struct buf bytes = {0};

	for (uint32_t i = first; i < end; i++) {
		jfr_varint(&bytes, i);
		jfr_text(&bytes, words[i]);
	}
	constants_pool(c, type, end - first, &bytes);
	buf_done(&bytes);
}

/* A pool of one text. */
static void constants_text(struct constants *c, enum jfr_type type, uint32_t id, const char *text)
{
	struct buf bytes = {0};

	jfr_varint(&bytes, id);
	jfr_clean_text(&bytes, text);
	constants_pool(c, type, 1, &bytes);
	buf_done(&bytes);
}

void jfr_constants(struct jfr *j, const char *collector, struct buf *out)
{
	struct constants c = {0};
	struct buf body = {0}, group = {0}, symbols = {0};

	constants_words(&c, JFR_FRAME_TYPE, frame_words, 0, COUNT(frame_words));
	constants_words(&c, JFR_THREAD_STATE, state_words, JFR_STATE_DEFAULT, COUNT(state_words));
	constants_text(&c, JFR_GC_NAME, JFR_THE_COLLECTOR, collector);
	constants_text(&c, JFR_GC_WHEN, JFR_EACH_SECOND, "Each Second");
	jfr_varint(&group, THREAD_GROUP);
	jfr_varint(&group, 0); /* no parent */
	jfr_text(&group, "main");
	constants_pool(&c, JFR_THREAD_GROUP, 1, &group);
	constants_pool(&c, JFR_THREAD, j->threads.ids.count, &j->threads.bytes);
	constants_pool(&c, JFR_STACK_TRACE, j->traces.ids.count, &j->traces.bytes);
	constants_pool(&c, JFR_METHOD, j->methods.ids.count, &j->methods.bytes);
	constants_pool(&c, JFR_CLASS, j->classes.ids.count, &j->classes.bytes);
	constants_pool(&c, JFR_PACKAGE, j->packages.ids.count, &j->packages.bytes);
	for (uint32_t i = 0; i < j->symbols.count; i++) {
		jfr_varint(&symbols, i + 1);
		jfr_text(&symbols, intern_text(&j->symbols, i));
	}
	constants_pool(&c, JFR_SYMBOL, j->symbols.count, &symbols);
	jfr_varint(&body, JFR_CONSTANTS);
	jfr_varint(&body, 0); /* start, duration */
	jfr_varint(&body, 0);
	jfr_varint(&body, 0); /* no previous constants in this chunk */
	jfr_varint(&body, 1); /* they may be discarded with the chunk */
	jfr_varint(&body, c.pools);
	buf_add(&body, c.bytes.data, c.bytes.len);
	jfr_block(out, &body);
	buf_done(&c.bytes);
	buf_done(&group);
	buf_done(&symbols);
	buf_done(&body);
}

static void constants_done(struct jfr_pool *pool)
{
	ids_done(&pool->ids);
	buf_done(&pool->bytes);
}

void jfr_constants_done(struct jfr *j)
{
	constants_done(&j->threads);
	constants_done(&j->traces);
	constants_done(&j->methods);
	constants_done(&j->classes);
	constants_done(&j->packages);
	intern_done(&j->symbols);
}
