/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads memory images, and records the memory that a walk reads. */
#include "tests/walk/image.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "walk/hotspot/layout.h"

#define LINE_BYTES 4096
#define ROW_WORDS  8 /* per line */

/* --- the layout -------------------------------------------------------------------------------------- */

struct member {
	const char *name;
	uint16_t offset, bytes, count;
};
#define MEMBER(m, bytes, many)                                   \
	{                                                        \
#m, offsetof(struct walk_layout, m), bytes, many \
	}
#define NUMBER(m) MEMBER(m, sizeof(((struct walk_layout *)0)->m), 1)
#define FIELD(m)  MEMBER(m, sizeof(struct walk_field), 1)

static const struct member numbers[] = {NUMBER(jdk), NUMBER(libjvm_start), NUMBER(libjvm_end),
	NUMBER(code_low), NUMBER(code_high), NUMBER(heap_count), NUMBER(heap_block_bytes),
	NUMBER(interpreter_low), NUMBER(interpreter_high), NUMBER(call_stub_return),
	NUMBER(nmethod_bytes), NUMBER(pc_desc_bytes), NUMBER(unsigned5_excluded),
	NUMBER(interp_method), NUMBER(interp_sender_sp), NUMBER(interp_bcp), NUMBER(call_wrapper),
	NUMBER(thread_list), NUMBER(cont_return_pc), NUMBER(narrow_oop_base),
	NUMBER(narrow_oop_shift), NUMBER(narrow_klass_base), NUMBER(narrow_klass_shift),
	NUMBER(mark_klass_shift), NUMBER(field_initialized), NUMBER(field_injected),
	NUMBER(field_generic), NUMBER(field_contended), NUMBER(const_method_bytes),
	NUMBER(constant_pool_bytes)};
static const struct member fields[] = {FIELD(block_used), FIELD(blob_name), FIELD(blob_size),
	FIELD(blob_frame_size), FIELD(blob_frame_complete), FIELD(code_begin), FIELD(mutable_data),
	FIELD(relocation_size), FIELD(metadata_offset), FIELD(data_offset), FIELD(immutable_data),
	FIELD(scopes_data), FIELD(scopes_pcs_offset), FIELD(dependencies_offset),
	FIELD(nmethod_method), FIELD(compile_id), FIELD(comp_level), FIELD(oop_maps),
	FIELD(oop_map_count), FIELD(orig_pc_offset), FIELD(entry_bci), FIELD(osr_entry),
	FIELD(verified_entry), FIELD(deopt), FIELD(deopt_mh), FIELD(pc_desc_pc),
	FIELD(pc_desc_scope), FIELD(wrapper_anchor), FIELD(anchor_sp), FIELD(anchor_pc),
	FIELD(anchor_fp), FIELD(upcall_frame_data), FIELD(upcall_anchor), FIELD(thread_anchor),
	FIELD(thread_osthread), FIELD(thread_state), FIELD(thread_next), FIELD(thread_stack_base),
	FIELD(thread_stack_size), FIELD(osthread_tid), FIELD(compiler_env), FIELD(env_task),
	FIELD(task_method), FIELD(threads_length), FIELD(threads_array), FIELD(cont_entry),
	FIELD(cont_parent), FIELD(klass_layout_helper), FIELD(klass_super), FIELD(klass_constants),
	FIELD(klass_fields), FIELD(method_code), FIELD(method_const), FIELD(const_constants),
	FIELD(const_size), FIELD(const_name), FIELD(const_signature), FIELD(const_code_size),
	FIELD(const_flags), FIELD(pool_holder), FIELD(pool_length), FIELD(klass_name),
	FIELD(symbol_length), FIELD(symbol_body)};
static const struct member ranges[] = {
	MEMBER(interpreter_entries, sizeof(struct walk_range), 1),
	MEMBER(interpreter_framed, sizeof(struct walk_range), LAYOUT_FRAMED),
	MEMBER(interpreter_returns, sizeof(struct walk_range), LAYOUT_RETURNS),
};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static _Noreturn void die(const char *what, const char *which)
{
	fprintf(stderr, "image: %s: %s\n", what, which);
	exit(1);
}

static void *member_of(const struct walk_layout *layout, const struct member *m, int i)
{
	return (char *)(uintptr_t)layout + m->offset + (size_t)i * m->bytes;
}

/* A 4-byte number is signed: offsets in words may be negative. */
static int64_t number_get(const struct walk_layout *layout, const struct member *m)
{
	int64_t wide;
	int32_t narrow;

	memcpy(&wide, member_of(layout, m, 0), sizeof(wide));
	memcpy(&narrow, member_of(layout, m, 0), sizeof(narrow));
	return m->bytes == 8 ? wide : narrow;
}

void image_layout_write(FILE *out, const struct walk_layout *layout)
{
	for (size_t i = 0; i < COUNT(numbers); i++)
		fprintf(out, "layout %s %" PRId64 "\n", numbers[i].name,
			number_get(layout, &numbers[i]));
	for (size_t i = 0; i < COUNT(fields); i++) {
		const struct walk_field *f = member_of(layout, &fields[i], 0);

		fprintf(out, "layout %s %d %d\n", fields[i].name, f->offset, f->bytes);
	}
	for (size_t i = 0; i < COUNT(ranges); i++) {
		for (int k = 0; k < ranges[i].count; k++) {
			const struct walk_range *range = member_of(layout, &ranges[i], k);

			fprintf(out, "layout %s %d 0x%" PRIx64 " 0x%" PRIx64 "\n", ranges[i].name,
				k, range->low, range->high);
		}
	}
	for (uint32_t i = 0; i < layout->heap_count; i++) {
		const struct walk_heap *h = &layout->heaps[i];

		fprintf(out,
			"layout heap %" PRIu32 " 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 " %" PRIu32
			"\n",
			i, h->low, h->high, h->segmap, h->shift);
	}
}

static const struct member *member_find(const struct member *table, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

/* Members that only older images have, and no walk reads. */
static bool member_gone(const char *name)
{
	static const char *const gone[] = {"cont_entry_bytes", "cont_return_barrier"};

	for (size_t i = 0; i < COUNT(gone); i++)
		if (!strcmp(gone[i], name))
			return true;
	return false;
}

static void layout_parse(struct walk_layout *layout, char *text)
{
	char *rest = text + strcspn(text, " ");
	int64_t v[5] = {0};
	const struct member *m;

	*rest++ = '\0';
	for (int i = 0; i < 5; i++)
		v[i] = strtoll(rest, &rest, 0);
	if ((m = member_find(numbers, COUNT(numbers), text))) {
		memcpy(member_of(layout, m, 0), &v[0],
			m->bytes); /* images are of little-endian CPUs only */
	} else if ((m = member_find(fields, COUNT(fields), text))) {
		*(struct walk_field *)member_of(layout, m, 0) =
			(struct walk_field){(int32_t)v[0], (uint8_t)v[1]};
	} else if ((m = member_find(ranges, COUNT(ranges), text)) && v[0] < m->count) {
		*(struct walk_range *)member_of(layout, m, (int)v[0]) =
			(struct walk_range){(uint64_t)v[1], (uint64_t)v[2]};
	} else if (!strcmp(text, "heap") && v[0] < LAYOUT_HEAPS) {
		layout->heaps[v[0]] = (struct walk_heap){.low = (uint64_t)v[1],
			.high = (uint64_t)v[2],
			.segmap = (uint64_t)v[3],
			.shift = (uint32_t)v[4]};
	} else if (!member_gone(text)) {
		die("no such member of the layout", text);
	}
}

static struct walk_layout *layout_new(void)
{
	struct walk_layout *layout = calloc(1, sizeof(*layout));

	for (size_t i = 0; layout && i < COUNT(fields); i++)
		((struct walk_field *)member_of(layout, &fields[i], 0))->offset = -1;
	return layout ? layout : (die("no memory", "layout"), NULL);
}

/* --- words ------------------------------------------------------------------------------------------- */

struct word {
	uint64_t addr, value;
	bool readable;
};

struct image_words {
	struct word *words; /* by address */
	size_t count, cap;
};

/* The index of addr, or its insertion point. */
static size_t word_place(const struct image_words *w, uint64_t addr)
{
	size_t low = 0, high = w->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (w->words[middle].addr < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void word_insert(struct image_words *w, struct word word)
{
	size_t at = word_place(w, word.addr);

	if (at < w->count && w->words[at].addr == word.addr)
		return;
	if (w->count == w->cap) {
		w->cap = w->cap ? 2 * w->cap : 1024;
		w->words = realloc(w->words, w->cap * sizeof(*w->words));
		if (!w->words)
			die("no memory", "words");
	}
	memmove(&w->words[at + 1], &w->words[at], (w->count - at) * sizeof(*w->words));
	w->words[at] = word;
	w->count++;
}

static const struct word *word_get(const struct image_words *w, uint64_t addr)
{
	size_t at = word_place(w, addr);

	return at < w->count && w->words[at].addr == addr ? &w->words[at] : NULL;
}

/* --- recording --------------------------------------------------------------------------------------- */

struct recorder {
	struct walk_mem mem;
	const struct walk_mem *through;
	struct image_words words;
};

static bool recorder_load(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	struct recorder *r = mem->ctx;

	recorder_note(r, addr, bytes);
	return r->through->load(r->through, addr, out, bytes);
}

struct recorder *recorder_new(void)
{
	struct recorder *r = calloc(1, sizeof(*r));

	if (!r)
		die("no memory", "recorder");
	r->mem = (struct walk_mem){.load = recorder_load, .ctx = r};
	return r;
}

const struct walk_mem *recorder_begin(struct recorder *r, const struct walk_mem *through)
{
	r->through = through;
	r->words.count = 0;
	return &r->mem;
}

const struct walk_mem *recorder_mem(struct recorder *r)
{
	return &r->mem;
}

void recorder_note(struct recorder *r, uint64_t addr, size_t bytes)
{
	for (uint64_t at = addr & ~7ull; at < addr + bytes; at += 8) {
		struct word word = {.addr = at};

		word.readable = r->through->load(r->through, at, &word.value, sizeof(word.value));
		word_insert(&r->words, word);
	}
}

static void words_write(FILE *out, const struct image_words *w)
{
	for (size_t i = 0, row = 0; i < w->count; i++, row++) {
		const struct word *word = &w->words[i];

		if (i && (word->addr != word[-1].addr + 8 || row == ROW_WORDS)) {
			putc('\n', out);
			row = 0;
		}
		if (!row)
			fprintf(out, "mem %" PRIx64, word->addr);
		if (word->readable)
			fprintf(out, " %" PRIx64, word->value);
		else
			fprintf(out, " -");
	}
	if (w->count)
		putc('\n', out);
}

static void rule_write(FILE *out, const struct unwind_table *rows, uint64_t pc)
{
	const struct unwind_module *m = rows ? unwind_find(rows, pc) : NULL;
	const struct unwind_rule *rule =
		m ? unwind_rows_find(m->rows, pc - m->start + m->file_offset) : NULL;

	/* The low bits of pc select one of a PLT's two rules, so they are kept. */
	if (rule)
		fprintf(out, "rule %" PRIx64 " %u %u %u %d %d %d\n", pc, rule->cfa, rule->fp,
			rule->ra, rule->cfa_offset, rule->fp_offset, rule->ra_offset);
}

void image_stack_write(FILE *out, const struct recorder *r, const char *name,
	const struct walk_regs *regs, const struct walk_thread *thread,
	const struct walk_frame *frames, uint32_t count)
{
	fprintf(out, "stack %s\n", name);
	fprintf(out,
		"regs %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 "\n",
		regs->pc, regs->sp, regs->fp, regs->method, regs->sender, regs->link);
	fprintf(out, "thread %" PRIx64 " %" PRIx64 " %" PRIx64 "\n", thread->java_thread,
		thread->stack_lo, thread->stack_hi);
	for (uint32_t i = 0; i < count; i++)
		if (frames[i].type == WALK_NATIVE)
			rule_write(out, thread->rows, frames[i].value);
	words_write(out, &r->words);
}

void image_frame_write(FILE *out, unsigned type, uint16_t bci, const char *name)
{
	static const char *const types[] = {[WALK_INTERPRETED] = "interpreted",
		[WALK_C1] = "c1",
		[WALK_C2] = "c2",
		[WALK_INLINED] = "inlined",
		[WALK_NO_INLINING] = "coarse",
		[WALK_C1_NO_INLINING] = "c1-coarse",
		[WALK_JAVA] = "java",
		[WALK_NATIVE] = "native",
		[WALK_STUB] = "stub",
		[WALK_BREAK] = "break"};

	fprintf(out, "frame %s %d %s\n", type < COUNT(types) && types[type] ? types[type] : "?",
		(int16_t)bci, name);
}

/* --- replaying --------------------------------------------------------------------------------------- */

static bool image_load(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	struct image_stack *s = mem->ctx;

	for (size_t i = 0; i < bytes; i++) {
		uint64_t at = addr + i;
		const struct word *word = word_get(s->words, at & ~7ull);

		if (!word)
			word = word_get(s->shared, at & ~7ull);
		if (!word) {
			s->missed++;
			s->missed_at = at;
		}
		if (!word || !word->readable)
			return false;
		((uint8_t *)out)[i] = (uint8_t)(word->value >> 8 * (at & 7));
	}
	return true;
}

static void words_parse(struct image_words *w, char *text)
{
	uint64_t addr = strtoull(text, &text, 16);

	for (; *text == ' '; addr += 8) {
		struct word word = {.addr = addr, .readable = text[1] != '-'};

		if (word.readable)
			word.value = strtoull(text, &text, 16);
		else
			text += 2;
		word_insert(w, word);
	}
}

static int module_order(const void *a, const void *b)
{
	uint64_t x = ((const struct unwind_module *)a)->start;
	uint64_t y = ((const struct unwind_module *)b)->start;

	return x < y ? -1 : x > y;
}

/* A module of a few bytes with a single row. */
static const struct unwind_rows *rows_of_one(const char *name, const struct unwind_rule *rule)
{
	/* bytes, page_first, page_count, row_count, rule_count; pages: 0, 1; row 0; the rule */
	uint32_t block[8 + sizeof(*rule) / 4] = {sizeof(block), 0, 1, 1, 1, 0, 1, UNWIND_ROW(0, 0)};
	uint32_t *copy = malloc(sizeof(block));

	memcpy(&block[8], rule, sizeof(*rule));
	if (!copy || !unwind_rows_check(memcpy(copy, block, sizeof(block)), sizeof(block)))
		die("an invalid rule", name);
	return (const struct unwind_rows *)copy;
}

static void rule_parse(struct image_stack *s, char *text)
{
	struct unwind_table *t = s->table;
	uint32_t count = t ? t->count : 0;
	uint64_t pc = strtoull(text, &text, 16);
	long v[6];

	for (int i = 0; i < 6; i++)
		v[i] = strtol(text, &text, 10);

	struct unwind_rule rule = {.cfa = (uint8_t)v[0],
		.fp = (uint8_t)v[1],
		.ra = (uint8_t)v[2],
		.cfa_offset = (int32_t)v[3],
		.fp_offset = (int16_t)v[4],
		.ra_offset = (int16_t)v[5]};

	t = realloc(t, sizeof(*t) + (count + 1) * sizeof(t->modules[0]));
	if (!t)
		die("no memory", s->name);
	/* including the call before pc, which walks read */
	t->modules[count] = (struct unwind_module){pc - 15, pc + 1, 0, rows_of_one(s->name, &rule)};
	t->count = count + 1;
	qsort(t->modules, t->count, sizeof(t->modules[0]), module_order);
	s->table = t;
}

static void registers_parse(struct walk_regs *r, char *text)
{
	uint64_t *const all[] = {&r->pc, &r->sp, &r->fp, &r->method, &r->sender, &r->link};

	for (size_t i = 0; i < COUNT(all); i++)
		*all[i] = strtoull(text, &text, 16);
}

static void thread_parse(struct walk_thread *t, char *text)
{
	t->java_thread = strtoull(text, &text, 16);
	t->stack_lo = strtoull(text, &text, 16);
	t->stack_hi = strtoull(text, &text, 16);
}

static struct image_stack *stack_add(struct image *image, const char *name)
{
	image->stacks = realloc(image->stacks, (size_t)(image->count + 1) * sizeof(*image->stacks));
	if (!image->stacks)
		die("no memory", name);

	struct image_stack *s = &image->stacks[image->count++];

	*s = (struct image_stack){
		.words = calloc(1, sizeof(struct image_words)), .want = calloc(1, 1)};
	snprintf(s->name, sizeof(s->name), "%s", name);
	return s;
}

static void want_add(struct image_stack *s, const char *line)
{
	size_t have = strlen(s->want), more = strlen(line);

	s->want = realloc(s->want, have + more + 2);
	if (!s->want)
		die("no memory", s->name);
	memcpy(s->want + have, line, more);
	memcpy(s->want + have + more, "\n", 2);
}

static void line_parse(struct image *image, char *line)
{
	struct image_stack *s = image->count ? &image->stacks[image->count - 1] : NULL;
	char *rest = line + strcspn(line, " ");
	size_t word = (size_t)(rest - line);

	rest += *rest != '\0';
	if (!word || line[0] == '#')
		return;
	if (!strncmp(line, "layout", word))
		layout_parse(image->layout, rest);
	else if (!strncmp(line, "stack", word))
		stack_add(image, rest);
	else if (s && !strncmp(line, "regs", word))
		registers_parse(&s->regs, rest);
	else if (s && !strncmp(line, "thread", word))
		thread_parse(&s->thread, rest);
	else if (s && !strncmp(line, "rule", word))
		rule_parse(s, rest);
	else if (!strncmp(line, "mem", word))
		words_parse(s ? s->words : image->shared, rest);
	else if (s && !strncmp(line, "frame", word))
		want_add(s, line);
	else
		die("a line of an unknown kind", line);
}

/* Reads NAME.frames beside NAME.image.gz, if there is one: the stacks in the same order, with their frames. */
static void frames_read(struct image *image, const char *path)
{
	static char line[LINE_BYTES];
	const char *suffix = strstr(path, ".image");
	int bytes = suffix ? (int)(suffix - path) : (int)strlen(path);
	char name[1024];
	FILE *f;
	int at = -1;

	snprintf(name, sizeof(name), "%.*s.frames", bytes, path);
	f = fopen(name, "re");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "stack ", 6) &&
			(++at >= image->count || strcmp(image->stacks[at].name, line + 6)))
			die("has frames of another stack", name);
		if (!strncmp(line, "frame ", 6) && at >= 0)
			want_add(&image->stacks[at], line);
	}
	if (f)
		fclose(f);
}

struct image *image_open(const char *path)
{
	static char line[LINE_BYTES];
	struct image *image = calloc(1, sizeof(*image));
	gzFile f = gzopen(path, "re"); /* reads text as well */

	if (!f || !image)
		die("cannot be opened", path);
	image->layout = layout_new();
	image->shared = calloc(1, sizeof(*image->shared));
	while (gzgets(f, line, sizeof(line))) {
		line[strcspn(line, "\n")] = '\0';
		line_parse(image, line);
	}
	gzclose(f);
	frames_read(image, path);
	for (int i = 0; i < image->count; i++) {
		struct image_stack *s = &image->stacks[i];

		s->mem = (struct walk_mem){.load = image_load, .ctx = s};
		s->thread.rows = s->table;
		s->shared = image->shared;
	}
	return image;
}

void image_close(struct image *image)
{
	for (int i = 0; i < image->count; i++) {
		struct image_stack *s = &image->stacks[i];

		for (uint32_t k = 0; s->table && k < s->table->count; k++)
			free((void *)(uintptr_t)s->table->modules[k].rows);
		free(s->table);
		free(s->words->words);
		free(s->words);
		free(s->want);
	}
	free(image->shared->words);
	free(image->shared);
	free(image->stacks);
	free(image->layout);
	free(image);
}
