/* SPDX-License-Identifier: Apache-2.0 */
/* `jhot agent`: the agent's library as a file, for JVMs that load it at their start. */
#include "cli/agent.h"

#include "base/buf.h"
#include "base/file.h"
#include "cli/line/verb.h"
#include "wire/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_FILE "libjhot.so"

/* Writes the class that publishes requests and its library into a folder. */
static int write_requests(const char *folder, struct err *err)
{
	const struct {
		const char *name;
		struct agent_file file;
	} files[] = {{"Request.java", cli_request_source()},
		{"libjhotrequest.so", cli_request_library()}};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct buf path = {0};

		buf_printf(&path, "%s/%s", folder, files[i].name);
		int rc = file_write_whole(
			buf_str(&path), files[i].file.bytes, files[i].file.len, err);
		if (!rc)
			printf("wrote %s\n", buf_str(&path));
		buf_done(&path);
		if (rc)
			return -1;
	}
	char *whole = realpath(folder, NULL);
	printf("\n  java -Djhot.request=%s/%s ...\n", whole ? whole : folder, files[1].name);
	free(whole);
	return 0;
}

static int run_agent(const struct args *args, struct err *err)
{
	const char *given = args_get(args, OPT_OUTPUT), *path = given ? given : DEFAULT_FILE;

	if (args_has(args, OPT_REQUESTS))
		return write_requests(given ? given : ".", err);
	struct agent_file agent = cli_agent(NULL);
	struct buf copy = {0};

	buf_add(&copy, agent.bytes, agent.len);
	/* Store the path of this program in the copy of the library. */
	const size_t mark = strlen(WIRE_PROGRAM_MARK);
	char *at = memmem(copy.data, copy.len, WIRE_PROGRAM_MARK, mark + 1); /* with its NUL */
	ssize_t n = at ? readlink("/proc/self/exe", at + mark, WIRE_PROGRAM - mark - 1) : -1;
	int rc = n > 0 && (size_t)n < WIRE_PROGRAM - mark - 1
			 ? 0
			 : err_set(err, ERR_FAILED,
				   "The path of this program is not known, or too long.");
	if (!rc)
		rc = file_write_whole(path, copy.data, copy.len, err);
	char *whole = rc ? NULL : realpath(path, NULL);
	if (!rc)
		printf("wrote %s\n\n  java -agentpath:%s=start,event=cpu,file=%%n-%%t.jfr ...\n",
			path, whole ? whole : path);
	free(whole);
	buf_done(&copy);
	return rc;
}

const struct verb verb_agent = {
	.bit = VERB_AGENT,
	.name = "agent",
	.synopsis = "[--requests] [-o FILE]",
	.help = "write the agent's library, for JVMs that load it at their start",
	.text = "Writes libjhot.so, or FILE. A JVM that is started with it is recorded "
		"from its start, by a jhot in the background, as by `jhot start`:\n\n"
		"  java -agentpath:/opt/libjhot.so=start,event=cpu,file=%n-%t.jfr ...\n"
		"  JAVA_TOOL_OPTIONS=-agentpath:/opt/libjhot.so=start,wall,loop=1m,file=%t.jhot\n\n"
		"Options are separated by commas: event=EVENT, interval=, alloc, lock and "
		"wall (each with =INTERVAL, if desired), file=FILE (repeatable), "
		"loop=DURATION (as --rotate), and the long options of `jhot record` without "
		"dashes: keep=, when=, label=, total, threads. A value cannot contain a "
		"comma. jhot=PATH names the jhot to run; without it that is the one that "
		"wrote the library.\n\n"
		"Without file= the samples are in memory: `jhot top`, `save`, `why` and "
		"`stop` use them. If something prevents the recording, the JVM runs without "
		"it, and the reason is in the system's log. In a JVM with a seccomp filter no "
		"process is started.\n\n"
		"With --requests, writes Request.java and libjhotrequest.so into the folder "
		"given with -o, by default the current folder. A program that calls this class "
		"publishes which request each of its threads works for; jhot's samples then have "
		"the attributes and the span of that request. The class has no dependencies and "
		"needs JDK 8 or later.",
	.min_operands = 0,
	.max_operands = 0,
	.run = run_agent,
};
