/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stacks of all threads through the agent, for users whom the kernel does not let trace their own JVM
 * (kernel.yama.ptrace_scope). The JVM must be well and take attach requests; the agent is loaded into it.
 */
#ifndef JHOT_CLI_DUMP_AGENT_H
#define JHOT_CLI_DUMP_AGENT_H

#include "dump/dump.h"

/* Of each thread the stack that was seen most often in a short time. */
int dump_agent_take(const struct hotspot *jvm, struct dump *out, struct err *err);

#endif
