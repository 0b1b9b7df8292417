/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is looked for, and what is left out: the search, the filters, and their keys.
 *
 * A search moves the cursor and colours; a filter changes what everything is derived from (profile/
 * filter.h). Both live in struct ui and are valid for its profile; search_reset goes with another one.
 */
#ifndef JHOT_TUI_FRAME_SEARCH_H
#define JHOT_TUI_FRAME_SEARCH_H

#include "tui/frame/ui.h"
#include "tui/screen/strip.h"

/* frameworks: prefixes of names, NULL at the end. */
void search_init(struct ui *ui, const char *const *frameworks);
void search_done(struct ui *ui);
/* Another profile: no search, no terms; what is hidden stays so. */
void search_reset(struct ui *ui, const char *const *frameworks);
void search_update(struct ui *ui); /* the sums of the window as it is now */

/* The filters as parts of the data-quality line. */
void search_bar(const struct ui *ui, struct strip *s);
/* "/parse: 3 of 40 methods  34.0% of samples, each counted once" */
void search_count(const struct ui *ui, struct strip *s, int hits, int of, const char *what);
bool search_active(const struct ui *ui);     /* is anything filtered or folded? */
bool search_leaves_out(const struct ui *ui); /* may samples be missing for that? */
bool search_hit(const struct ui *ui, const char *name);
bool search_hit_method(const struct ui *ui, uint32_t method);
/* Colour what was found of a name that stands as text at col; full is what was searched. */
void search_mark(struct ui *ui, int row, int col, const char *text, const char *full);
/* "… 31 framework frames" for a frame that stands for several; false: it is an ordinary one. */
bool search_run(const struct ui *ui, uint32_t stack, uint32_t method, char *out, size_t size);

/* Commands. */
unsigned search_ask(struct ui *ui, int arg);
unsigned search_next(struct ui *ui, int direction);
unsigned search_same(struct ui *ui, int arg); /* frames like the selected one */
unsigned search_filter(struct ui *ui, int only);
unsigned search_hide(struct ui *ui, int arg); /* the next choice of frames to hide */
unsigned search_lines(struct ui *ui, int arg);
unsigned search_io(struct ui *ui, int arg); /* peers and files apart, or not */
/* The number (ui_narrow) of the later of the search and the last filter, 0: there is none; and undoing that. */
unsigned search_narrowed(const struct ui *ui);
void search_back(struct ui *ui);
bool search_has_search(const struct ui *ui);

#endif
