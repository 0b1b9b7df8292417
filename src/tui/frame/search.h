/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Search, filters, and their keys.
 *
 * A search moves the cursor and highlights matches; a filter changes the samples that everything is computed from
 * (profile/query/filter.h). Both refer to one profile: call search_reset for another one. ui->search is private to search.c.
 */
#ifndef JHOT_TUI_FRAME_SEARCH_H
#define JHOT_TUI_FRAME_SEARCH_H

#include "tui/frame/ui.h"

/* frameworks: NULL-terminated prefixes of names that K hides. */
void search_init(struct ui *ui, const char *const *frameworks);
void search_done(struct ui *ui);
/* For another profile: drops the search and the filter terms, keeps what K, L and O have set. */
void search_reset(struct ui *ui, const char *const *frameworks);

bool search_is_active(const struct ui *ui);
const char *search_text(const struct ui *ui);    /* "": no search; "=name": the exact name */
struct match *search_match(const struct ui *ui); /* which methods match; none without a search */
int search_from(const struct ui *ui); /* the row from which the search in the prompt begins */

/* Adds the active filters to the data-quality line. */
void search_bar(const struct ui *ui, struct strip *s);
/* "/parse: 3 of 40 methods  34.0% of samples, each counted once" */
void search_count(const struct ui *ui, struct strip *s, int hits, int of, const char *what);
bool search_hit(const struct ui *ui, const char *name);
bool search_hit_method(const struct ui *ui, uint32_t method);
/* Highlights the match of full, the searched name, in its displayed form text at col. */
void search_highlight(const struct ui *ui, int row, int col, const char *text, const char *full);
/* Formats "… 31 framework frames" for a frame that replaces several. Returns false for an ordinary frame. */
bool search_collapsed_name(
	const struct ui *ui, uint32_t stack, uint32_t method, char *out, size_t size);

/* Commands. */
unsigned search_prompt(struct ui *ui, int arg);
unsigned search_next(struct ui *ui, int direction);
unsigned search_same(struct ui *ui, int arg); /* frames like the selected one */
unsigned search_filter(struct ui *ui, int only);
unsigned search_hide(struct ui *ui, int arg); /* cycles through the kinds of frames to hide */
unsigned search_lines(struct ui *ui, int arg);
unsigned search_idle(struct ui *ui, int arg); /* shows or hides waits for work in wall */
unsigned search_io(struct ui *ui, int arg);   /* toggles splitting I/O waits by peer and file */
/* The undo id (ui_undo_id) of the search or the last filter, whichever is newer, 0 if none; and undoing that one. */
unsigned search_undo_id(const struct ui *ui);
void search_back(struct ui *ui);

#endif
