/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings in the live view: when the rules run, which results are retained, and the line under the header.
 *
 * The rules scan the shown window (at most its last minute) every two seconds, less often when a scan is expensive;
 * while frozen, only when the window has changed. A finding stays listed for ten seconds after it was last found and
 * moves up only with a clear lead, so that neither the line nor the list flickers. Owned by the ui.
 */
#ifndef JHOT_TUI_FRAME_FINDINGS_H
#define JHOT_TUI_FRAME_FINDINGS_H

#include "findings/findings.h"
#include "tui/frame/ui.h"

struct found {
	struct finding finding;
	int64_t found_ms; /* when it was last found */
};

struct ui_findings {
	struct findings *rules;
	struct found list[FINDINGS_MAX]; /* worst first */
	unsigned count;
	int64_t due_ms;    /* time of the next scan */
	uint32_t from, to; /* seconds that the last scan covered */
	unsigned begun;    /* events switched on for the rules, a bit per enum profile_event_id */
};

struct ui_findings *findings_begin(void);
void findings_end(struct ui_findings *f);
/* Call after each tick: runs the rules when they are due. */
void findings_tick(struct ui *ui);
/*
 * Switches on the events that the rules need and that have no lasting effect on the JVM, until the view is left; scans
 * at the next tick.
 */
void findings_open(struct ui *ui);

/* The line under the header: its rows, 0 or 1; true when it replaces the data-quality line instead. */
int findings_rows(const struct ui *ui);
bool findings_replace_quality(const struct ui *ui);
void findings_draw_line(const struct ui *ui, int row);

enum style findings_style(enum finding_grade grade);

#endif
