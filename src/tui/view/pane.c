/* SPDX-License-Identifier: Apache-2.0 */
/* The pane beside a list. */
#include "tui/view/pane.h"

#include "tui/view/callers/view.h"

#define PANE_COLS 160 /* from this width on */
#define PANE_ROWS 16

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

void pane_stale(struct pane *p)
{
	sandwich_free(p->sandwich);
	p->sandwich = NULL;
}

void pane_done(struct pane *p)
{
	pane_stale(p);
	sandwich_order_done(&p->order);
}

const struct sandwich *pane_ask(struct ui *ui, struct pane *p, uint32_t method)
{
	struct profile_query q = ui_query(ui);

	if (p->sandwich && p->sandwich->method != method)
		pane_stale(p);
	if (!p->sandwich && !ui->working) {
		p->sandwich = sandwich_new(ui->profile, &q, method);
		sandwich_settle(&p->order, p->sandwich, false, false);
	}
	return p->sandwich;
}

struct area pane_draw(struct ui *ui, struct pane *p, struct area body, uint32_t method)
{
	const struct sandwich *s;
	struct area pane;

	if (!pane_split(body, PANE_LIST, &body, &pane) || method == PROFILE_NONE)
		return body;
	s = pane_ask(ui, p, method);
	if (s)
		callers_draw_pane(ui, pane, s);
	return body;
}
