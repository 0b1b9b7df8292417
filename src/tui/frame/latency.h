/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measuring the calls of one method while the latency view is open.
 *
 *   latency_begin    switches the events wall and lock on if they are off, and asks the session to measure
 *   latency_tick     once another view of the samples is shown: ends both. Help, findings and JVM info may cover the view;
 *                    when the user returns to it after the end, measuring restarts
 *
 * Its state is struct ui_latency.
 */
#ifndef JHOT_TUI_FRAME_LATENCY_H
#define JHOT_TUI_FRAME_LATENCY_H

#include "tui/frame/ui.h"

/*
 * Starts or restarts measuring a method ("com.shop.Gateway.handle"). In a recording, and in the session of another jhot, selects the
 * existing calls. False: a message gives the reason.
 */
bool latency_begin(struct ui *ui, const char *method);
/* Call at each tick. */
void latency_tick(struct ui *ui);
/* Forgets everything, because the profile is about to be replaced. */
void latency_reset(struct ui *ui);
/* The time up to which all polls have arrived, ns since second 0. */
uint64_t latency_now_ns(const struct ui *ui);

#endif
