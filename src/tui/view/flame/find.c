/* SPDX-License-Identifier: Apache-2.0 */
/* Search in the flame graph, including nodes too narrow for a box. */
#include "tui/view/flame/inside.h"

#include "base/buf.h"
#include "tui/frame/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void flame_find_hidden(const struct ui *ui, struct flame *f)
{
	const struct flame_layout *l = f->layout;
	uint32_t *box_of = xcalloc(f->tree->count, sizeof(*box_of));

	free(f->hidden_hits);
	f->hidden_hits = xcalloc(l->count + 1, sizeof(*f->hidden_hits));
	snprintf(f->searched, sizeof(f->searched), "%s", ui->search.text);
	for (uint32_t i = 0; i < l->count; i++)
		box_of[l->boxes[i].node] = i + 1;
	for (uint32_t i = 0; i < f->tree->count; i++) {
		const struct calltree_node *n = &f->tree->nodes[i];
		bool own = box_of[i] || !i;

		if (!own)
			box_of[i] = box_of[n->parent];
		if (box_of[i])
			f->hidden_hits[box_of[i] - 1] +=
				n->hidden_hits + (!own && search_hit_method(ui, n->method));
	}
	free(box_of);
}

uint32_t flame_hidden_hits(const struct ui *ui, const struct flame_box *b)
{
	const struct flame *f = flame_state(ui);

	return *ui->search.text && !strcmp(f->searched, ui->search.text)
		       ? f->hidden_hits[b - f->layout->boxes]
		       : 0;
}

static bool is_hit(const struct ui *ui, const struct flame_box *b)
{
	return search_hit_method(ui, flame_state(ui)->tree->nodes[b->node].method) ||
	       flame_hidden_hits(ui, b);
}

/* Selects the next box that matches or has hidden matches, wrapping around. */
bool flame_find(struct ui *ui, int direction)
{
	struct flame *f = flame_state(ui);
	int count = f->layout ? (int)f->layout->count : 0;
	int from = direction ? f->at.list.cursor + direction : ui->search.from;

	for (int i = 0; i < count; i++) {
		int at = from + (direction < 0 ? -i : i);

		at = (at % count + count) % count;
		if (is_hit(ui, &f->layout->boxes[at])) {
			list_to(&f->at.list, at);
			return true;
		}
	}
	return false;
}

void flame_add_hits(struct ui *ui, struct strip *s)
{
	const struct flame *f = flame_state(ui);
	int shown = 0, hidden = 0;

	for (uint32_t i = 0; i < f->layout->count; i++) {
		const struct flame_box *b = &f->layout->boxes[i];

		shown += search_hit_method(ui, f->tree->nodes[b->node].method);
		hidden += (int)flame_hidden_hits(ui, b);
	}
	search_count(ui, s, shown, (int)f->layout->count - 1, "boxes");
	if (hidden)
		strip_add(s, STYLE_WARN, 1, " + %d too narrow to show ", hidden);
}
