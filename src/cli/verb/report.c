/* SPDX-License-Identifier: Apache-2.0 */
/* `jhot report`: a recording of --raw, replayed without a JVM into files or text. */
#include "base/clock.h"
#include "cli/line/events.h"
#include "cli/outputs.h"
#include "cli/verb/verb.h"
#include "session/session.h"

static int report_write(struct session *s, struct profile *p, const struct args *args,
	const struct outputs *o, struct err *err)
{
	struct outputs_source source = {.profile = p};
	struct outputs_names names;
	struct events events;
	struct err end = {0};

	while (session_replay_step(s))
		;
	session_drain(s, &end);
	source.vitals = session_vitals(s);
	names = (struct outputs_names){
		source.vitals->pid, source.vitals->name, profile_info(p).start_wall_ns};
	if (events_of_profile(&events, args, p, err) || outputs_check(o, &events, &names, err))
		return -1;
	source.duration_ns = session_duration_ns(s);
	if (outputs_write(o, &events, &source, err))
		return -1;
	if (end.kind == ERR_GONE || end.kind == ERR_NONE)
		return 0;
	*err = end; /* damaged: what stood before the damage is written */
	return -1;
}

static int run_report(const struct args *args, struct err *err)
{
	struct profile *p = profile_new();
	struct session *s = NULL;
	struct outputs outputs;
	int rc = -1;

	profile_set_history(p, UINT32_MAX); /* as for record */
	if (!outputs_parse(&outputs, args, err))
		s = session_replay(args->operands[0], true, p, err);
	if (s)
		rc = report_write(s, p, args, &outputs, err);
	session_close(s);
	profile_free(p);
	outputs_done(&outputs);
	return rc;
}

const struct verb verb_report = {
	.bit = VERB_REPORT,
	.name = "report",
	.synopsis = "[OPTION]... RECORDING",
	.help = "turn a recording of `record --raw` into files or text, without a JVM",
	.text = "Reads what `jhot record --raw` (or `jhot top --raw`) kept and writes each -o "
		"FILE, or prints the hot methods, as `jhot record` would have done. Without -e for "
		"each event that has samples.",
	.min_operands = 1,
	.max_operands = 1,
	.run = run_report,
};
