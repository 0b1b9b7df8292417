/* SPDX-License-Identifier: Apache-2.0 */
/* Names of methods are cached by their id of walk/hotspot/names.h; those of native functions come from the modules. */
#include "dump/stack.h"

#include "attach/jvm/line_table.h"
#include "attach/proc.h"
#include "base/buf.h"
#include "base/clean.h"
#include "walk/hotspot/layout.h"
#include "walk/hotspot/method.h"
#include "walk/hotspot/names.h"
#include "walk/load/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_BYTES (4u << 20)
#define ID_MASK     0xffffffffull
#define TABLE_BYTES 65536u /* enough for a method of 64 kB; longer tables are truncated */
#define STEP_BYTES  512u

struct stack_namer {
	struct modules *modules;
	const struct walk_layout *layout;
	struct names *names;
	void *memory;
	char **texts;       /* indexed by id; NULL: not known */
	uint32_t cap, last; /* last: the last id stored in texts */
	uint64_t *packed;   /* the ids of one stack's methods */
	uint32_t packed_cap;
};

struct stack_namer *stack_namer_new(struct modules *modules, const struct walk_layout *layout)
{
	struct stack_namer *n = xcalloc(1, sizeof(*n));

	n->modules = modules;
	n->layout = layout;
	n->memory = aligned_alloc(4096, NAMES_BYTES);
	if (n->memory) {
		memset(n->memory, 0, NAMES_BYTES);
		n->names = names_init(n->memory, NAMES_BYTES);
	}
	if (n->names)
		return n;
	stack_namer_free(n);
	return NULL;
}

void stack_namer_free(struct stack_namer *n)
{
	if (!n)
		return;
	for (uint32_t i = 0; i < n->cap; i++)
		free(n->texts[i]);
	free(n->texts);
	free(n->packed);
	free(n->memory);
	free(n);
}

/* --- names ------------------------------------------------------------------------------------------- */

/* Stores the texts of methods that names_resolve has met for the first time. */
static void texts_update(struct stack_namer *n)
{
	struct names_entry e;

	while (names_next(n->names, n->last, &e)) {
		struct buf text = {0};

		n->last = e.id;
		if (e.id >= n->cap) {
			uint32_t cap = e.id * 2 + 1024;

			n->texts = xreallocarray(n->texts, cap, sizeof(*n->texts));
			memset(n->texts + n->cap, 0, (cap - n->cap) * sizeof(*n->texts));
			n->cap = cap;
		}
		if (e.class_bytes) {
			clean_add_class(&text, e.class_name, e.class_bytes);
			buf_addc(&text, '.');
		}
		clean_add(&text, e.name, e.name_bytes);
		free(n->texts[e.id]);
		n->texts[e.id] = buf_steal(&text);
	}
}

/* --- frames ------------------------------------------------------------------------------------------ */

static struct dump_frame *frame_add(struct dump_thread *to, enum dump_type type)
{
	struct dump_frame *f;

	if ((to->count & (to->count - 1)) == 0)
		to->frames = xreallocarray(
			to->frames, to->count ? 2 * (size_t)to->count : 1, sizeof(*f));
	f = &to->frames[to->count++];
	*f = (struct dump_frame){.type = type, .bci = -1};
	return f;
}

static char *cleaned(const char *text)
{
	struct buf out = {0};

	clean_add(&out, text, strlen(text));
	return buf_steal(&out);
}

static void add_native(struct stack_namer *n, uint64_t pc, struct dump_thread *to)
{
	struct symbol s;
	char text[32];

	modules_symbol(n->modules, pc, &s);
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)s.start);
	struct dump_frame *f = frame_add(to, s.is_jvm ? DUMP_VM : DUMP_NATIVE);
	f->name = cleaned(s.name[0] ? s.name : text);
	f->module = cleaned(s.module);
}

/*
 * Maps a method and bytecode index to a line, by the line table after the method's bytecodes. 0: no table (compiled with
 * -g:none, native), or it is malformed.
 */
static int line_of(
	const struct walk_layout *layout, const struct walk_mem *mem, uint64_t method, uint16_t bci)
{
	uint8_t table[TABLE_BYTES];
	uint32_t bytes = 0;
	struct method m;

	if (!method_load(layout, mem, method, &m) || bci >= m.code_bytes)
		return 0;
	uint64_t at = method_lines(layout, mem, &m);
	uint64_t end = m.const_method + layout_load(&layout->const_size, mem, m.const_method) * 8;
	if (!at || end < at)
		return 0;
	uint32_t limit = end - at < TABLE_BYTES ? (uint32_t)(end - at) : TABLE_BYTES;
	while (bytes < limit) {
		uint32_t step = limit - bytes < STEP_BYTES ? limit - bytes : STEP_BYTES;

		if (!mem_load(mem, at + bytes, table + bytes, step))
			break;
		bytes += step;
	}
	return line_table_find(table, bytes, (uint32_t)layout->unsigned5_excluded, bci);
}

void stack_add(struct stack_namer *n, const struct walk_mem *mem, const struct walk_frame *frames,
	uint32_t count, struct dump_thread *to)
{
	static const enum dump_type java[] = {[WALK_INTERPRETED] = DUMP_INTERPRETED,
		[WALK_C1] = DUMP_COMPILED,
		[WALK_C2] = DUMP_COMPILED,
		[WALK_INLINED] = DUMP_INLINED,
		[WALK_NO_INLINING] = DUMP_COMPILED,
		[WALK_C1_NO_INLINING] = DUMP_COMPILED,
		[WALK_JAVA] = DUMP_COMPILED};

	if (count > n->packed_cap) {
		n->packed = xreallocarray(n->packed, count, sizeof(*n->packed));
		n->packed_cap = count;
	}
	names_resolve(n->names, n->layout, mem, NULL, frames, count, n->packed, NULL);
	texts_update(n);
	for (uint32_t i = 0; i < count; i++) {
		const struct walk_frame *w = &frames[i];
		bool is_java = walk_type_is_java(w->type);
		enum dump_type type = is_java                 ? java[w->type]
				      : w->type == WALK_BREAK ? DUMP_BREAK
							      : DUMP_VM;

		if (w->type == WALK_NATIVE) {
			add_native(n, w->value, to);
			continue;
		}
		struct dump_frame *f = frame_add(to, type);
		uint64_t id = n->packed[i] & ID_MASK;
		f->name = xstrdup(id < n->cap && n->texts[id] ? n->texts[id] : "[unloaded]");
		f->module = xstrdup(type == DUMP_VM ? "libjvm.so" : "");
		if (is_java && w->bci != WALK_BCI_UNKNOWN) {
			f->bci = w->bci;
			f->line = line_of(n->layout, mem, w->value, w->bci);
		}
	}
}

/* Lines are "[<0>] futex_wait_queue+0x60/0x90", leaf first; the kernel hides addresses, not names. */
void stack_add_kernel(pid_t pid, struct dump_thread *to)
{
	struct buf text = {0};
	char file[48], *line;

	snprintf(file, sizeof(file), "task/%d/stack", (int)to->tid);
	if (proc_read(pid, file, &text)) {
		buf_done(&text);
		return;
	}
	char *at = text.data;
	while ((line = strsep(&at, "\n"))) {
		char *name = strchr(line, ']');

		if (!name || !name[1])
			continue;
		name += strspn(name, "] ");
		struct dump_frame *f = frame_add(to, DUMP_KERNEL);
		f->name = xstrndup(name, strcspn(name, "+/ \n"));
		f->module = xstrdup("[kernel]");
	}
	buf_done(&text);
}
