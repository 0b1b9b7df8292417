/* SPDX-License-Identifier: Apache-2.0 */
/* `jhot save` and `jhot stop`: writes the samples of a session that another jhot owns, and ends it. */
#include "base/clock.h"
#include "cli/background.h"
#include "cli/line/units.h"
#include "cli/line/verb.h"
#include "cli/outputs/outputs.h"
#include "cli/reading.h"
#include "profile/cut.h"

#include <stdio.h>

/* Reduces a profile to the seconds of --last. */
static int keep_last(const struct args *args, struct imported *i, struct err *err)
{
	uint32_t now = profile_info(i->profile).now;
	const char *last = args_get(args, OPT_LAST);
	struct profile *whole = i->profile;
	uint64_t ns;

	if (!last)
		return 0;
	if (units_duration(last, &ns, err))
		return err_prefix(err, "--last: ");
	if (ns < NS_PER_S)
		return err_set(
			err, ERR_USAGE, "--last must be at least 1 second, not \"%s\".", last);
	if (ns / NS_PER_S > now)
		return 0;
	i->profile = profile_cut(whole, now + 1 - (uint32_t)(ns / NS_PER_S), now + 1);
	i->duration_ns = ns / NS_PER_S * NS_PER_S;
	profile_free(whole);
	return 0;
}

static int write_copy(
	const struct args *args, struct imported *i, struct outputs *o, struct err *err)
{
	return keep_last(args, i, err) ? -1 : reading_write(i, args, o, i->duration_ns, err);
}

static int run_save(const struct args *args, struct err *err)
{
	struct copying copying = {0};
	struct imported *copy = NULL;
	struct outputs outputs;
	struct hotspot jvm;
	int rc = -1;

	if (!outputs_parse(&outputs, args, err) && !hotspot_find(args->operands[0], &jvm, err) &&
		!copying_begin(&copying, &jvm, SHARE_COPY, err))
		copy = copying_finish(&copying, err);
	if (copy)
		rc = write_copy(args, copy, &outputs, err);
	import_free(copy);
	copying_done(&copying);
	outputs_done(&outputs);
	return rc;
}

/* Ends the session: a background process as Ctrl-C would, any other jhot by detaching its agent. */
static int end_session(const struct hotspot *jvm, bool result, struct err *err)
{
	struct session_status status;

	if (session_status(jvm, &status, err))
		return -1;
	return status.active && background_is_process(status.front_end_pid)
		       ? background_stop(status.front_end_pid, result, err)
		       : session_stop(jvm, err);
}

static int run_stop(const struct args *args, struct err *err)
{
	struct copying copying = {0};
	struct imported *copy = NULL;
	struct outputs outputs;
	struct hotspot jvm;
	int rc = -1;

	if (outputs_parse(&outputs, args, err) || hotspot_find(args->operands[0], &jvm, err) ||
		(jvm.verdict == HOTSPOT_NEEDS_UID && hotspot_refusal(&jvm, err)) ||
		(outputs.count && copying_begin(&copying, &jvm, SHARE_WATCH, err)))
		goto out;
	rc = end_session(&jvm, !outputs.count, err);
	if (!rc && outputs.count) {
		copy = copying_finish(&copying, err);
		rc = copy ? write_copy(args, copy, &outputs, err) : -1;
	}
out:
	import_free(copy);
	copying_done(&copying);
	outputs_done(&outputs);
	return rc;
}

const struct verb verb_save = {
	.bit = VERB_SAVE,
	.name = "save",
	.synopsis = "[OPTION]... PID|NAME",
	.help = "write the samples of a running session, which continues",
	.text = "Copies the samples of the session that a running `jhot start`, `record` "
		"or `top` has with the JVM, and writes each -o FILE as `jhot record` does; "
		"without -o it prints the hot methods. The session is not disturbed.\n\n"
		"  jhot save --last 5m -o slow.html Shop",
	.min_operands = 1,
	.max_operands = 1,
	.run = run_save,
};

const struct verb verb_stop = {
	.bit = VERB_STOP,
	.name = "stop",
	.synopsis = "[-o FILE]... PID|NAME",
	.help = "end the profiling session of a JVM",
	.text = "Ends the session of any jhot with the JVM. A recording that `jhot start` "
		"began writes its files, or prints the hot methods here; with -o it is "
		"written to FILE instead. Any other jhot ends and keeps its samples: `record` "
		"writes them, `top` saves them. A `record --rotate` or `--when` of a NAME goes on "
		"with its other JVMs, and does not record this one until it is restarted. The "
		"agent stops sampling and releases the "
		"JVM. It is not an error if there is no session.",
	.min_operands = 1,
	.max_operands = 1,
	.run = run_stop,
};
