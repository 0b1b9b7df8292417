/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of methods, sandwiches, and the pane beside a list. */
#include "tui/view/pane.h"

#include "base/buf.h"
#include "base/hash.h"
#include "profile/query/error.h"
#include "profile/table/callers.h"
#include "profile/table/flat.h"
#include "tui/frame/compare.h"
#include "tui/screen/text.h"

#include <stdio.h>
#include <stdlib.h>

#define PANE_COLS 160 /* minimum width of the body */
#define PANE_ROWS 16
#define FIGURE    8 /* columns of one share */
#define BAR       9 /* cells */

/* --- tables ------------------------------------------------------------------------------------------- */

static void draw_titles(const struct ui *ui, struct area area, const struct pane_titles *titles)
{
	struct canvas *c = ui->canvas;
	int end = area.col + area.cols - 1;

	canvas_fill(c, area.row, area.col, area.col + area.cols, STYLE_COLUMNS, ' ');
	canvas_text(c, area.row, area.col + 1, end, STYLE_COLUMNS, titles->what);
	canvas_right(c, area.row, area.col, end - FIGURE, STYLE_COLUMNS, titles->first);
	canvas_right(c, area.row, area.col, end, STYLE_COLUMNS, titles->second);
}

void pane_percent(const struct ui *ui, int row, int col, int end, enum style style, double percent)
{
	char number[TEXT_NUMBER], text[TEXT_NUMBER + 1];

	snprintf(text, sizeof(text), "%s%%", text_percent(number, percent));
	canvas_right(ui->canvas, row, col, end, style, text);
}

void pane_method(
	const struct ui *ui, struct area area, uint8_t type, uint32_t method, enum style style)
{
	struct canvas *c = ui->canvas;
	char name[512];

	canvas_printf(
		c, area.row, area.col, c->cols, theme_frame(type), "%c", frame_types[type].letter);
	ui_fit_method(ui, method, ui->names, area.cols, name, sizeof(name));
	canvas_text(c, area.row, area.col + 2, c->cols, style, name);
}

void pane_node_name(
	const struct ui *ui, const struct calltree_node *n, int width, char *out, size_t size)
{
	if (n->method != PROFILE_NONE)
		ui_fit_method(ui, n->method, NAME_FULL, width, out, size);
	else
		name_cut(out, size,
			n->thread != PROFILE_NONE ? profile_get_thread(ui->profile, n->thread)->name
						  : "all",
			width, ui->glyphs->ellipsis);
}

void pane_node_detail(const struct ui *ui, struct strip *s, const struct calltree_node *n,
	uint64_t all, double samples)
{
	double percent = flat_percent(n->total, all);
	char count[TEXT_NUMBER], name[256];

	pane_node_name(
		ui, n, ui->canvas->cols > 110 ? ui->canvas->cols - 76 : 34, name, sizeof(name));
	strip_add(s, STYLE_STRONG, 0, "%s", name);
	strip_add(s, STYLE_NORMAL, 9, "%s", text_counted(count, (int64_t)n->total_count, "sample"));
	strip_add(s, STYLE_NORMAL, 1, "%.1f%% %s%.1f of all", percent, ui->glyphs->plus_minus,
		error_half_width(percent / 100, samples));
}

/* Puts rows into the order of a live list. */
static void rank_rows(struct rank *rank, struct pane_row *rows, uint32_t count, enum rank_how how)
{
	struct rank_item *items = xreallocarray(NULL, count, sizeof(*items));
	struct pane_row *old = xreallocarray(NULL, count, sizeof(*old));

	for (uint32_t i = 0; i < count; i++) {
		old[i] = rows[i];
		items[i] = (struct rank_item){rows[i].id, rows[i].count, (double)rows[i].value, i};
	}
	rank_update(rank, items, count, how);
	for (uint32_t i = 0; i < count; i++)
		rows[i] = old[items[i].at];
	free(items);
	free(old);
}

void pane_table_set(struct pane_table *t, struct pane_row *rows, uint32_t count, enum rank_how how)
{
	rank_rows(&t->rank, rows, count, how);
	free(t->rows);
	t->rows = rows;
	t->count = count;
}

void pane_table_clear(struct pane_table *t)
{
	free(t->rows);
	t->rows = NULL;
	t->count = 0;
}

void pane_table_done(struct pane_table *t)
{
	free(t->rows);
	rank_done(&t->rank);
}

int pane_table_draw(const struct ui *ui, struct area area, const struct pane_titles *titles,
	const struct pane_table *t)
{
	int end = area.col + area.cols - 1, width = area.cols - 2 * FIGURE - 6;
	int rows = (int)t->count < area.rows - 1 ? (int)t->count : area.rows - 1;

	draw_titles(ui, area, titles);
	for (int i = 0; i < rows; i++) {
		const struct pane_row *r = &t->rows[i];
		int row = area.row + 1 + i;

		pane_method(ui, (struct area){row, area.col + 2, 1, width}, r->type, r->id,
			r->count >= ERROR_FEW ? STYLE_NORMAL : STYLE_DIM);
		pane_percent(ui, row, area.col, end - FIGURE, STYLE_NORMAL,
			flat_percent(r->value, t->whole));
		pane_percent(
			ui, row, end - FIGURE, end, STYLE_DIM, flat_percent(r->second, t->sum));
	}
	return area.row + 1 + rows;
}

/* --- sandwiches ---------------------------------------------------------------------------------------- */

const struct sandwich_words sandwich_words[SANDWICH_KINDS] = {
	[SANDWICH_CALLERS] = {"CALLERS", "[root of the stack]", "caller"},
	[SANDWICH_CALLEES] = {"CALLEES", "[self]", "callee"},
	[SANDWICH_LINES] = {"LINES", "", "line"},
	[SANDWICH_THREADS] = {"THREADS", "", "thread"},
};

struct build {
	const struct profile *p;
	struct sandwich *s;
	bool by_weight;
	struct hash_index index[SANDWICH_KINDS];
	uint64_t types[FRAME_TYPES];
};

static void add(struct build *b, enum sandwich_kind kind, uint32_t id, uint8_t type, uint64_t count,
	uint64_t value)
{
	struct sandwich_part *part = &b->s->parts[kind];
	uint32_t at = hash_index_find(&b->index[kind], hash_u64(id), NULL, NULL);

	if (at == HASH_NONE) {
		part->rows = xgrow(part->rows, part->count, &part->cap, sizeof(*part->rows));
		at = part->count++;
		part->rows[at] = (struct pane_row){.id = id, .type = type};
		hash_index_add(&b->index[kind], hash_u64(id), at);
	}
	part->rows[at].count += count;
	part->rows[at].value += value;
}

static void add_frame(struct build *b, enum sandwich_kind kind, uint32_t frame, uint8_t type,
	uint64_t count, uint64_t value)
{
	const struct profile_frame *f = profile_get_frame(b->p, frame);

	if (frame == PROFILE_NONE)
		add(b, kind, PROFILE_NONE, type, count, value);
	else
		add(b, kind, f->method, f->type, count, value);
}

static void add_sample(void *ctx, const struct callers *at)
{
	struct build *b = ctx;
	const struct profile_frame *own = profile_get_frame(b->p, at->frame);
	uint64_t count = at->count, value = b->by_weight ? at->weight : count;

	b->s->total += value;
	b->s->total_count += count;
	b->types[own->type] += count;
	add_frame(b, SANDWICH_CALLERS, at->caller, 0, count, value);
	add_frame(b, SANDWICH_CALLEES, at->callee, own->type, count, value);
	add(b, SANDWICH_THREADS, at->thread, 0, count, value);
	if (at->callee != PROFILE_NONE)
		return;
	b->s->self += value;
	b->s->self_count += count;
	if (own->line > 0)
		add(b, SANDWICH_LINES, (uint32_t)own->line, 0, count, value);
}

struct sandwich *sandwich_new(
	const struct profile *p, const struct profile_query *q, uint32_t method)
{
	struct build b = {.p = p, .by_weight = q->by_weight};

	b.s = xcalloc(1, sizeof(*b.s));
	b.s->method = method;
	struct profile_sum sum = callers_each(p, q, method, add_sample, &b);
	b.s->sum = q->by_weight ? sum.weight : sum.count;
	b.s->sum_count = sum.count;
	b.s->samples = error_window_samples(p, q);
	for (int kind = 0; kind < SANDWICH_KINDS; kind++)
		hash_index_done(&b.index[kind]);
	for (int i = 1; i < FRAME_TYPES; i++)
		b.s->type = b.types[i] > b.types[b.s->type] ? (uint8_t)i : b.s->type;
	return b.s;
}

void sandwich_free(struct sandwich *s)
{
	for (int kind = 0; s && kind < SANDWICH_KINDS; kind++)
		free(s->parts[kind].rows);
	free(s);
}

void sandwich_rank(struct sandwich_order *o, struct sandwich *s, enum rank_how how)
{
	how = o->method != s->method ? RANK_SORT : how;
	o->method = s->method;
	for (int kind = 0; kind < SANDWICH_KINDS; kind++)
		rank_rows(&o->ranks[kind], s->parts[kind].rows, s->parts[kind].count, how);
}

void sandwich_order_done(struct sandwich_order *o)
{
	for (int kind = 0; kind < SANDWICH_KINDS; kind++)
		rank_done(&o->ranks[kind]);
}

static void part_row_name(const struct ui *ui, enum sandwich_kind kind, uint32_t id, int width,
	char *out, size_t size)
{
	if (kind == SANDWICH_LINES)
		snprintf(out, size, "line %u", id);
	else if (id == PROFILE_NONE)
		snprintf(out, size, "%s", sandwich_words[kind].none);
	else if (kind == SANDWICH_THREADS)
		name_middle(out, size, profile_get_thread(ui->profile, id)->name, width,
			ui->glyphs->ellipsis);
	else
		ui_fit_method(ui, id, ui->names, width, out, size);
}

/* The change of a row's share of all. */
static void part_row_delta(const struct sandwich *s, const struct sandwich *base,
	enum sandwich_kind kind, const struct pane_row *r, char *out, size_t size)
{
	const struct sandwich_part *part = &base->parts[kind];
	struct compare_share now = {r->count, s->sum_count, r->value, s->sum, s->samples};
	struct compare_share then = {
		.sum_count = base->sum_count, .sum = base->sum, .samples = base->samples};

	for (uint32_t i = 0; i < part->count; i++) {
		if (part->rows[i].id != r->id)
			continue;
		then.count = part->rows[i].count;
		then.value = part->rows[i].value;
	}
	compare_text(out, size, &now, &then);
}

int pane_part_draw(const struct ui *ui, struct area area, const struct sandwich *s,
	const struct sandwich *base, enum sandwich_kind kind, int first, int cursor)
{
	const struct sandwich_part *part = &s->parts[kind];
	const struct sandwich_words *words = &sandwich_words[kind];
	/* Shares of lines refer to self samples, the others to all samples with the method on the stack. */
	uint64_t whole = kind == SANDWICH_LINES ? s->self : s->total;
	int rows = area.rows - 1, shown = (int)part->count <= rows ? (int)part->count : rows - 1;
	int bar_cells = area.cols >= PANE_BAR_FROM ? BAR : 0;
	int end = area.col + area.cols - 1, bar = end - 2 * FIGURE - bar_cells - 1;
	struct pane_row more = {.id = PROFILE_NONE};
	struct canvas *c = ui->canvas;
	char text[512], number[TEXT_NUMBER], noun[TEXT_NUMBER];

	if (area.rows < 1)
		return area.row;
	draw_titles(
		ui, area, &(struct pane_titles){words->title, "SHARE", base ? "DELTA" : "of all"});
	for (uint32_t i = shown > 0 ? (uint32_t)shown : 0; i < part->count; i++) {
		more.count += part->rows[i].count;
		more.value += part->rows[i].value;
	}
	for (int i = 0; i < rows && i < (int)part->count; i++) {
		bool summed = i == shown;
		const struct pane_row *r = summed ? &more : &part->rows[i];
		int row = ++area.row;

		if (summed) {
			snprintf(noun, sizeof(noun), "more %s", words->noun);
			snprintf(text, sizeof(text), "%s %s", ui->glyphs->ellipsis,
				text_counted(number, (int64_t)part->count - shown, noun));
		} else {
			part_row_name(ui, kind, r->id, bar - area.col - 5, text, sizeof(text));
		}
		if (kind <= SANDWICH_CALLEES && r->id != PROFILE_NONE && r->count)
			canvas_printf(c, row, area.col + 2, end, theme_frame(r->type), "%c",
				frame_types[r->type].letter);
		canvas_text(c, row, area.col + 4, bar - 1,
			r->count >= ERROR_FEW ? STYLE_NORMAL : STYLE_DIM, text);
		glyph_bar(
			ui->glyphs, text, whole ? (double)r->value / (double)whole : 0, bar_cells);
		canvas_text(c, row, bar, end, STYLE_SPARK, text);
		pane_percent(
			ui, row, bar, end - FIGURE, STYLE_NORMAL, flat_percent(r->value, whole));
		if (!base) {
			pane_percent(ui, row, bar, end, STYLE_DIM, flat_percent(r->value, s->sum));
		} else if (!summed) {
			part_row_delta(s, base, kind, r, text, sizeof(text));
			canvas_right(c, row, bar, end, STYLE_NORMAL, text);
		}
		if (first >= 0 && !summed)
			canvas_list_row(c, row, area.col, area.col + area.cols, first + i,
				first + i == cursor);
	}
	return area.row + 1;
}

/* --- the pane ------------------------------------------------------------------------------------------ */

bool pane_split(struct area body, int sixteenths, struct area *list, struct area *pane)
{
	*list = *pane = body;
	if (body.cols < PANE_COLS || body.rows < PANE_ROWS)
		return false;
	list->cols = body.cols * sixteenths / 16;
	pane->col = list->cols + 1;
	pane->cols -= pane->col;
	return true;
}

void pane_invalidate(struct pane *p)
{
	sandwich_free(p->sandwich);
	p->sandwich = NULL;
}

void pane_load(const struct ui *ui, struct pane *p, int sixteenths, uint32_t method)
{
	struct area body = ui_body(ui, ui->view), pane;

	if (p->sandwich && p->sandwich->method != method)
		pane_invalidate(p);
	if (p->sandwich || method == PROFILE_NONE || !pane_split(body, sixteenths, &body, &pane))
		return;
	struct profile_query q = ui_query(ui);
	p->sandwich = sandwich_new(ui->profile, &q, method);
	sandwich_rank(&p->order, p->sandwich, RANK_STABLE);
}

struct area pane_draw(const struct ui *ui, struct pane *p, struct area body, uint32_t method)
{
	const struct sandwich *s = p->sandwich;
	struct area pane;

	if (!pane_split(body, PANE_LIST, &body, &pane) || method == PROFILE_NONE)
		return body;
	int end = pane.row + pane.rows;
	for (enum sandwich_kind kind = 0; s && kind < SANDWICH_KINDS; kind++) {
		/* The title and the rows, at most a fair share of the space. */
		int rows = (int)s->parts[kind].count + 1;
		int fair = (end - pane.row) / (int)(SANDWICH_KINDS - kind);

		pane.rows = rows < fair ? rows : fair;
		if (rows > 1 && pane.rows > 1)
			pane.row = pane_part_draw(ui, pane, s, NULL, kind, -1, -1);
	}
	return body;
}

void pane_done(struct pane *p)
{
	pane_invalidate(p);
	sandwich_order_done(&p->order);
}
