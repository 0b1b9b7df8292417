/* SPDX-License-Identifier: Apache-2.0 */
/* `jhot relay`: the far end of `jhot HOST:NAME`. */
#include "cli/line/events.h"
#include "cli/line/verb.h"
#include "cli/live/remote.h"
#include "cli/sampling.h"

#include <signal.h>
#include <unistd.h>

/* Sampled beside cpu without -e, since the viewer cannot add events. */
static const int more_events[] = {EVENT_LOCK, EVENT_WALL};

/* Ends the session when the viewer has closed the connection. */
static int relay_poll(void *ctx, const struct vitals *v, struct err *err)
{
	const struct sampling *s = ctx;

	(void)v;
	return share_has_clients(s->share)
		       ? 0
		       : err_set(err, ERR_GONE, "The viewer has ended the connection.");
}

static int run_relay(const struct args *args, struct err *err)
{
	struct sampling s = {.then = "ends", .poll = relay_poll, .ctx = &s};

	if (isatty(STDOUT_FILENO))
		return err_set(err, ERR_USAGE,
			"`jhot relay` writes a profile for another jhot, not for a terminal.");
	if (remote_is(args->operands[0])) {
		/* The target is on a third host: forward its stream. */
		struct remote *remote = remote_begin(args->operands[0], args, err);

		if (!remote)
			return -1;
		remote_copy(remote, STDOUT_FILENO);
		remote_end(remote);
		return 0;
	}
	if (events_parse(&s.events, args, EVENT_CPU, err) || sampling_parse(&s, args, err))
		return -1;
	signal(SIGPIPE, SIG_IGN);
	if (!s.options.take_over && !shared_relay(&s.jvm, STDOUT_FILENO, NULL))
		return 0;
	if (!args_has(args, OPT_EVENT)) {
		s.events.optional = true;
		for (size_t i = 0; i < sizeof(more_events) / sizeof(more_events[0]); i++)
			events_insert(&s.events, NULL, more_events[i]);
	}
	int rc = sampling_begin(&s, err);
	if (!rc && !s.share)
		rc = err_set(
			err, ERR_FAILED, "The session cannot be sent: sockets are forbidden here.");
	if (!rc) {
		share_add(s.share, dup(STDOUT_FILENO));
		rc = sampling_loop(&s, err);
		sampling_finish(&s);
	}
	sampling_end(&s);
	return rc;
}

const struct verb verb_relay = {
	.bit = VERB_RELAY,
	.name = "relay",
	.synopsis = "[OPTION]... PID|NAME|HOST:NAME",
	.help = "send a session to another jhot; run by `jhot HOST:NAME` and `jhot top --all`",
	.text = "Samples the JVM and writes its profile to stdout, for another jhot: at the "
		"other end of an ssh connection, or that of `jhot top --all`. If another jhot is "
		"already profiling the "
		"JVM, that session is sent. Ends with the connection. Without -e it samples "
		"cpu, lock and wall.",
	.min_operands = 1,
	.max_operands = 1,
	.run = run_relay,
};
