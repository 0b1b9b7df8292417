/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The constants of a flight recording. Each is written when it is first asked for; those that it names come into pools
 * of their own, so a pool's bytes are complete at any time. No pool is empty: readers fall over those.
 */
#include "export/jfr/jfr.h"

#include "base/clean.h"
#include "export/text.h"

#include <stdlib.h>
#include <string.h>

/* How frames ran, in async-profiler's words: tools know the first seven by their place. */
static const char *const frame_words[] = {"Interpreted", "JIT compiled", "Inlined", "Native", "C++",
	"Kernel", "C1 compiled", "Java", "Waits"};
static const uint8_t frame_word_of[FRAME_TYPES] = {
	[FRAME_COMPILED] = 1,
	[FRAME_C1] = 6,
	[FRAME_INLINED] = 2,
	[FRAME_COARSE] = 1,
	[FRAME_C1_COARSE] = 6,
	[FRAME_INTERPRETED] = 0,
	[FRAME_JAVA] = 7,
	[FRAME_NATIVE] = 3,
	[FRAME_VM] = 4,
	[FRAME_KERNEL] = 5,
	[FRAME_CLASS] = 7,
	[FRAME_BREAK] = 3,
	[FRAME_CLASS_OUTSIDE] = 7,
	[FRAME_WAITS] = 8,
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
#define THREAD_GROUP 1          /* the one that there is */
#define UNKNOWN_BCI  UINT32_MAX /* -1 as an int, which the JDK documents for it */

static uint32_t constants_symbol(struct jfr *j, const char *text)
{
	struct buf clean = {0};
	uint32_t id;

	if (*text)
		export_clean(&clean, text, 0, 0);
	id = intern_put(&j->symbols, buf_str(&clean), clean.len) + 1;
	buf_done(&clean);
	return id;
}

static uint32_t constants_package(struct jfr *j, const char *class_name)
{
	const char *end = strrchr(class_name, '/');
	char *name;
	uint32_t id, symbol;
	bool fresh;

	if (!end)
		return 0;
	name = xstrndup(class_name, (size_t)(end - class_name));
	symbol = constants_symbol(j, name);
	id = numbers_of(&j->packages.ids, symbol, &fresh);
	if (fresh) {
		jfr_number(&j->packages.bytes, id);
		jfr_number(&j->packages.bytes, symbol);
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
	uint32_t symbol = constants_symbol(j, name), package, id;
	bool fresh;

	id = numbers_of(&j->classes.ids, symbol, &fresh);
	if (fresh) {
		package = *name == '[' ? 0 : constants_package(j, name);
		jfr_number(&j->classes.bytes, id);
		jfr_number(&j->classes.bytes, 0); /* class loader: not known */
		jfr_number(&j->classes.bytes, symbol);
		jfr_number(&j->classes.bytes, package);
		jfr_number(&j->classes.bytes, 0);
	}
	return id;
}

uint32_t jfr_class(struct jfr *j, const char *name)
{
	struct buf internal = {0};
	uint32_t id;

	constants_class_name(&internal, name);
	id = constants_class(j, buf_str(&internal));
	buf_done(&internal);
	return id;
}

/* Tools read the types between the parentheses; whatever has none gets empty ones. */
static const char *constants_signature(const struct profile_method *m)
{
	return *m->signature == '(' && strchr(m->signature, ')') ? m->signature : "()V";
}

/* Native code is of the class "", which stands for none. */
static uint32_t constants_method(struct jfr *j, uint32_t method, unsigned type)
{
	const struct profile_method *m = profile_get_method(j->p, method);
	bool fresh, java = *m->class_name && *m->name;
	uint32_t id = numbers_of(&j->methods.ids, method, &fresh), class_id, name;
	struct buf *out = &j->methods.bytes;

	if (!fresh)
		return id;
	class_id = java ? jfr_class(j, m->class_name) : constants_class(j, "");
	buf_clear(&j->text);
	if (java)
		buf_adds(&j->text, m->name);
	else
		export_frame_name(&j->text, m, type, false);
	name = constants_symbol(j, buf_str(&j->text));
	jfr_number(out, id);
	jfr_number(out, class_id);
	jfr_number(out, name);
	jfr_number(out, constants_symbol(j, constants_signature(m)));
	jfr_number(out, 0);
	buf_addc(out, 0);
	return id;
}

static void constants_frame(struct jfr *j, struct buf *out, uint32_t frame)
{
	const struct profile_frame *f = profile_get_frame(j->p, frame);

	jfr_number(out, constants_method(j, f->method, f->type));
	jfr_number(out, f->line > 0 ? (uint64_t)f->line : 0);
	jfr_number(out, f->bci == 0xffff ? UNKNOWN_BCI : f->bci);
	jfr_number(out, frame_word_of[f->type]);
}

uint32_t jfr_trace(struct jfr *j, uint32_t stack)
{
	uint32_t depth = profile_get_stack(j->p, stack).depth, id;
	struct buf *out = &j->traces.bytes;
	bool fresh, broken = false;

	if (stack == PROFILE_ROOT_STACK)
		return 0;
	id = numbers_of(&j->traces.ids, stack, &fresh);
	if (!fresh)
		return id;
	for (uint32_t at = stack; at != PROFILE_ROOT_STACK; at = profile_get_stack(j->p, at).parent)
		broken |= profile_get_frame(j->p, profile_get_stack(j->p, at).frame)->type ==
			  FRAME_BREAK;
	jfr_number(out, id);
	buf_addc(out, broken);
	jfr_number(out, depth);
	for (uint32_t at = stack; at != PROFILE_ROOT_STACK; at = profile_get_stack(j->p, at).parent)
		constants_frame(j, out, profile_get_stack(j->p, at).frame);
	return id;
}

uint32_t jfr_thread(struct jfr *j, uint32_t thread)
{
	const struct profile_thread *t = profile_get_thread(j->p, thread);
	struct buf *out = &j->threads.bytes, name = {0};
	bool fresh, java = t->java_tid > 0;
	uint32_t id = numbers_of(&j->threads.ids, thread, &fresh);

	if (!fresh)
		return id;
	if (*t->name)
		export_clean(&name, t->name, 0, 0);
	jfr_number(out, id);
	jfr_text(out, buf_str(&name));
	jfr_number(out, t->tid > 0 ? (uint64_t)t->tid : 0);
	if (java)
		jfr_text(out, buf_str(&name));
	else
		buf_addc(out, 0); /* no name */
	jfr_number(out, java ? (uint64_t)t->java_tid : 0);
	jfr_number(out, java ? THREAD_GROUP : 0);
	buf_addc(out, t->kind == THREAD_VIRTUAL);
	buf_done(&name);
	return id;
}

/* --- written ----------------------------------------------------------------------------------------- */

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
	jfr_number(&c->bytes, type);
	jfr_number(&c->bytes, count);
	buf_add(&c->bytes, bytes->data, bytes->len);
}

static void constants_words(struct constants *c, enum jfr_type type, const char *const *words,
	uint32_t first, uint32_t end)
{
	struct buf bytes = {0};

	for (uint32_t i = first; i < end; i++) {
		jfr_number(&bytes, i);
		jfr_text(&bytes, words[i]);
	}
	constants_pool(c, type, end - first, &bytes);
	buf_done(&bytes);
}

/* A pool of one text. */
static void constants_text(struct constants *c, enum jfr_type type, uint32_t id, const char *text)
{
	struct buf bytes = {0}, clean = {0};

	if (*text)
		export_clean(&clean, text, 0, 0);
	jfr_number(&bytes, id);
	jfr_text(&bytes, buf_str(&clean));
	constants_pool(c, type, 1, &bytes);
	buf_done(&clean);
	buf_done(&bytes);
}

static void constants_group(struct constants *c)
{
	struct buf bytes = {0};

	jfr_number(&bytes, THREAD_GROUP);
	jfr_number(&bytes, 0);
	jfr_text(&bytes, "main");
	constants_pool(c, JFR_THREAD_GROUP, 1, &bytes);
	buf_done(&bytes);
}

static void constants_symbols(struct constants *c, const struct intern *symbols)
{
	struct buf bytes = {0};

	for (uint32_t i = 0; i < symbols->count; i++) {
		jfr_number(&bytes, i + 1);
		jfr_text(&bytes, intern_text(symbols, i));
	}
	constants_pool(c, JFR_SYMBOL, symbols->count, &bytes);
	buf_done(&bytes);
}

void jfr_constants(struct jfr *j, const char *collector, struct buf *out)
{
	struct constants c = {0};
	struct buf body = {0};

	constants_words(&c, JFR_FRAME_TYPE, frame_words, 0, COUNT(frame_words));
	constants_words(&c, JFR_THREAD_STATE, state_words, JFR_STATE_DEFAULT, COUNT(state_words));
	constants_text(&c, JFR_GC_NAME, JFR_THE_COLLECTOR, collector);
	constants_text(&c, JFR_GC_WHEN, JFR_EACH_SECOND, "Each Second");
	constants_group(&c);
	constants_pool(&c, JFR_THREAD, j->threads.ids.count, &j->threads.bytes);
	constants_pool(&c, JFR_STACK_TRACE, j->traces.ids.count, &j->traces.bytes);
	constants_pool(&c, JFR_METHOD, j->methods.ids.count, &j->methods.bytes);
	constants_pool(&c, JFR_CLASS, j->classes.ids.count, &j->classes.bytes);
	constants_pool(&c, JFR_PACKAGE, j->packages.ids.count, &j->packages.bytes);
	constants_symbols(&c, &j->symbols);
	jfr_number(&body, JFR_CONSTANTS);
	jfr_number(&body, 0); /* when, for how long */
	jfr_number(&body, 0);
	jfr_number(&body, 0); /* no constants before these */
	jfr_number(&body, 1); /* they may be thrown away with the chunk */
	jfr_number(&body, c.pools);
	buf_add(&body, c.bytes.data, c.bytes.len);
	jfr_block(out, &body);
	buf_done(&c.bytes);
	buf_done(&body);
}

static void constants_done(struct jfr_pool *pool)
{
	numbers_done(&pool->ids);
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
