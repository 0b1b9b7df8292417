/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a recorder for a JVM that loads the agent at its start: -agentpath:libjhot.so=start,event=cpu,file=%p.jfr
 *
 *   JVM, in Agent_OnLoad: load_recorder ---> jhot record --loaded TOKEN,OPTIONS PID ---fork---> records
 *     waits for it <------------------------ exits                                             waits for the session
 *
 * So the JVM has no additional child process. In Agent_OnLoad only; blocks for some milliseconds.
 */
#ifndef JHOT_SAMPLER_LOAD_H
#define JHOT_SAMPLER_LOAD_H

#include "wire/layout.h"

#include <stdbool.h>

/*
 * options: as given to -agentpath. Generates the session's token. False if nothing was started: no jhot is found, or the JVM has
 * a seccomp filter, which may kill it for starting a process.
 */
bool load_recorder(const char *options, char token[WIRE_TOKEN_MAX]);

#endif
