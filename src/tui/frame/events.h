/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events in the live view: which one is shown, and the menu (e) of all of them.
 *
 * Once shown, an event stays on until the menu switches it off, so its history has no gaps when it is shown again. An
 * event with a lasting effect on the JVM needs a confirmation before it is switched on. Each event has its own window,
 * restart and totals; freezing applies to all of them.
 */
#ifndef JHOT_TUI_FRAME_EVENTS_H
#define JHOT_TUI_FRAME_EVENTS_H

#include "tui/frame/ui.h"

/* The state of all events and of the menu, for one profile. The caller frees it. */
struct ui_events *events_new(void);

/* Commands. */
unsigned events_show(struct ui *ui, int event);
/* Toggles lock between the stacks of waiters and those of the owners of their locks. */
unsigned events_holders(struct ui *ui, int arg);
bool events_has_holders(const struct ui *ui);
unsigned events_menu(struct ui *ui, int arg);

/*
 * Switches an event on or off, or changes its interval (0: the last one), and refreshes the vitals. Returns
 * 0, or -1 with err.
 */
int events_switch(struct ui *ui, int event, bool on, uint64_t interval, struct err *err);
/*
 * Switches an event on without showing it, and without a message. Returns true if it was off and is on now.
 * False: err has the JVM's refusal, if it was asked; an event that needs a confirmation is not switched on.
 */
bool events_begin(struct ui *ui, int event, struct err *err);

bool events_has_user(const struct ui *ui); /* True when a perf event was added. */
/* Call after each tick: tracks requested intervals, to detect when the agent has lengthened them. */
void events_watch(struct ui *ui);
/* The requested interval (ns or bytes) if the agent has lengthened it to stay in its budget, else 0. */
int64_t events_requested(const struct ui *ui, int event);
/* When sampling of the event began, in seconds of the profile. */
uint32_t events_since(const struct ui *ui, int event);

/* Formats a value in the event's unit in at most 6 columns: "1.2G", "340ms", "12.3k". out has TEXT_NUMBER bytes. */
char *events_value(char *out, const struct profile_event *event, uint64_t value);

#endif
