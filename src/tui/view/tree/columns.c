/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of the tree view: shares, and with a baseline their change. */
#include "tui/view/tree/inside.h"

#include "profile/table/flat.h"
#include "tui/frame/compare.h"
#include "tui/screen/text.h"

#include <string.h>

static void cell_total(const void *view, const void *row, struct column_cell *out)
{
	const struct tree *t = view;
	char text[TEXT_NUMBER];

	strcpy(out->text, text_percent(text,
				  flat_percent(tree_node(t, row)->total, t->tree->nodes[0].total)));
}

static void cell_self(const void *view, const void *row, struct column_cell *out)
{
	const struct tree *t = view;
	const struct tree_row *r = row;
	double self = flat_percent(tree_node(t, r)->self, t->tree->nodes[0].total);
	char text[TEXT_NUMBER];

	if (self >= 0.05 && !r->folded)
		strcpy(out->text, text_percent(text, self));
}

static void cell_type(const void *view, const void *row, struct column_cell *out)
{
	const struct tree *t = view;
	const struct calltree_node *n = tree_node(t, row);

	if (n->method == PROFILE_NONE || ((const struct tree_row *)row)->folded)
		return;
	out->text[0] = frame_types[n->type].letter;
	out->text[1] = '\0';
	out->style = theme_frame(n->type);
}

static void cell_delta(const void *view, const void *row, struct column_cell *out)
{
	const struct tree *t = view;

	if (!compare_node(&t->base, t->tree, tree_node(t, row), out->text, COLUMN_TEXT))
		out->style = STYLE_DIM;
}

static void cell_none(const void *view, const void *row, struct column_cell *out)
{
}

static const struct column plain[] = {
	{"TOTAL%", 1, 6, 0, 0, -1, cell_total},
	{"SELF%", 2, 5, 0, 46, -1, cell_self},
	{"T", 2, 1, COLUMN_LEFT, 46, -1, cell_type},
	{"CALL TREE", 1, 0, COLUMN_LEFT, 0, -1, cell_none},
};

static const struct column differing[] = {
	{"TOTAL%", 1, 6, 0, 0, -1, cell_total},
	{"DELTA", 1, 6, 0, 0, -1, cell_delta},
	{"SELF%", 1, 5, 0, 60, -1, cell_self},
	{"T", 2, 1, COLUMN_LEFT, 60, -1, cell_type},
	{"CALL TREE", 1, 0, COLUMN_LEFT, 0, -1, cell_none},
};

struct columns tree_columns(const struct ui *ui)
{
	return tree_state(ui)->base.tree ? COLUMNS(differing) : COLUMNS(plain);
}
