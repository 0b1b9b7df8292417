/* SPDX-License-Identifier: Apache-2.0 */
/* Interning of texts, methods (by class, name, signature and module; with their display name) and frames. */
#include "profile/model/model.h"

#include "base/clean.h"
#include "profile/model/fit.h"

/* --- texts -------------------------------------------------------------------------------------------- */

#define CUT "\xe2\x80\xa6" /* an ellipsis */

const char *model_text(struct model_texts *t, const char *text, bool in_parts)
{
	size_t len = strnlen(text, PROFILE_TEXT_MAX + 1);
	bool whole = len <= PROFILE_TEXT_MAX;

	if (whole && clean_plain(text, len) == len)
		return text;
	for (len = whole ? len : PROFILE_TEXT_MAX - strlen(CUT);
		!whole && len && ((unsigned char)text[len] & 0xc0) == 0x80;)
		len--;
	buf_clear(&t->clean);
	const char *tab = in_parts ? memchr(text, '\t', len) : NULL;
	if (tab) {
		clean_add(&t->clean, text, (size_t)(tab - text));
		buf_addc(&t->clean, '\t');
		len -= (size_t)(tab + 1 - text);
		text = tab + 1;
	}
	clean_add(&t->clean, text, len);
	if (!whole) {
		buf_adds(&t->clean, CUT);
		t->cut++;
	}
	return buf_str(&t->clean);
}

/* --- methods ------------------------------------------------------------------------------------------ */

enum { METHOD_CLASS, METHOD_NAME, METHOD_SIGNATURE, METHOD_MODULE };

struct methods_key {
	const struct model_methods *m;
	uint32_t ids[4];
};

static bool methods_same(const void *ctx, uint32_t value)
{
	const struct methods_key *key = ctx;

	return !memcmp(key->m->list[value].ids, key->ids, sizeof(key->ids));
}

void model_methods_done(struct model_methods *m)
{
	intern_done(&m->strings);
	buf_done(&m->texts.clean);
	hash_index_done(&m->index);
	vacant_done(&m->vacant);
	free(m->list);
}

static bool methods_nameless(const char *class_name, const char *name)
{
	return !*class_name && !strncmp(name, "0x", 2);
}

bool profile_method_nameless(const struct profile_method *method)
{
	return methods_nameless(method->class_name, method->name);
}

/*
 * Functions of the VM and the kernel have a letter of their own in lists and need no module, unless
 * they are addresses.
 */
static bool methods_module_shown(const char *name, const char *module)
{
	return *module && (methods_nameless("", name) ||
				  (strncmp(module, "libjvm.", 7) && strcmp(module, "[kernel]")));
}

enum frame_type profile_method_type(const struct profile_method *method)
{
	const char *module = method->module;

	if (*method->class_name)
		return FRAME_JAVA;
	if (!*module || !strncmp(module, "libjvm.", 7))
		return FRAME_VM; /* stubs have no module */
	return *module == '[' && strcmp(module, "[vdso]") ? FRAME_KERNEL : FRAME_NATIVE;
}

static uint32_t methods_full(struct model_methods *m, const uint32_t ids[4])
{
	const char *class_name = intern_text(&m->strings, ids[METHOD_CLASS]);
	const char *name = intern_text(&m->strings, ids[METHOD_NAME]);
	const char *module = intern_text(&m->strings, ids[METHOD_MODULE]);
	size_t len = strlen(module);
	struct buf full = {0};

	if (*class_name)
		buf_printf(&full, "%s%s%s", class_name, *name ? "." : "", name);
	else if (!methods_module_shown(name, module) && *name)
		buf_adds(&full, name);
	else if (*module == '[' && module[len - 1] == ']')
		buf_printf(&full, "%s%s%s", module, *name ? " " : "", name);
	else if (*module)
		buf_printf(&full, "[%s]%s%s", module, *name ? " " : "", name);
	else
		buf_adds(&full, "[unknown]");
	uint32_t id = intern_add(&m->strings, buf_str(&full), full.len);
	buf_done(&full);
	return id;
}

uint32_t profile_method(const struct profile *p, const char *class_name, const char *name,
	const char *signature, const char *module)
{
	const char *text[4] = {class_name, name, signature, module};
	struct model_methods *m = p->methods;
	struct methods_key key = {.m = m};

	for (int i = 0; i < 4; i++) {
		/* The signature of FRAME_WAITS has two parts. */
		text[i] = model_text(&m->texts, text[i] ? text[i] : "", i == METHOD_SIGNATURE);
		key.ids[i] = intern_add(&m->strings, text[i], strlen(text[i]));
	}
	uint64_t hash = hash_bytes(key.ids, sizeof(key.ids), 0);
	uint32_t id = hash_index_find(&m->index, hash, methods_same, &key);
	if (id != HASH_NONE)
		return id;
	if (m->count - m->vacant.count == MODEL_METHODS_MAX)
		return PROFILE_NONE;
	id = fit_id(&m->vacant, &m->count);
	m->list = fit(m->list, &m->cap, m->count, sizeof(*m->list));
	struct model_method *method = &m->list[id];
	memcpy(method->ids, key.ids, sizeof(key.ids));
	method->full = methods_full(m, key.ids);
	method->pub = (struct profile_method){
		.class_name = intern_text(&m->strings, key.ids[METHOD_CLASS]),
		.name = intern_text(&m->strings, key.ids[METHOD_NAME]),
		.signature = intern_text(&m->strings, key.ids[METHOD_SIGNATURE]),
		.module = intern_text(&m->strings, key.ids[METHOD_MODULE]),
		.full = intern_text(&m->strings, method->full)};
	m->jvm |= *method->pub.class_name || !strncmp(method->pub.module, "libjvm.", 7);
	method->full_bytes = (uint32_t)strlen(method->pub.full);
	method->hash_full = hash_bytes(method->pub.full, method->full_bytes, 1);
	hash_index_add(&m->index, hash, id);
	return id;
}

const struct profile_method *profile_get_method(const struct profile *p, uint32_t method)
{
	static const struct profile_method unknown = {"", "", "", "", "[unknown]"};

	return method < p->methods->count ? &p->methods->list[method].pub : &unknown;
}

uint32_t profile_method_count(const struct profile *p)
{
	return p->methods->count;
}

void model_methods_sweep(struct model_methods *m, const uint64_t *keep)
{
	uint64_t *texts = xcalloc((size_t)m->strings.count / 64 + 1, sizeof(*texts));
	struct profile_method none = {"", "", "", "", "[unknown]"};

	vacant_set(&m->vacant, keep, m->count);
	hash_index_clear(&m->index);
	for (uint32_t i = 0; i < m->count; i++) {
		struct model_method *method = &m->list[i];

		if (vacant_has(&m->vacant, i)) {
			method->pub = none;
			continue;
		}
		hash_index_add(&m->index, hash_bytes(method->ids, sizeof(method->ids), 0), i);
		for (int k = 0; k < 4; k++)
			texts[method->ids[k] / 64] |= 1ull << (method->ids[k] % 64);
		texts[method->full / 64] |= 1ull << (method->full % 64);
	}
	intern_sweep(&m->strings, texts);
	free(texts);
}

size_t model_methods_bytes(const struct model_methods *m)
{
	/* malloc's header per text, and the index's 16-byte slots, included. */
	return m->strings.bytes + (size_t)m->strings.count * 16 + (size_t)m->strings.cap * 8 +
	       ((size_t)m->strings.index.mask + 1 + m->index.mask + 1) * 16 +
	       (size_t)m->cap * sizeof(*m->list);
}

/* --- frames ------------------------------------------------------------------------------------------ */

struct frames_key {
	const struct model_frames *f;
	struct profile_frame frame;
};

static uint64_t frame_hash(const struct profile_frame *f)
{
	return hash_pair(
		(uint64_t)f->method << 32 | (uint32_t)f->bci << 8 | f->type, (uint32_t)f->line);
}

static bool frames_same(const void *ctx, uint32_t value)
{
	const struct frames_key *key = ctx;

	return !memcmp(&key->f->list[value], &key->frame, sizeof(key->frame));
}

void model_frames_done(struct model_frames *f)
{
	hash_index_done(&f->index);
	vacant_done(&f->vacant);
	free(f->list);
}

uint32_t profile_frame(
	const struct profile *p, uint32_t method, enum frame_type type, unsigned bci, int line)
{
	struct model_frames *f = p->frames;
	struct frames_key key = {
		f, {method, (uint16_t)bci, (uint8_t)(type < FRAME_TYPES ? type : FRAME_BREAK), 0,
			   line}};
	uint64_t hash = frame_hash(&key.frame);

	if (method >= p->methods->count)
		return PROFILE_NONE;
	uint32_t id = hash_index_find(&f->index, hash, frames_same, &key);
	if (id != HASH_NONE)
		return id;
	id = fit_id(&f->vacant, &f->count);
	f->list = fit(f->list, &f->cap, f->count, sizeof(*f->list));
	f->list[id] = key.frame;
	hash_index_add(&f->index, hash, id);
	return id;
}

const struct profile_frame *profile_get_frame(const struct profile *p, uint32_t frame)
{
	static const struct profile_frame unknown = {PROFILE_NONE, 0xffff, FRAME_BREAK, 0, 0};

	return frame < p->frames->count ? &p->frames->list[frame] : &unknown;
}

void model_frames_sweep(struct model_frames *f, const uint64_t *keep)
{
	vacant_set(&f->vacant, keep, f->count);
	hash_index_clear(&f->index);
	for (uint32_t i = 0; i < f->count; i++)
		if (!vacant_has(&f->vacant, i))
			hash_index_add(&f->index, frame_hash(&f->list[i]), i);
}
