/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects which of the agent's system calls a seccomp filter forbids.
 *
 * A filter may kill the process for a call. If the process has a filter, each call of wire/calls.h that is not VITAL is
 * therefore tried in a child process that shares the memory: the filter kills only the child. A call that kills the
 * child, or fails there with EPERM, EACCES or ENOSYS, is never made in the JVM: raw() returns an error instead
 * (sampler/signal/raw.h).
 *
 * Filters belong to threads. The filters of the calling thread are tried: the agent's own threads inherit them, and a
 * thread with a different number of filters must not be sent signals. A filter added during a session is detected at
 * the next calls_poll; until then a call may be fatal.
 */
#ifndef JHOT_SAMPLER_CALLS_H
#define JHOT_SAMPLER_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct sampler;

/*
 * Tries the calls. AGENT_OK; AGENT_UNTRIED when there is a filter but no child can be created; AGENT_FORBIDDEN + an
 * enum wire_call when a NEEDED call is forbidden. Must precede every other raw() of a session. Returns the previous
 * result if there is no filter or the number of filters is unchanged. Blocks for about 0.1 ms, and as long again for
 * each call that kills. Any agent thread.
 */
int calls_try(void);

/* Publishes a note that names the forbidden calls whose loss is noticeable, if there are any. Publisher. */
void calls_report(struct sampler *s);
/* Tries again when the number of filters has changed; ends the session if it cannot continue. Publisher. */
void calls_poll(struct sampler *s);

/* True when a thread with this number of filters (procfile.h) has those that were tried. Any thread. */
bool calls_are_of(uint32_t filters);

#endif
