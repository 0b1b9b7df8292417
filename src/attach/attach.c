/* SPDX-License-Identifier: Apache-2.0 */
/* Loading the agent into a JVM, and other operations of its attach listener. */
#include "attach/attach.h"

#include "attach/helper.h"
#include "attach/protocol.h"
#include "base/buf.h"
#include "base/clock.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The process is held by a pidfd before it is looked at again, so that what is signalled is what was looked at. */
static int ask(const struct hotspot *jvm, const struct helper_request *what,
	const struct patience *patience, struct buf *reply, struct err *err)
{
	struct helper_request rq = *what;
	int rc;

	rq.jvm = jvm;
	rq.pidfd = (int)syscall(SYS_pidfd_open, jvm->pid, 0);
	rc = helper_run(&rq, patience, reply, err);
	if (rq.pidfd >= 0)
		close(rq.pidfd);
	return rc;
}

/* Its listener answers before the JVM takes agents: some 50 ms of its start, more on a busy host. */
static int ask_started(const struct hotspot *jvm, const struct helper_request *what,
	const struct patience *patience, struct buf *reply, struct err *err)
{
	static const struct timespec pause = {0, 50 * (long)NS_PER_MS};
	uint64_t end = clock_mono_ns() + ATTACH_START_MS * NS_PER_MS;
	int rc;

	for (;;) {
		rc = ask(jvm, what, patience, reply, err);
		if (rc || !reply_is_starting(buf_str(reply)) || clock_mono_ns() >= end ||
			!patience_left(patience))
			return rc;
		buf_done(reply);
		*reply = (struct buf){0};
		nanosleep(&pause, NULL);
	}
}

int attach_load(const struct hotspot *jvm, const char *agent, const char *options,
	const struct patience *patience, struct err *err)
{
	/* "true": the path is absolute, not a library's name to be completed. */
	struct helper_request rq = {.agent = agent, .op = "load", .args = {NULL, "true", options}};
	struct buf reply = {0};
	int rc, result = -1;

	rc = ask_started(jvm, &rq, patience, &reply, err);
	if (!rc)
		rc = reply_load(buf_str(&reply), reply.len, &result, err);
	buf_done(&reply);
	return rc ? -1 : result;
}

int attach_command(const struct hotspot *jvm, const char *op, const char *arg1, const char *arg2,
	const char *arg3, char **reply, struct err *err)
{
	const struct patience patience = {0};
	struct helper_request rq = {.op = op, .args = {arg1, arg2, arg3}};
	const char *text = NULL;
	struct buf got = {0};

	*reply = NULL;
	if (!ask(jvm, &rq, &patience, &got, err))
		text = reply_text(buf_str(&got), got.len, err);
	if (text)
		*reply = xstrdup(text);
	buf_done(&got);
	return text ? 0 : -1;
}
