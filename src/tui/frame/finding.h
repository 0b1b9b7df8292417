/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is looked for, and what is left out: the search, the filters, and their keys.
 *
 * A search moves the cursor and colours; a filter changes what everything is derived from (profile/
 * filter.h). Both live in struct ui and are valid for its profile; finding_reset goes with another one.
 */
#ifndef JHOT_TUI_FRAME_FINDING_H
#define JHOT_TUI_FRAME_FINDING_H

#include "tui/frame/ui.h"
#include "tui/screen/strip.h"

void finding_init(struct ui *ui);
void finding_done(struct ui *ui);
void finding_reset(
	struct ui *ui); /* another profile: no search, no terms; what is hidden stays so */
void finding_update(struct ui *ui); /* the sums of the window as it is now */

/* The filters as parts of the data-quality line. */
void finding_bar(const struct ui *ui, struct strip *s);
/* "/parse: 3 of 40 methods  34.0% of samples, each counted once" */
void finding_count(const struct ui *ui, struct strip *s, int hits, int of, const char *what);
bool finding_active(const struct ui *ui);
bool finding_hit(const struct ui *ui, const char *name);
bool finding_hit_method(const struct ui *ui, uint32_t method);
/* Colour what was found of a name that stands as text at col; full is what was searched. */
void finding_mark(struct ui *ui, int row, int col, const char *text, const char *full);
/* "… 31 framework frames" for a frame that stands for several; false: it is an ordinary one. */
bool finding_run(const struct ui *ui, uint32_t stack, uint32_t method, char *out, size_t size);

/* Commands. */
unsigned finding_ask(struct ui *ui, int arg);
unsigned finding_next(struct ui *ui, int direction);
unsigned finding_same(struct ui *ui, int arg); /* frames like the selected one */
unsigned finding_filter(struct ui *ui, int only);
unsigned finding_hide(struct ui *ui, int arg); /* the next choice of frames to hide */
unsigned finding_lines(struct ui *ui, int arg);
/* The number (ui_narrow) of the later of the search and the last filter, 0: there is none; and undoing that. */
unsigned finding_narrowed(const struct ui *ui);
void finding_back(struct ui *ui);
bool finding_has_search(const struct ui *ui);

#endif
