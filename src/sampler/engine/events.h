/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: starting, pacing and stopping them on all threads. Publisher only. Intervals are in the event's unit; errors
 * are 0 or -errno with a sentence in `text`.
 */
#ifndef JHOT_SAMPLER_ENGINE_EVENTS_H
#define JHOT_SAMPLER_ENGINE_EVENTS_H

#include "sampler/sampler.h"

/*
 * Samples the command's event every `interval` (0: the event's default) on all present and future threads. A running
 * event is restarted. Returns 0 or -errno with a sentence; limitations are published on the status page.
 */
int events_start(struct sampler *s, const struct wire_command *command, char *text, size_t bytes);
int events_stop(struct sampler *s, uint32_t event, char *text, size_t bytes);
void events_stop_all(struct sampler *s);
/* Sets the note of a running event, shown before the limitations found at its start. "": only the latter. */
void events_note(struct sampler *s, uint32_t event, const char *note);
/* Replaces the limitations on the event's status line. */
void events_degraded(struct sampler *s, uint32_t event, const char *what);
/* Changes the interval of a running event; the weights of its samples stay correct. */
void events_pace(struct sampler *s, uint32_t event, uint64_t interval);
/* Disarms threads that a late callback has armed. Call once no callback can arm a thread any more. */
void events_sweep(struct sampler *s);

/*
 * Probes cpu's engines once, so that the first start does not meet cold kernel paths (such as its static key for
 * perf_events).
 */
void events_warm_up(struct sampler *s);
/*
 * Checks that the signal's handler is still ours. If it was replaced, events are disarmed and continue with another
 * signal; if none is found within two seconds, they fail and report it. `now` is in ns.
 */
void events_check_signal(struct sampler *s, uint64_t now);
/* Bytes that engines have mapped at the moment. */
uint64_t events_memory(const struct sampler *s);
/* True when any event is on. */
bool events_any(const struct sampler *s);

/* pause disarms all events; resume arms the wanted ones again, unchanged. */
void events_pause(struct sampler *s);
void events_resume(struct sampler *s);

#endif
