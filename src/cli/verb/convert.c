/* SPDX-License-Identifier: Apache-2.0 */
/* `jhot convert`: profiles of any format into files of any other, several as one, or as text. */
#include "cli/line/events.h"
#include "cli/line/verb.h"
#include "cli/outputs/outputs.h"
#include "cli/reading.h"

static int convert_write(
	const struct imported *file, const struct args *args, struct outputs *o, struct err *err)
{
	struct outputs_source source = {
		.profile = file->profile, .vitals = &file->vitals, .file = file};
	struct outputs_names names = {
		file->vitals.pid, file->vitals.name, profile_info(file->profile).start_wall_ns};
	struct events events;

	if (reading_span(args, file, &o->from, &o->to, err) ||
		events_of_profile(&events, args, file->profile, err) ||
		outputs_check(o, &events, &names, err))
		return -1;
	source.duration_ns = reading_duration_ns(file, o->from, o->to);
	return outputs_write(o, &events, &source, err);
}

static int run_convert(const struct args *args, struct err *err)
{
	struct imported *file = NULL;
	struct outputs outputs;
	int rc = -1;

	if (!outputs_parse(&outputs, args, err))
		file = reading_operands(args, err);
	if (file)
		rc = convert_write(file, args, &outputs, err);
	import_free(file);
	outputs_done(&outputs);
	return rc;
}

const struct verb verb_convert = {
	.bit = VERB_CONVERT,
	.name = "convert",
	.synopsis = "[OPTION]... FILE...",
	.help = "turn profiles into files of other formats, or print their hot methods",
	.text = "Reads recordings (.jhot), collapsed stacks (of jhot, async-profiler, "
		"FlameGraph), the output of perf script, pprof, speedscope's files and JFR (of "
		"jhot, async-profiler, the JDK itself), also "
		"compressed by gzip, zstd, xz or lz4, and writes each -o FILE as `jhot record` "
		"would have done; without -o "
		"it prints the hot methods. Several files become one: events by their names, "
		"threads by names and numbers, seconds by the wall clock. A FILE of - is stdin. "
		"Without -e each event that has samples.",
	.min_operands = 1,
	.max_operands = 10000,
	.run = run_convert,
};
