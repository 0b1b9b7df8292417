/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which system calls of the agent a seccomp filter forbids.
 *
 * A filter may kill the process for a call. So where the process has a filter, each call of wire/calls.h that is not VITAL is
 * tried in a child process that shares the memory: the filter kills only the child. What kills it, or fails with EPERM, EACCES
 * or ENOSYS there, is not made in the JVM any more: raw() returns an error instead (sampler/signal/raw.h).
 *
 * Filters belong to threads. The calling thread's are tried: the agent's own threads inherit them, and threads with another number
 * of filters must not be sent signals. A filter that is added while a session runs is noticed within a tick; a call may have
 * been killed for by then.
 */
#ifndef JHOT_SAMPLER_CALLS_H
#define JHOT_SAMPLER_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct sampler;

/*
 * calls_try: AGENT_OK; AGENT_UNTRIED when there is a filter and no child can be made; AGENT_FORBIDDEN + an enum wire_call when a
 * NEEDED call is forbidden. Before any other raw() of a session. Does nothing where there is no filter, or none since the last
 * time. Blocks for some 0.1 ms, and for as much again for each call that kills. Any agent thread.
 */
int calls_try(void);

/* calls_tell: a note to the front end on what calls_try has found; none when nothing is lost. Publisher. */
void calls_tell(struct sampler *s);
/* calls_look: tries again when there are more filters than before; ends the session where it cannot go on. Publisher. */
void calls_look(struct sampler *s);

/* calls_are_of: true when a thread with so many filters (procfile.h) has those that were tried. Any thread. */
bool calls_are_of(uint32_t filters);

#endif
