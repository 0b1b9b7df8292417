/* SPDX-License-Identifier: Apache-2.0 */
/* Parses replies of HotSpot's attach listener. */
#include "attach/protocol.h"

#include "base/clean.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define QUOTED 300 /* bytes of the JVM's message that an error quotes */

/* True when the first line is a decimal number and nothing else. */
static bool whole_number(const char *text, int *out)
{
	size_t len = strcspn(text, "\n");
	char *end;

	if (!len || len > 11 || !(text[0] == '-' || (text[0] >= '0' && text[0] <= '9')))
		return false;
	long v = strtol(text, &end, 10);
	if (end != text + len || v < INT_MIN || v > INT_MAX)
		return false;
	*out = (int)v;
	return true;
}

/* Copies the JVM's message as one clean line. */
static void quote(const char *text, char out[QUOTED + 1])
{
	size_t n = 0;

	for (; *text && n < QUOTED; text++) {
		char c = *text;

		if ((unsigned char)c < 0x20)
			c = ' ';
		if (c == ' ' && (n == 0 || out[n - 1] == ' '))
			continue;
		out[n++] = c;
	}
	while (n && out[n - 1] == ' ')
		n--;
	out[n] = '\0';
	clean_own(out);
}

#define STARTING "only permitted in the live phase"

static const struct {
	const char *part; /* substring of the JVM's message */
	const char *what;
	const char *hint;
} known_refusals[] = {
	{"Dynamic agent loading is not enabled",
		"The JVM refuses agents at run time (-XX:-EnableDynamicAgentLoading).",
		"restart it with -XX:+EnableDynamicAgentLoading"},
	{STARTING, "The JVM is still starting and does not accept agents yet.",
		"try again in a moment"},
	{"failed to map segment from shared object",
		"The JVM may not map the agent's code: the folder is mounted noexec or a security "
		"module forbids it.",
		NULL},
	{"wrong ELF class", "The agent is built for another kind of CPU than the JVM.", NULL},
	{"version `GLIBC_", "The agent needs a newer glibc than the JVM has.", NULL},
	{"Error loading shared library", "The JVM's C library (musl?) cannot load the agent.",
		NULL},
	/* musl's DT_NEEDED name: on glibc there is no such file, or it is a linker script. */
	{"libc.so: ",
		"The agent was built with musl and works only in JVMs that use musl; this JVM uses "
		"another C library.",
		"use a jhot that was built with glibc: its agent works with both"},
};

static int refused(const char *text, struct err *err)
{
	char quoted[QUOTED + 1];

	quote(text, quoted);
	for (size_t i = 0; i < sizeof(known_refusals) / sizeof(known_refusals[0]); i++) {
		if (!strstr(text, known_refusals[i].part))
			continue;
		err_set(err, ERR_ATTACH, "%s", known_refusals[i].what);
		if (known_refusals[i].hint)
			err_hint(err, "%s", known_refusals[i].hint);
		err_detail(err, "the JVM: %s", quoted);
		return -1;
	}
	if (!quoted[0])
		return err_set(err, ERR_ATTACH,
			"The JVM did not load the agent and gave no reason (JDK 8 never does).");
	return err_set(err, ERR_ATTACH, "The JVM did not load the agent: %s", quoted);
}

bool reply_is_starting(const char *reply)
{
	return strstr(reply, STARTING) != NULL;
}

static const char *after_first_line(const char *reply, int *number)
{
	const char *newline = strchr(reply, '\n');

	return newline && whole_number(reply, number) ? newline + 1 : NULL;
}

const char *reply_text(const char *reply, size_t len, struct err *err)
{
	char quoted[QUOTED + 1];
	int number;

	const char *text = strlen(reply) == len ? after_first_line(reply, &number) : NULL;
	if (text && number == 0)
		return text;
	quote(text ? text : reply, quoted);
	if (!len)
		err_set(err, ERR_ATTACH, "The JVM closed the connection without an answer.");
	else if (text)
		err_set(err, ERR_ATTACH, "The JVM refused with code %d: %s", number, quoted);
	else
		err_set(err, ERR_ATTACH, "The JVM's reply is not in HotSpot's format: %s", quoted);
	return NULL;
}

int reply_load(const char *reply, size_t len, int *result, struct err *err)
{
	static const char label[] = "return code: ";
	int number;

	const char *text = reply_text(reply, len, err);
	if (!text) {
		/* A refusal with a message has a first line other than 0. */
		text = strlen(reply) == len ? after_first_line(reply, &number) : NULL;
		return text ? refused(text, err) : -1;
	}
	if (!strncmp(text, label, strlen(label)))
		text += strlen(label);
	if (!whole_number(text, result))
		return refused(text, err);
	if (*result < 0)
		return err_set(err, ERR_ATTACH, "The agent's start failed with code %d.", *result);
	return 0;
}
