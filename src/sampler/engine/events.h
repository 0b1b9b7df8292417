/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: starting and stopping them on all threads that there are, publisher only, and engines on one thread.
 */
#ifndef JHOT_SAMPLER_ENGINE_EVENTS_H
#define JHOT_SAMPLER_ENGINE_EVENTS_H

#include "sampler/sampler.h"

/*
 * events_start: sample the command's event every `interval` (0: its default) on all threads, now and later.
 * A running event is started anew. 0 or -errno with a sentence; what is degraded goes to the
 * status page.
 */
int events_start(struct sampler *s, const struct wire_command *command, char *text, size_t bytes);
int events_stop(struct sampler *s, uint32_t event, char *text, size_t bytes);
void events_stop_all(struct sampler *s);
/* What people are told of a running event, after what was degraded at its start. "": only that. */
void events_note(struct sampler *s, uint32_t event, const char *note);
/* What is degraded on its line, from now on. */
void events_degraded(struct sampler *s, uint32_t event, const char *what);
/* Another interval for a running event; its weights stay right. */
void events_pace(struct sampler *s, uint32_t event, uint64_t interval);
/* When no callback is left that could set an engine: takes off what one did at the last moment. */
void events_sweep(struct sampler *s);

/* Opens and closes what the first start would find cold (the kernel's switch for perf_events). */
void events_warm_up(struct sampler *s);
/*
 * Is the signal still ours? If somebody else handles it now, events go on by another one, or, if none is found for two
 * seconds, fail and say so. Engines are off until then.
 */
void events_check_signal(struct sampler *s, uint64_t now);
/* Bytes mapped for engines now. */
uint64_t events_memory(const struct sampler *s);
/* Is any event on? */
bool events_any(const struct sampler *s);

/* Parked: all engines off, to be set again as they were. */
void events_pause(struct sampler *s);
void events_resume(struct sampler *s);

#endif
