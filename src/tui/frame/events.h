/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events in the live view: which one is shown, with a window of its own each, and the menu of them all.
 *
 * An event that was shown once goes on being sampled, so that switching back finds its history whole; the menu
 * (e) switches it off. One that leaves something behind in the JVM is switched on only when that has been read. Windows, restarts and totals are each event's own; a freeze is of all at one instant.
 */
#ifndef JHOT_TUI_FRAME_EVENTS_H
#define JHOT_TUI_FRAME_EVENTS_H

#include "tui/frame/ui.h"

/* Commands. */
unsigned events_show(struct ui *ui, int event);
/* Locks by what their holders do while others wait, or again by who waits. */
unsigned events_holders(struct ui *ui, int arg);
bool events_has_holders(const struct ui *ui);
unsigned events_menu(struct ui *ui, int arg);

/* Sampled as well, while another is shown: true if it was off and is on now; nothing is said or asked otherwise. */
bool events_begin(struct ui *ui, int event);

bool events_has_user(const struct ui *ui); /* is there one of perf's? */
/* After each tick: intervals as they were asked for, to tell when the agent has lengthened them. */
void events_watch(struct ui *ui);
/* The interval before the agent lengthened it to keep to its budget; 0: it has not. */
int64_t events_asked(const struct ui *ui, int event);
/* Since when it is sampled, in seconds of the profile. */
uint32_t events_since(const struct ui *ui, int event);
void events_reset(struct ui *ui); /* another session */

/* A value in the event's unit, at most 6 columns: "1.2G" bytes, "340ms", "12.3k". */
char *events_value(char *out, const struct profile_event *event, uint64_t value);

#endif
