/* SPDX-License-Identifier: Apache-2.0 */
/* Embeds files for JVMs, which the Makefile has built, into the program. */
#include "cli/agent.h"

__asm__(".pushsection .rodata\n"
	".balign 16\n"
	"cli_agent_begin: .incbin \"src/cli/libjhot.so\"\n"
	"cli_agent_end:\n"
	"cli_request_so_begin: .incbin \"src/cli/libjhotrequest.so\"\n"
	"cli_request_so_end:\n"
	"cli_request_java_begin: .incbin \"src/cli/Request.java\"\n"
	"cli_request_java_end:\n"
	".popsection\n");
/* Hidden, so that they are not addressed through the GOT: on aarch64 it has one entry for each pair. */
#define EMBEDDED(name)                                                          \
	extern const char name##_begin[] __attribute__((visibility("hidden"))); \
	extern const char name##_end[] __attribute__((visibility("hidden")))
EMBEDDED(cli_agent);
EMBEDDED(cli_request_so);
EMBEDDED(cli_request_java);
#define EMBEDDED_FILE(name) \
	((struct agent_file){.bytes = name##_begin, .len = (size_t)(name##_end - name##_begin)})

struct agent_file cli_agent(const struct args *args)
{
	const char *path = args ? args_get(args, OPT_AGENT) : NULL;

	if (path)
		return (struct agent_file){.path = path};
	return EMBEDDED_FILE(cli_agent);
}

struct agent_file cli_request_library(void)
{
	return EMBEDDED_FILE(cli_request_so);
}

struct agent_file cli_request_source(void)
{
	return EMBEDDED_FILE(cli_request_java);
}
