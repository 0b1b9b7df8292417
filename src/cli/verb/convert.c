/* SPDX-License-Identifier: Apache-2.0 */
/* `jhot convert`: reads and merges profiles of any format, and writes them in any other or as text. */
#include "cli/line/events.h"
#include "cli/line/verb.h"
#include "cli/outputs/outputs.h"
#include "cli/reading.h"

static int convert_write(
	const struct imported *file, const struct args *args, struct outputs *o, struct err *err)
{
	if (reading_span(args, file, &o->from, &o->to, err))
		return -1;
	return reading_write(file, args, o, reading_duration_ns(file, o->from, o->to), err);
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

static int run_merge(const struct args *args, struct err *err)
{
	if (args_has(args, OPT_OUTPUT))
		return run_convert(args, err);
	err_set(err, ERR_USAGE, "`jhot merge` needs a file to write.");
	err_hint(err, "jhot merge FILE... -o FILE");
	return -1;
}

const struct verb verb_convert = {
	.bit = VERB_CONVERT,
	.name = "convert",
	.synopsis = "[OPTION]... FILE...",
	.help = "convert profiles to other formats, or print their hot methods",
	.text = "Reads recordings (.jhot), collapsed stacks (of jhot, async-profiler, "
		"FlameGraph), the output of perf script, pprof, speedscope and JFR files (of "
		"jhot, async-profiler, the JDK), optionally compressed with gzip, zstd, xz or "
		"lz4. Writes each -o FILE as `jhot record` does; without -o it prints the hot "
		"methods. Several files are merged: events by name, threads by name and id, "
		"seconds by the wall clock. The FILE - is stdin. Without -e, all events that "
		"have samples are used.",
	.min_operands = 1,
	.max_operands = 10000,
	.run = run_convert,
};

const struct verb verb_merge = {
	.bit = VERB_MERGE,
	.name = "merge",
	.synopsis = "[OPTION]... FILE... -o FILE",
	.help = "merge profiles, also of several processes, into one file",
	.text = "The same as `jhot convert` of several files: events are merged by name, "
		"threads by name and id, seconds by the wall clock.\n\n"
		"  jhot merge -o all.jhot shop-1.jhot shop-2.jhot shop-3.jfr",
	.min_operands = 1,
	.max_operands = 10000,
	.run = run_merge,
};
