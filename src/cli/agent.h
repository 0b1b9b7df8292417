/* SPDX-License-Identifier: Apache-2.0 */
/* Which agent is loaded: the one that this program carries, or another that somebody names. */
#ifndef JHOT_CLI_AGENT_H
#define JHOT_CLI_AGENT_H

#include "attach/place.h"
#include "cli/line/args.h"

/* --agent, where args are given and have it; valid as long as they are. */
struct agent_file cli_agent(const struct args *args);

#endif
