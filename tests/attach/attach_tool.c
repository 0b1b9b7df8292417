/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attach module on a command line, for the tests on real JVMs:
 *
 *   attach_tool check PID|NAME               verdict, then the reason
 *   attach_tool load PID AGENT OPTIONS       the agent's result
 *   attach_tool command PID OP [ARG]...      the JVM's reply
 *   attach_tool place PID AGENT              the path this process would be told to load; the copy exists until stdin ends
 *
 * Exit code: the kind of the error (base/err.h); the error is printed on stderr, its three parts one per line.
 */
#include "attach/attach.h"
#include "attach/jvm/check.h"
#include "attach/jvm/hotspot.h"
#include "attach/jvm/libjvm.h"
#include "attach/protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tool_check(const struct hotspot *jvm, char **args, struct err *err)
{
	(void)args, (void)err;
	printf("%s\n%s\n%s\n", hotspot_verdict_names[jvm->verdict], jvm->why, jvm->hint);
	return 0;
}

static int tool_load(const struct hotspot *jvm, char **args, struct err *err)
{
	const struct patience patience = {0};
	const struct agent_file agent = {.path = args[0]};
	int result = attach_load(jvm, &agent, args[1], &patience, err);

	if (result >= 0)
		printf("result %d\n", result);
	return result < 0 ? -1 : 0;
}

static int tool_command(const struct hotspot *jvm, char **args, struct err *err)
{
	const struct attach_request rq = {
		.op = args[0], .args = {args[1], args[1] ? args[2] : NULL}};
	const struct patience patience = {0};
	struct buf reply = {0};
	const char *text = NULL;

	if (!attach_send(jvm, &rq, &patience, &reply, err))
		text = reply_text(buf_str(&reply), reply.len, err);
	fputs(text ? text : "", stdout);
	buf_done(&reply);
	return text ? 0 : -1;
}

static int tool_place(const struct hotspot *jvm, char **args, struct err *err)
{
	const struct agent_file agent = {.path = args[0]};
	static struct place place;
	int rc = place_prepare(&place, &agent, jvm, err);

	if (!rc && exe_is_musl(jvm->pid))
		place_find_retained(&place);
	rc = rc ? rc : place_write(&place, err);
	if (!rc && puts(place.path) >= 0 && !fflush(stdout))
		while (getchar() != EOF)
			;
	place_done(&place);
	return rc;
}

/* Any process, as if it were a JVM with the usual temporary folder. */
static int find_process(const char *pid, struct hotspot *out, struct err *err)
{
	if (hotspot_examine(atoi(pid), out, false))
		return err_set(err, ERR_NO_TARGET, "The process has exited.");
	if (!*out->temp)
		strcpy(out->temp, "/tmp");
	return 0;
}

static const struct {
	const char *name;
	int args;
	int (*find)(const char *pid_or_name, struct hotspot *out, struct err *err);
	int (*run)(const struct hotspot *jvm, char **args, struct err *err);
} tools[] = {{"check", 3, hotspot_find, tool_check}, {"load", 5, hotspot_find, tool_load},
	{"command", 4, hotspot_find, tool_command}, {"place", 4, find_process, tool_place}};

int main(int argc, char **argv)
{
	struct hotspot jvm;
	struct err err = {0};

	for (size_t i = 0; argc > 2 && i < sizeof(tools) / sizeof(tools[0]); i++) {
		if (strcmp(argv[1], tools[i].name) || argc < tools[i].args)
			continue;
		if (tools[i].find(argv[2], &jvm, &err) || tools[i].run(&jvm, argv + 3, &err))
			fprintf(stderr, "what: %s\nhint: %s\ndetails: %s\n", err.what, err.hint,
				err.details);
		return (int)err.kind;
	}
	fputs("usage: attach_tool check|load|command|place PID ...\n", stderr);
	return 2;
}
