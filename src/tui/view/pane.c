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

void pane_ask(struct ui *ui, struct pane *p, int sixteenths, uint32_t method)
{
	struct area body = ui_body(ui, ui->place.view), pane;
	struct profile_query q;

	if (p->sandwich && p->sandwich->method != method)
		pane_stale(p);
	if (p->sandwich || method == PROFILE_NONE || !pane_split(body, sixteenths, &body, &pane))
		return;
	q = ui_query(ui);
	p->sandwich = sandwich_new(ui->profile, &q, method);
	sandwich_settle(&p->order, p->sandwich, false, false);
}

struct area pane_draw(struct ui *ui, struct pane *p, struct area body, uint32_t method)
{
	struct area pane;

	if (!pane_split(body, PANE_LIST, &body, &pane) || method == PROFILE_NONE)
		return body;
	if (p->sandwich)
		callers_draw_pane(ui, pane, p->sandwich);
	return body;
}
