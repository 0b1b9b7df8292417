/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the agent to load: the one embedded in this program, or the file given by --agent. */
#ifndef JHOT_CLI_AGENT_H
#define JHOT_CLI_AGENT_H

#include "attach/place.h"
#include "cli/line/args.h"

/* args may be NULL. The result borrows the path from args. */
struct agent_file cli_agent(const struct args *args);

#endif
