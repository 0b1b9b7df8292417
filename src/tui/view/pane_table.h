/* SPDX-License-Identifier: Apache-2.0 */
/* A small table of methods in a pane: the letter of how it ran, its name, and two shares. Draws only. */
#ifndef JHOT_TUI_VIEW_PANE_TABLE_H
#define JHOT_TUI_VIEW_PANE_TABLE_H

#include "tui/frame/ui.h"

struct pane_row {
	uint32_t method;
	uint8_t type;         /* enum frame_type */
	uint64_t count;       /* samples: few are drawn weaker */
	double first, second; /* percent */
};

struct pane_titles {
	const char *what, *first, *second;
};

/* The titles' row, which the rows stand below. */
void pane_table_titles(struct ui *ui, struct area area, const struct pane_titles *titles);
void pane_table_row(struct ui *ui, struct area area, const struct pane_row *r);

#endif
