/* SPDX-License-Identifier: Apache-2.0 */
/* One thread's table of methods, its rows as steady as those of the whole. */
#include "tui/view/threads/inside.h"

#include "base/buf.h"
#include "tui/view/pane.h"

#include <stdlib.h>

static void hot_clear(struct thread_hot *h)
{
	flat_free(h->flat);
	free(h->items);
	h->flat = NULL;
	h->items = NULL;
}

void thread_hot_done(struct thread_hot *h)
{
	hot_clear(h);
	rank_done(&h->rank);
}

void thread_hot_stale(struct thread_hot *h, bool fresh)
{
	hot_clear(h);
	h->fresh = h->fresh || fresh;
}

void thread_hot_load(struct ui *ui, struct thread_hot *h, const struct thread_row *r)
{
	struct profile_query q = ui_query(ui);

	if (h->flat && h->id == r->id)
		return;
	hot_clear(h);
	if (r->idle) /* idle threads have no samples */
		return;
	q.thread = r->members > 1 ? PROFILE_ANY_THREAD : r->thread;
	q.pool = r->members > 1 ? r->pool : 0;
	h->flat = flat_new(ui->profile, &q);
	h->items = xreallocarray(NULL, h->flat->count, sizeof(*h->items));
	for (uint32_t i = 0; i < h->flat->count; i++) {
		const struct flat_row *row = &h->flat->rows[i];

		h->items[i] =
			(struct rank_item){row->method, row->self_count, (double)row->self, i};
	}
	rank_update(&h->rank, h->items, h->flat->count, h->fresh || h->id != r->id,
		ui_order_frozen(ui));
	h->id = r->id;
	h->fresh = false;
}

void thread_hot_draw(struct ui *ui, struct area area, const struct thread_hot *h)
{
	static const struct pane_titles titles = {"HOTTEST METHODS", "SELF", "TOTAL"};
	const struct flat *f = h->flat;

	if (area.rows < 2 || !f)
		return;
	pane_table_titles(ui, area, &titles);
	for (uint32_t i = 0; i < f->count && (int)i < area.rows - 1; i++) {
		const struct flat_row *r = &f->rows[h->items[i].at];

		pane_table_row(ui, (struct area){area.row + 1 + (int)i, area.col, 1, area.cols},
			&(struct pane_row){r->method, r->type, r->self_count,
				flat_percent(r->self, f->sum), flat_percent(r->total, f->sum)});
	}
	if (!f->count)
		canvas_text(&ui->canvas, area.row + 1, area.col + 2, area.col + area.cols,
			STYLE_DIM, "no samples of this event in this window");
}
