/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses frames in the notation of collapsed stacks. The spelling determines the kind of code and
 * how it was compiled:
 *
 *   pkg/Class.method, pkg.Class.method    Java; suffix _[j]: C2, _[1]: C1, _[0]: interpreted, _[i]: inlined
 *   pkg.Class_[i], pkg.Class_[k], byte[]  a class, as a leaf
 *   name_[k]                              kernel
 *   [libc.so.6] 0x777e8                   native code without a name, in that file
 *   [unknown_Java], [break_native]        the reason why a walk failed
 *   anything else                         native code
 */
#include "import/feed.h"

#include "base/clean.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX_BYTES 4 /* "_[j]" */

/* A text without its suffix; how: the letter between the brackets, 0: none. */
struct frame_text {
	const char *text;
	size_t len;
	char how;
	bool leaf;
};

static const struct {
	char how;
	enum frame_type type;
} hows[] = {
	{'j', FRAME_COMPILED},
	{'1', FRAME_C1},
	{'0', FRAME_INTERPRETED},
	{'i', FRAME_INLINED},
};

static struct frame_text frame_text_cut(const char *text, size_t len, bool leaf)
{
	struct frame_text f = {text, len, 0, leaf};
	const char *end = text + len - SUFFIX_BYTES;

	if (len > SUFFIX_BYTES && !memcmp(end, "_[", 2) && end[3] == ']' &&
		strchr("j10ik", end[2])) {
		f.how = end[2];
		f.len -= SUFFIX_BYTES;
	}
	return f;
}

/* True for characters of Java identifiers, including non-ASCII letters. */
static bool java_letter(unsigned char c)
{
	return isalnum(c) || c == '_' || c == '$' || c >= 0x80;
}

/* True for a method name, including "<init>" and mangled names of Kotlin and Scala. */
static bool java_method(const char *s, size_t len)
{
	if (len > 2 && *s == '<')
		return s[len - 1] == '>' && memchr(s, '(', len) == NULL;
	for (size_t i = 0; i < len; i++)
		if (!java_letter((unsigned char)s[i]) && s[i] != '-' && s[i] != '+')
			return false;
	return len && !isdigit((unsigned char)*s);
}

/* True for a class name: parts separated by dots or slashes; hidden classes end with a number. */
static bool java_class(const char *s, size_t len)
{
	bool begin = true;

	for (size_t i = 0; i < len; i++) {
		if (s[i] == '/' || s[i] == '.') {
			if (begin)
				return false;
			begin = true;
		} else if (!java_letter((unsigned char)s[i]) && s[i] != '-' && s[i] != '+') {
			return false;
		} else {
			begin = false;
		}
	}
	return !begin;
}

static bool part_is_class(const char *s, size_t len)
{
	size_t at = len;

	while (at > 0 && s[at - 1] != '.' && s[at - 1] != '/')
		at--;
	return at < len && (isupper((unsigned char)s[at]) || (unsigned char)s[at] >= 0x80 ||
				   memchr(s + at, '$', len - at));
}

/* The dot before the method name, or NULL if this is not a Java method. */
static const char *java_dot(const struct frame_text *f)
{
	const char *dot = memrchr(f->text, '.', f->len);
	size_t class_len = dot ? (size_t)(dot - f->text) : 0;

	if (!class_len || !java_method(dot + 1, f->len - class_len - 1) ||
		!java_class(f->text, class_len))
		return NULL;
	/* native names have dots, too ("x.isra.0", "libc.so"): require evidence of Java */
	if (memchr(f->text, '/', class_len) || part_is_class(f->text, class_len) ||
		(f->how && f->how != 'k'))
		return dot;
	return NULL;
}

/* True for a class alone: dotted with a capitalized last part, or an array. */
static bool frame_text_is_class(const struct frame_text *f)
{
	size_t len = f->len;
	bool array = false;

	if (!f->leaf || memchr(f->text, '/', len))
		return false;
	while (len > 2 && !memcmp(f->text + len - 2, "[]", 2)) {
		len -= 2;
		array = true;
	}
	if (!java_class(f->text, len))
		return false;
	return array || ((f->how == 'i' || f->how == 'k') && part_is_class(f->text, len));
}

static uint32_t frame_of(struct import *im, uint32_t method, enum frame_type type)
{
	return profile_frame(im->p, method, type, 0xffff, 0);
}

static uint32_t frame_text_bracket(struct import *im, const char *text, size_t len)
{
	static const char broken[] = "[break_";
	char name[256];

	if (len > sizeof(broken) && !strncmp(text, broken, strlen(broken))) {
		feed_copy(name, sizeof(name), text + strlen(broken), len - strlen(broken) - 1);
		return frame_of(im, feed_method(im, "", name, "", ""), FRAME_BREAK);
	}
	feed_copy(name, sizeof(name), text, len);
	if (!strcmp(name, "[unknown]"))
		return frame_of(im, feed_method(im, "", "", "", ""), FRAME_BREAK);
	if (!strncmp(name, "[unknown", strlen("[unknown")) || !strncmp(name, "[not_", 5))
		return frame_of(im, feed_method(im, "", name, "", ""), FRAME_BREAK);
	return PROFILE_NONE;
}

static uint32_t frame_native(struct import *im, const struct feed_name *n)
{
	/* "[libc.so.6] 0x777e8": the file, and the address after it; NULL: the name has another form */
	const char *end = *n->text == '[' ? strstr(n->text, "] 0x") : NULL;
	const char *address = end ? end + strlen("] ") : NULL, *module;
	size_t digits = end ? strspn(address + 2, "0123456789abcdef") : 0;
	char file[256];

	if (!digits || address[2 + digits])
		address = NULL;
	else
		feed_copy(file, sizeof(file), n->text + 1, (size_t)(end - n->text) - 1);
	/* Ignore files that are not libraries, but not "[vdso]" etc. */
	module = *n->module == '[' && *n->text == '[' && !address ? "" : n->module;
	if (address && !*module)
		module = strcmp(file, "vdso") != 0 ? file : "[vdso]";
	return profile_frame(im->p, feed_method(im, "", address ? address : n->text, "", module),
		!strcmp(module, "[kernel]")                      ? FRAME_KERNEL
		: !strncmp(module, "libjvm.", strlen("libjvm.")) ? FRAME_VM
		: n->inlined                                     ? FRAME_INLINED
								 : FRAME_NATIVE,
		0xffff, n->line);
}

static uint32_t frame_text_make(struct import *im, const struct frame_text *f)
{
	char *text = xstrndup(f->text, f->len);
	const char *dot = NULL;
	enum frame_type type = FRAME_JAVA;
	uint32_t frame = PROFILE_NONE;

	if (*text == '[' && f->len && text[f->len - 1] == ']')
		frame = frame_text_bracket(im, text, f->len);
	else if (frame_text_is_class(f))
		frame = frame_of(im, feed_method(im, text, "", "", ""),
			f->how == 'k' ? FRAME_CLASS_OUTSIDE : FRAME_CLASS);
	else if (f->how != 'k' && (dot = java_dot(f)) != NULL) {
		for (size_t i = 0; i < sizeof(hows) / sizeof(hows[0]); i++)
			if (hows[i].how == f->how)
				type = hows[i].type;
		text[dot - f->text] = '\0';
		frame = frame_of(
			im, feed_method(im, text, text + (dot - f->text) + 1, "", ""), type);
	}
	if (frame == PROFILE_NONE)
		frame = frame_native(im, &(struct feed_name){.text = text,
						 .module = f->how == 'k' ? "[kernel]" : ""});
	free(text);
	return frame;
}

uint32_t feed_method(struct import *im, const char *class_name, const char *name,
	const char *signature, const char *module)
{
	const char *texts[] = {class_name, name, signature, module};
	struct buf dotted = {0};

	/* Dots instead of slashes, except before the number of a hidden class. */
	for (const char *s = class_name; *s; s++)
		buf_addc(&dotted, *s == '/' && !(s[1] == '0' && s[2] == 'x') ? '.' : *s);
	texts[0] = buf_str(&dotted);
	for (int i = 0; i < 4; i++)
		im->unchecked_bytes += strnlen(texts[i], FEED_TEXT_MAX);
	uint32_t method = profile_method(im->p, texts[0], texts[1], texts[2], texts[3]);
	buf_done(&dotted);
	return method;
}

/* The length of the class name, 0 if this is not a Java method. */
static size_t name_class(const struct feed_name *n, size_t len)
{
	const struct frame_text f = {n->text, len, 0, false};
	const struct frame_text word = {n->text, strcspn(n->text, " "), 0, false};
	const char *dot = *n->signature ? memrchr(n->text, '.', len) : java_dot(&f);

	/* "a.B.c waits to be notified": a frame of the method */
	if (!dot && word.len < len)
		dot = java_dot(&word);
	return dot ? (size_t)(dot - n->text) : 0;
}

const char *feed_library(const char *file)
{
	const char *name = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	size_t len = strlen(name);

	if (*name == '[' && len && name[len - 1] == ']')
		return name;
	return strstr(name, ".so") ? name : "";
}

bool feed_is_native_source(const char *file)
{
	static const char *const java[] = {".java", ".kt", ".scala", ".groovy", ".clj", NULL};
	const char *name = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	const char *suffix = strrchr(name, '.');

	if (!suffix || *feed_library(file))
		return false;
	for (int i = 0; java[i]; i++)
		if (!strcmp(java[i], suffix))
			return false;
	return true;
}

uint32_t feed_frame_name(struct import *im, const struct feed_name *n)
{
	size_t len = strlen(n->text), class_len = *n->module || n->native ? 0 : name_class(n, len);
	const struct frame_text class = {n->text, len, 'i', n->leaf};
	uint32_t frame = PROFILE_NONE;

	if (*n->text == '[' && len && n->text[len - 1] == ']')
		frame = frame_text_bracket(im, n->text, len);
	if (frame != PROFILE_NONE)
		return frame;
	if (!*n->signature && frame_text_is_class(&class))
		return frame_of(im, feed_method(im, n->text, "", "", ""), FRAME_CLASS);
	if (!class_len)
		return frame_native(im, n);
	char *class_name = xstrndup(n->text, class_len);
	frame = profile_frame(im->p,
		feed_method(im, class_name, n->text + class_len + 1, n->signature, ""),
		n->inlined ? FRAME_INLINED : FRAME_JAVA, 0xffff, n->line);
	free(class_name);
	return frame;
}

uint32_t feed_frame_text(struct import *im, const char *text, size_t len, bool leaf)
{
	uint32_t known = im->frames.count;

	/* the same text as a leaf may be a class, a different frame */
	buf_clear(&im->text);
	buf_addc(&im->text, leaf ? 'l' : '-');
	buf_add(&im->text, text, len < FEED_TEXT_MAX ? len : FEED_TEXT_MAX);
	uint32_t id = intern_add(&im->frames, buf_str(&im->text), im->text.len);
	if (id < known)
		return im->frame_of[id];
	if (id >= im->frames_cap)
		im->frame_of = xgrow(im->frame_of, id, &im->frames_cap, sizeof(*im->frame_of));
	struct frame_text cut =
		frame_text_cut(im->frames.texts[id] + 1, strlen(im->frames.texts[id] + 1), leaf);
	im->frame_of[id] = frame_text_make(im, &cut);
	return im->frame_of[id];
}

/* --- threads ----------------------------------------------------------------------------------------- */

/* "[name tid=7]", "[name #7]", "[virtual-#7]", "[tid=7]": a thread. */
static bool thread_text(const char *text, size_t len, struct profile_thread *t, char *name)
{
	size_t at = len - 1, end;

	if (len < 4 || len >= FEED_TEXT_MAX || *text != '[' || text[len - 1] != ']')
		return false;
	while (at > 1 && isdigit((unsigned char)text[at - 1]))
		at--;
	if (at == len - 1 || len - at > 19)
		return false;
	*t = (struct profile_thread){.java_tid = -1, .kind = THREAD_JAVA, .name = name};
	if (at > 4 && !strncmp(text + at - 4, "tid=", 4)) {
		t->tid = atoi(text + at);
		end = at - 4;
	} else if (text[at - 1] == '#') {
		t->kind = THREAD_VIRTUAL;
		t->java_tid = atoll(text + at);
		end = at - 2 && text[at - 2] == ' ' ? at - 1 : len - 1;
	} else {
		return false;
	}
	while (end > 1 && text[end - 1] == ' ')
		end--;
	memcpy(name, text + 1, end - 1);
	name[end - 1] = '\0';
	return true;
}

uint32_t feed_thread_text(struct import *im, const char *text, size_t len)
{
	char name[FEED_TEXT_MAX];
	struct profile_thread t;

	return thread_text(text, len, &t, name) ? feed_thread(im, &t) : PROFILE_NONE;
}

uint32_t feed_thread_frame(struct import *im, uint32_t frame)
{
	const struct profile_frame *f = profile_get_frame(im->p, frame);
	const struct profile_method *m = profile_get_method(im->p, f->method);

	return *m->class_name ? PROFILE_NONE : feed_thread_text(im, m->name, strlen(m->name));
}
