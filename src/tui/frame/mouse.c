/* SPDX-License-Identifier: Apache-2.0 */
/* Clicks and the wheel, mapped to the corresponding keys. */
#include "tui/frame/ui.h"

#include "tui/frame/command.h"
#include "tui/frame/events.h"
#include "tui/screen/order.h"

#define WHEEL_ROWS 3

static unsigned mouse_hit(struct ui *ui, const struct canvas_hit *hit, int64_t now_ms)
{
	switch ((enum canvas_hit_kind)hit->kind) {
	case HIT_KEY: return ui_key(ui, hit->arg, now_ms);
	case HIT_EVENT: return events_show(ui, hit->arg);
	case HIT_SORT:
		order_sort_by(&ui->place.state[ui->place.view]->order, hit->arg);
		return UI_SORT;
	case HIT_VIEW:
		if ((int)ui->place.view != hit->arg)
			ui_show(ui, (enum view_id)hit->arg);
		return UI_UPDATE;
	case HIT_ROW: break;
	}
	list_to(ui_list(ui), hit->arg);
	return UI_FREEZE_ORDER;
}

unsigned ui_mouse(struct ui *ui, int button, int row, int col, int64_t now_ms)
{
	const struct canvas_hit *hit;
	unsigned reaction = 0;

	ui->now_ms = now_ms;
	/* Prompts, popups and jobs ignore clicks, which would act on the view below. */
	if (ui_busy(ui) || ui->place.prompt.label || ui->place.popup)
		return 0;
	if (button == UI_WHEEL_UP || button == UI_WHEEL_DOWN) {
		for (int i = 0; i < WHEEL_ROWS; i++)
			reaction |= ui_key(ui, button == UI_WHEEL_UP ? TKEY_UP : TKEY_DOWN, now_ms);
		return reaction;
	}
	hit = button == UI_MOUSE_SELECT ? canvas_hit_at(&ui->canvas, row, col) : NULL;
	if (!hit)
		return 0;
	reaction = mouse_hit(ui, hit, now_ms);
	ui_react(ui, reaction);
	return reaction;
}
