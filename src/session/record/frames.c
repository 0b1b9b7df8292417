/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of methods and modules by id, and a cache of converted frames, all filled by records. */
#include "session/record/reader.h"

#include "attach/jvm/line_table.h"
#include "base/buf.h"
#include "base/clean.h"
#include "base/hash.h"
#include "profile/calls/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An agent has at most 65,536 methods. Beyond this number, unused ones of the older half are evicted. */
#define FRAMES_METHODS_MAX  (1u << 17)
#define FRAMES_KNOWN_MAX    (1u << 20) /* then the cache is cleared */
#define FRAMES_MODULES      65536
#define KERNEL_ADDRESS_BITS (0xffull << 56) /* bits of a kernel address that its frame omits */

struct frames_method {
	uint32_t id;     /* the agent's id */
	uint32_t method; /* the model's id; PROFILE_NONE: a bare name, or evicted from the model */
	char *name;      /* a bare name of a stub, class, reason or request, not cleaned */
	uint32_t name_bytes;
	char *evicted; /* class, name and signature after eviction from the model, each with its NUL */
	uint8_t *lines; /* the compressed line table; NULL: none */
	uint32_t line_bytes;
	bool lines_20, used; /* used: referenced since the last eviction */
};

struct frames_known {
	uint64_t wire;
	uint32_t frame; /* the model's id */
};

struct frames {
	struct profile *profile;
	struct symbols *symbols;

	struct hash_index method_index;
	struct frames_method *methods;
	uint32_t method_count, method_cap;

	struct hash_index known_index;
	struct frames_known *known;
	uint32_t known_count, known_cap;

	char *timed_pattern; /* NULL: none */
	struct wire_timed_method timed[WIRE_TIMED_METHODS];
	uint32_t timed_count;
	bool timed_changed;

	const struct process_context *names; /* of the attributes of requests; NULL: unknown */

	int *modules;     /* ids of symbols by the agent's; -1: not announced */
	bool provisional; /* the last converted frame may get another name, so it must not be cached */
};

struct frames *frames_new(struct profile *profile, struct symbols *symbols)
{
	struct frames *f = xcalloc(1, sizeof(*f));

	f->profile = profile;
	f->symbols = symbols;
	f->modules = xmalloc(FRAMES_MODULES * sizeof(*f->modules));
	memset(f->modules, 0xff, FRAMES_MODULES * sizeof(*f->modules));
	return f;
}

static void frames_method_done(struct frames_method *m)
{
	free(m->name);
	free(m->evicted);
	free(m->lines);
}

/* Evicts the methods of the older half that no trace used since the last eviction, or that whole half if all were used. */
static void frames_evict_methods(struct frames *f)
{
	uint32_t half = f->method_count / 2, used = 0, n = 0;

	for (uint32_t i = 0; i < half; i++)
		used += f->methods[i].used;
	for (uint32_t i = 0; i < f->method_count; i++) {
		struct frames_method *m = &f->methods[i];

		if (i < half && (!m->used || used == half)) {
			frames_method_done(m);
			continue;
		}
		m->used = false;
		f->methods[n++] = *m;
	}
	f->method_count = n;
	hash_index_clear(&f->method_index);
	for (uint32_t i = 0; i < n; i++)
		hash_index_add(&f->method_index, hash_u64(f->methods[i].id), i);
}

void frames_free(struct frames *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->method_count; i++)
		frames_method_done(&f->methods[i]);
	hash_index_done(&f->method_index);
	hash_index_done(&f->known_index);
	free(f->methods);
	free(f->known);
	free(f->modules);
	free(f->timed_pattern);
	free(f);
}

/* --- methods ----------------------------------------------------------------------------------------- */

static struct frames_method *frames_find_method(const struct frames *f, uint32_t id)
{
	uint32_t i = hash_index_find(&f->method_index, hash_u64(id), NULL, NULL);

	return i == HASH_NONE ? NULL : &f->methods[i];
}

/* The entry of this id, empty: a new record replaces an earlier one. */
static struct frames_method *frames_add_method(struct frames *f, uint32_t id)
{
	struct frames_method *m = frames_find_method(f, id);

	if (m) {
		frames_method_done(m);
		*m = (struct frames_method){.id = id};
		return m;
	}
	if (f->method_count == FRAMES_METHODS_MAX)
		frames_evict_methods(f);
	f->methods = xgrow(f->methods, f->method_count, &f->method_cap, sizeof(*f->methods));
	hash_index_add(&f->method_index, hash_u64(id), f->method_count);
	m = &f->methods[f->method_count++];
	*m = (struct frames_method){.id = id};
	return m;
}

/* Adds the method to those whose calls are measured, if it matches the pattern. */
static void frames_time_method(struct frames *f, const struct frames_method *m)
{
	if (!f->timed_pattern || m->method == PROFILE_NONE || f->timed_count == WIRE_TIMED_METHODS)
		return;
	const struct profile_method *method = profile_get_method(f->profile, m->method);
	char text[512];
	if (!*method->class_name ||
		(size_t)snprintf(text, sizeof(text), "%s.%s", method->class_name, method->name) >=
			sizeof(text) ||
		!calls_pattern_matches(f->timed_pattern, text))
		return;
	/* Stack words of `this` and the parameters in "(IJ[Ljava/lang/String;)V". */
	const char *signature = method->signature;
	uint32_t words = 1;
	for (const char *c = signature + (*signature == '('); *c && *c != ')'; c++) {
		words += 1 + (*c == 'J' || *c == 'D');
		c += strspn(c, "[");
		if (*c == 'L')
			c += strcspn(c, ";");
		if (!*c)
			break;
	}
	f->timed[f->timed_count++] = (struct wire_timed_method){m->id, words};
	f->timed_changed = true;
}

void frames_time(struct frames *f, const char *pattern)
{
	free(f->timed_pattern);
	f->timed_pattern = *pattern ? xstrdup(pattern) : NULL;
	f->timed_count = 0;
	f->timed_changed = true;
	for (uint32_t i = 0; i < f->method_count; i++)
		frames_time_method(f, &f->methods[i]);
}

uint32_t frames_timed(
	struct frames *f, struct wire_timed_method out[WIRE_TIMED_METHODS], bool *changed)
{
	*changed = f->timed_changed;
	f->timed_changed = false;
	memcpy(out, f->timed, sizeof(f->timed));
	return f->timed_count;
}

void frames_method(struct frames *f, const struct wire_method *rec)
{
	struct frames_method *m = frames_add_method(f, rec->id);
	const char *name = rec->text + rec->class_bytes, *signature = name + rec->name_bytes;
	struct buf text = {0};

	m->method = PROFILE_NONE;
	if (!rec->class_bytes && !rec->signature_bytes) {
		m->name = xmalloc(rec->name_bytes + 1u); /* of a request: with NULs */
		memcpy(m->name, name, rec->name_bytes);
		m->name[rec->name_bytes] = '\0';
		m->name_bytes = rec->name_bytes;
		return;
	}
	clean_add_class(&text, rec->text, rec->class_bytes);
	buf_addc(&text, '\0');
	size_t name_at = text.len;
	clean_add(&text, name, rec->name_bytes);
	buf_addc(&text, '\0');
	size_t signature_at = text.len;
	clean_add(&text, signature, rec->signature_bytes);
	if (rec->line_bytes) {
		m->lines = xmalloc(rec->line_bytes);
		memcpy(m->lines, signature + rec->signature_bytes, rec->line_bytes);
		m->line_bytes = rec->line_bytes;
		m->lines_20 = rec->flags & WIRE_METHOD_LINES_20;
	}
	m->method = profile_method(
		f->profile, text.data, text.data + name_at, text.data + signature_at, "");
	frames_time_method(f, m);
	buf_done(&text);
}

/* --- conversion by kind of frame --------------------------------------------------------------------- */

uint32_t frames_reason(struct frames *f, const char *reason)
{
	return profile_frame(f->profile, profile_method(f->profile, "", reason, "", ""),
		FRAME_BREAK, WIRE_BCI_UNKNOWN, 0);
}

/* A frame of a bare name: a stub, a class, a reason. */
static uint32_t frames_bare(struct frames *f, uint64_t wire, enum frame_type type)
{
	const struct frames_method *m = frames_find_method(f, WIRE_FRAME_METHOD(wire));
	bool class = frame_is_class(type);
	struct buf text = {0};

	if (!m || !m->name)
		return PROFILE_NONE;
	if (class)
		clean_add_class(&text, m->name, strlen(m->name));
	else
		clean_add(&text, m->name, strlen(m->name));
	uint32_t method = profile_method(
		f->profile, class ? buf_str(&text) : "", class ? "" : buf_str(&text), "", "");
	buf_done(&text);
	return profile_frame(f->profile, method, type, WIRE_BCI_UNKNOWN, 0);
}

/*
 * A method's record precedes its frames, except for names that the agent gave up waiting for. A record with a bare name is the
 * reason why the agent could not read the method.
 */
static uint32_t frames_java(struct frames *f, uint64_t wire, enum frame_type type)
{
	struct frames_method *m = frames_find_method(f, WIRE_FRAME_METHOD(wire));
	int line = 0;

	if (m && m->name)
		return frames_bare(f, wire, FRAME_BREAK);
	if (m && m->evicted) { /* add it to the model again */
		const char *name = m->evicted + strlen(m->evicted) + 1;
		m->method =
			profile_method(f->profile, m->evicted, name, name + strlen(name) + 1, "");
		free(m->evicted);
		m->evicted = NULL;
	}
	if (!m || m->method == PROFILE_NONE)
		return PROFILE_NONE;
	if (m->lines && WIRE_FRAME_BCI(wire) != WIRE_BCI_UNKNOWN)
		line = line_table_find(
			m->lines, m->line_bytes, m->lines_20, (uint16_t)WIRE_FRAME_BCI(wire));
	return profile_frame(f->profile, m->method, type, WIRE_FRAME_BCI(wire), line);
}

static uint32_t frames_cut(struct frames *f, uint64_t wire, enum frame_type type)
{
	unsigned long long count = WIRE_FRAME_PAYLOAD(wire);
	char text[64];

	(void)type;
	snprintf(text, sizeof(text),
		count == 1    ? "[1 frame left out]"
		: count < 100 ? "[%llu frames left out]"
			      : "[%llu+ frames left out]",
		count);
	return frames_reason(f, text);
}

/* A frame for a function without a class. */
static uint32_t frames_function(struct frames *f, enum frame_type type, const struct buf *name,
	const char *module, size_t module_bytes)
{
	struct buf clean = {0};

	clean_add(&clean, module, module_bytes);
	uint32_t method = profile_method(f->profile, "", buf_str(name), "", buf_str(&clean));
	buf_done(&clean);
	return profile_frame(f->profile, method, type, WIRE_BCI_UNKNOWN, 0);
}

/* "compiling C.m" as the name of a function, distinct from the method: compiling it is not running it. */
static uint32_t frames_compiles(struct frames *f, uint64_t wire, enum frame_type type)
{
	uint32_t java = frames_java(f, wire, FRAME_JAVA);
	struct buf name = {0};

	if (java == PROFILE_NONE)
		return PROFILE_NONE;
	const struct profile_method *method =
		profile_get_method(f->profile, profile_get_frame(f->profile, java)->method);
	buf_printf(&name, "compiling %s%s%s", method->class_name, *method->class_name ? "." : "",
		method->name);
	uint32_t frame = frames_function(f, type, &name, "", 0);
	buf_done(&name);
	return frame;
}

static uint32_t frames_symbolic(struct frames *f, uint64_t wire, enum frame_type type)
{
	uint64_t payload = WIRE_FRAME_PAYLOAD(wire);
	struct buf name = {0};
	struct symbol sym;
	uint32_t frame;

	if (wire == WIRE_FRAME(WIRE_FRAME_KERNEL, WIRE_KERNEL_SWITCH)) {
		buf_printf(&name, "[context switches]");
		frame = frames_function(f, type, &name, "", 0);
		buf_done(&name);
		return frame;
	}
	if (!f->symbols)
		return PROFILE_NONE;
	if (type == FRAME_KERNEL)
		symbols_kernel(f->symbols, payload | KERNEL_ADDRESS_BITS, &sym);
	else if (WIRE_FRAME_KIND(wire) == WIRE_FRAME_RAW)
		symbols_raw(f->symbols, payload, &sym);
	else
		symbols_native(f->symbols, f->modules[WIRE_FRAME_MODULE(wire)],
			WIRE_FRAME_OFFSET(wire), &sym);
	f->provisional = f->provisional || sym.loading;
	if (sym.loading)
		buf_printf(&name, "0x%llx", (unsigned long long)sym.start);
	clean_add(&name, sym.name, strlen(sym.name));
	frame = frames_function(
		f, sym.is_jvm ? FRAME_VM : type, &name, sym.module, strlen(sym.module));
	buf_done(&name);
	return frame;
}

static const struct {
	uint32_t (*make)(struct frames *f, uint64_t wire, enum frame_type type);
	enum frame_type type;
	const char *unknown; /* placeholder if no record has named it */
} frames_kinds[] = {
	[WIRE_FRAME_INTERPRETED] = {frames_java, FRAME_INTERPRETED, "[unknown_method]"},
	[WIRE_FRAME_C1] = {frames_java, FRAME_C1, "[unknown_method]"},
	[WIRE_FRAME_C2] = {frames_java, FRAME_COMPILED, "[unknown_method]"},
	[WIRE_FRAME_INLINED] = {frames_java, FRAME_INLINED, "[unknown_method]"},
	[WIRE_FRAME_JAVA] = {frames_java, FRAME_JAVA, "[unknown_method]"},
	[WIRE_FRAME_NO_INLINING] = {frames_java, FRAME_NO_INLINING, "[unknown_method]"},
	[WIRE_FRAME_C1_NO_INLINING] = {frames_java, FRAME_C1_NO_INLINING, "[unknown_method]"},
	[WIRE_FRAME_NATIVE] = {frames_symbolic, FRAME_NATIVE, "[unknown_native]"},
	[WIRE_FRAME_RAW] = {frames_symbolic, FRAME_NATIVE, "[unknown_native]"},
	[WIRE_FRAME_KERNEL] = {frames_symbolic, FRAME_KERNEL, "[unknown_kernel]"},
	[WIRE_FRAME_STUB] = {frames_bare, FRAME_VM, "[unknown_stub]"},
	[WIRE_FRAME_CLASS] = {frames_bare, FRAME_CLASS, "[unknown_class]"},
	[WIRE_FRAME_CLASS_OUTSIDE] = {frames_bare, FRAME_CLASS_OUTSIDE, "[unknown_class]"},
	[WIRE_FRAME_BREAK] = {frames_bare, FRAME_BREAK, "[unknown_reason]"},
	[WIRE_FRAME_COMPILES] = {frames_compiles, FRAME_VM, "[unknown_method]"},
	[WIRE_FRAME_CUT] = {frames_cut, FRAME_BREAK, "[unknown_reason]"},
};
#define FRAMES_KINDS (sizeof(frames_kinds) / sizeof(frames_kinds[0]))

/* --- frames seen before ------------------------------------------------------------------------------ */

static uint32_t frames_find_known(const struct frames *f, uint64_t wire)
{
	return hash_index_find(&f->known_index, hash_u64(wire), NULL, NULL);
}

/* Caches a converted frame. */
static void frames_remember(struct frames *f, uint64_t wire, uint32_t frame)
{
	uint32_t i = frames_find_known(f, wire);

	if (i != HASH_NONE) {
		f->known[i].frame = frame;
		return;
	}
	if (f->known_count == FRAMES_KNOWN_MAX) {
		f->known_count = 0;
		hash_index_clear(&f->known_index);
	}
	f->known = xgrow(f->known, f->known_count, &f->known_cap, sizeof(*f->known));
	hash_index_add(&f->known_index, hash_u64(wire), f->known_count);
	f->known[f->known_count++] = (struct frames_known){wire, frame};
}

static bool frames_has_method(unsigned kind)
{
	return kind < FRAMES_KINDS &&
	       (frames_kinds[kind].make == frames_java || frames_kinds[kind].make == frames_bare ||
		       frames_kinds[kind].make == frames_compiles);
}

uint32_t frames_get(struct frames *f, uint64_t wire)
{
	uint32_t i = frames_find_known(f, wire);
	unsigned kind = WIRE_FRAME_KIND(wire);
	struct frames_method *m =
		frames_has_method(kind) ? frames_find_method(f, WIRE_FRAME_METHOD(wire)) : NULL;

	if (m)
		m->used = true;
	if (i != HASH_NONE)
		return f->known[i].frame;
	if (kind >= FRAMES_KINDS || !frames_kinds[kind].make)
		return frames_reason(f, "[unknown_frame]");
	/* The address of a raw frame may later belong to other code. */
	f->provisional = kind == WIRE_FRAME_RAW && f->symbols;
	uint32_t frame = frames_kinds[kind].make(f, wire, frames_kinds[kind].type);
	if (frame == PROFILE_NONE)
		return frames_reason(f,
			frames_kinds[kind].unknown); /* not cached: its record may still arrive */
	if (!f->provisional)
		frames_remember(f, wire, frame);
	return frame;
}

bool frames_io(struct frames *f, uint64_t wire, struct profile_io *out, struct buf *text)
{
	struct frames_method *m = frames_find_method(f, WIRE_FRAME_METHOD(wire));

	if (!m || !m->name)
		return false;
	m->used = true;
	const char *where = strchrnul(m->name, '\t');
	clean_text(out->what, sizeof(out->what), m->name, (size_t)(where - m->name));
	where += *where == '\t';
	clean_add(text, where, strlen(where));
	out->where = buf_str(text);
	return true;
}

/* u8 key, u8 length, value... */
uint32_t frames_context(struct frames *f, uint64_t wire, uint32_t stack)
{
	struct frames_method *m = frames_find_method(f, WIRE_FRAME_METHOD(wire));
	const unsigned char *at = m ? (const unsigned char *)m->name : NULL;
	struct buf key = {0}, value = {0};
	uint32_t left = at ? m->name_bytes : 0;

	if (!left)
		return profile_stack_child(f->profile, stack,
			profile_frame(f->profile,
				profile_method(f->profile, "", "[other requests]", "", ""),
				FRAME_CONTEXT, WIRE_BCI_UNKNOWN, 0));
	m->used = true;
	for (; left >= 2 && 2u + at[1] <= left; left -= 2u + at[1], at += 2u + at[1]) {
		const char *name = f->names ? f->names->keys[at[0]] : NULL;

		buf_clear(&key);
		buf_clear(&value);
		if (name)
			buf_adds(&key, name);
		else
			buf_printf(&key, "attribute %u", at[0]);
		clean_add(&value, (const char *)at + 2, at[1]);
		stack = profile_stack_child(f->profile, stack,
			frames_function(f, FRAME_CONTEXT, &value, buf_str(&key), key.len));
	}
	buf_done(&key);
	buf_done(&value);
	return stack;
}

void frames_name_attributes(struct frames *f, const struct process_context *names)
{
	f->names = names;
}

static bool frames_frame_ready(const struct frames *f, uint64_t wire)
{
	switch (WIRE_FRAME_KIND(wire)) {
	case WIRE_FRAME_NATIVE:
		return frames_find_known(f, wire) != HASH_NONE ||
		       symbols_ready_native(f->symbols, f->modules[WIRE_FRAME_MODULE(wire)],
			       WIRE_FRAME_OFFSET(wire));
	case WIRE_FRAME_KERNEL:
		return wire == WIRE_FRAME(WIRE_FRAME_KERNEL, WIRE_KERNEL_SWITCH) ||
		       symbols_ready_kernel(
			       f->symbols, WIRE_FRAME_PAYLOAD(wire) | KERNEL_ADDRESS_BITS);
	case WIRE_FRAME_RAW: return symbols_ready_raw(f->symbols, WIRE_FRAME_PAYLOAD(wire));
	default: return true;
	}
}

bool frames_ready(const struct frames *f, const struct wire_trace *rec)
{
	bool ready = true;

	for (uint32_t i = 0; f->symbols && i < rec->frame_count; i++)
		ready &= frames_frame_ready(
			f, rec->frames[i]); /* no early exit: request all files at once */
	return ready;
}

void frames_pin(struct frames *f, enum profile_kind kind, bool leaving)
{
	if (kind == PROFILE_FRAMES && leaving) {
		uint32_t n = 0;

		hash_index_clear(&f->known_index);
		for (uint32_t i = 0; i < f->known_count; i++) {
			if (!profile_is_pinned(f->profile, f->known[i].frame))
				continue;
			f->known[n] = f->known[i];
			hash_index_add(&f->known_index, hash_u64(f->known[n].wire), n);
			n++;
		}
		f->known_count = n;
	}
	for (uint32_t i = 0; kind == PROFILE_FRAMES && !leaving && i < f->known_count; i++)
		if (!f->symbols && !frames_has_method(WIRE_FRAME_KIND(f->known[i].wire)))
			profile_pin(f->profile,
				f->known[i].frame); /* a recording defines it only once */
	for (uint32_t i = 0; kind == PROFILE_METHODS && leaving && i < f->method_count; i++)
		if (f->methods[i].method != PROFILE_NONE &&
			!profile_is_pinned(f->profile, f->methods[i].method)) {
			/* The agent may still use the id of a method that the model evicts: save the texts. */
			const struct profile_method *method =
				profile_get_method(f->profile, f->methods[i].method);
			struct buf text = {0};

			buf_add(&text, method->class_name, strlen(method->class_name) + 1);
			buf_add(&text, method->name, strlen(method->name) + 1);
			buf_add(&text, method->signature, strlen(method->signature) + 1);
			f->methods[i].evicted = buf_steal(&text);
			f->methods[i].method = PROFILE_NONE;
		}
}

/* --- modules -------------------------------------------------------------------- */

void frames_module(struct frames *f, uint32_t id, const struct proc_map *m)
{
	if (!f->symbols || id >= FRAMES_MODULES || f->modules[id] >= 0)
		return;
	f->modules[id] = symbols_module_add(f->symbols, m);
	if (strstr(m->path, "/libjvm.so")) /* the largest file, needed for nearly every stack */
		symbols_load_module(f->symbols, f->modules[id]);
}
