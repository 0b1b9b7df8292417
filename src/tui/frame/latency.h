/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measuring the calls of one method while the latency view is open.
 *
 *   latency_begin    switches the events wall and lock on if they are off, and asks the session to measure
 *   latency_tick     once another view of the samples is shown: ends both. Help, findings and JVM info may cover the view;
 *                    when the user returns to it after the end, measuring restarts
 *
 * ui->latency is written by latency.c; the view reads it, and the keys [ and ] change the window.
 */
#ifndef JHOT_TUI_FRAME_LATENCY_H
#define JHOT_TUI_FRAME_LATENCY_H

#include "tui/frame/ui.h"

struct ui_latency {
	char *method;    /* full name; NULL: the view was never opened */
	unsigned serial; /* incremented whenever measuring begins */
	bool on;         /* the session measures the method */
	bool recorded; /* the profile has its calls already: from a file, or the owner of the session */
	bool refused;   /* a restart has failed; it is not tried again */
	unsigned owned; /* events switched on for this, to be switched off at the end: a bit each */
	uint64_t begin_ns; /* since second 0 of the profile */
	int64_t begin_ms;  /* the same moment, in the time of the ui */
	int window;        /* index into timeline_windows */
};

/*
 * Starts or restarts measuring a method ("com.shop.Gateway.handle"). In a recording, and in the session of
 * another jhot, selects the existing calls. False: a message gives the reason.
 */
bool latency_begin(struct ui *ui, const char *method);
/* Call at each tick. */
void latency_tick(struct ui *ui);
/* Forgets everything, at the start and for another profile. */
void latency_reset(struct ui *ui);
void latency_free(struct ui_latency *l);
/* The time up to which all polls have arrived, ns since second 0. */
uint64_t latency_now_ns(const struct ui *ui);

#endif
