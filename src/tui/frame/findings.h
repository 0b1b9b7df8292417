/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong with the program, for the live view: when it is looked for, what of it is kept, the line under the header.
 *
 * Looks are at the window that is shown, or its last minute, every two seconds and as seldom as their cost asks for; while frozen only when
 * the window has moved. What was found stays for ten seconds after it was found last, and passes what is above it only by
 * a clear lead, so that neither the line nor the list flickers.
 */
#ifndef JHOT_TUI_FRAME_FINDINGS_H
#define JHOT_TUI_FRAME_FINDINGS_H

#include "findings/findings.h"
#include "tui/frame/ui.h"

struct found {
	struct finding finding;
	int64_t found_ms; /* last */
};

struct ui_findings {
	struct findings *rules;
	struct found list[FINDINGS_MAX]; /* the worst first */
	unsigned count;
	int64_t due_ms;    /* of the next look */
	uint32_t from, to; /* what the last one looked at */
	unsigned begun;    /* events switched on for it, a bit per enum profile_event_id */
};

struct ui_findings *findings_begin(void);
void findings_end(struct ui_findings *f);
/* After each tick. */
void findings_tick(struct ui *ui);
/* Switches on what rules need and what leaves nothing behind in the JVM, and looks at the next tick. */
void findings_open(struct ui *ui);

/* The line under the header: the rows it takes, 0 or 1; and is it in place of the data-quality line? */
int findings_rows(const struct ui *ui);
bool findings_instead(const struct ui *ui);
void findings_draw_line(struct ui *ui, int row);

enum style findings_style(enum finding_grade grade);

#endif
