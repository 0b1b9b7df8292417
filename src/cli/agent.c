/* SPDX-License-Identifier: Apache-2.0 */
/* Embeds libjhot.so, which the Makefile has built, into the program. */
#include "cli/agent.h"

__asm__(".pushsection .rodata\n"
	".balign 16\n"
	"cli_agent_begin: .incbin \"src/cli/libjhot.so\"\n"
	"cli_agent_end:\n"
	".popsection\n");
/* Hidden, so that they are not addressed through the GOT: on aarch64 it has one entry for both. */
extern const char cli_agent_begin[] __attribute__((visibility("hidden")));
extern const char cli_agent_end[] __attribute__((visibility("hidden")));

struct agent_file cli_agent(const struct args *args)
{
	const char *path = args ? args_get(args, OPT_AGENT) : NULL;

	if (path)
		return (struct agent_file){.path = path};
	return (struct agent_file){
		.bytes = cli_agent_begin, .len = (size_t)(cli_agent_end - cli_agent_begin)};
}
