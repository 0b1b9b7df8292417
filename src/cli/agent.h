/* SPDX-License-Identifier: Apache-2.0 */
/* Files for JVMs that are embedded in this program. */
#ifndef JHOT_CLI_AGENT_H
#define JHOT_CLI_AGENT_H

#include "attach/place.h"
#include "cli/line/args.h"

/* The agent to load: the one embedded in this program, or the file given by --agent. args may be NULL, and its path is borrowed. */
struct agent_file cli_agent(const struct args *args);
/* libjhotrequest.so and Request.java (src/request). */
struct agent_file cli_request_library(void);
struct agent_file cli_request_source(void);

#endif
