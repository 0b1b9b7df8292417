/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a recorder. */
#include "base/clock.h"
#include "base/hash.h"
#include "cli/line/units.h"
#include "cli/recorder/recorder.h"

#include <string.h>
#include <unistd.h>

#define BEFORE_S    60u
#define AFTER_S     30u
#define PER_HOUR    10u
#define SPAN_MOST_S (24u * 3600)

bool recorder_requested(const struct args *args)
{
	return args_has(args, OPT_ROTATE) || args_has(args, OPT_WHEN);
}

int recorder_check_options(const struct args *args, struct err *err)
{
	static const struct {
		enum option_id id;
		const char *name;
		bool of_incidents;
	} needing[] = {
		{OPT_KEEP_FILES, "keep", false},
		{OPT_EXEC, "exec", false},
		{OPT_PUSH, "push", false},
		{OPT_FRACTION, "fraction", false},
		{OPT_BEFORE, "before", true},
		{OPT_AFTER, "after", true},
		{OPT_AT_MOST, "at-most", true},
	};

	for (size_t i = 0; i < sizeof(needing) / sizeof(needing[0]); i++)
		if (args_has(args, needing[i].id) && !args_has(args, OPT_WHEN) &&
			(needing[i].of_incidents || !args_has(args, OPT_ROTATE)))
			return err_set(err, ERR_USAGE, "--%s has no effect without %s.",
				needing[i].name,
				needing[i].of_incidents ? "--when" : "--rotate or --when");
	if (!args_has(args, OPT_PUSH) &&
		(args_has(args, OPT_HEADER) || args_has(args, OPT_TOKEN_FILE) ||
			args_has(args, OPT_CA_FILE)))
		return err_set(err, ERR_USAGE,
			"--header, --token-file and --ca-file have no effect without --push.");
	if (recorder_requested(args) && args_has(args, OPT_WHY)) {
		err_set(err, ERR_USAGE, "--why diagnoses a recording at its end.");
		err_hint(err, "--when why     writes a file whenever something is found");
		return -1;
	}
	return 0;
}

/* A duration of at least a second; *seconds stays as it is if the option is missing. */
static int parse_seconds(const struct args *args, enum option_id id, const char *name,
	uint32_t *seconds, struct err *err)
{
	const char *text = args_get(args, id);
	uint64_t ns;

	if (!text)
		return 0;
	if (units_duration(text, &ns, err))
		return -1;
	if (ns < NS_PER_S || ns > SPAN_MOST_S * NS_PER_S)
		return err_set(err, ERR_USAGE,
			"%s must be between 1 second and 24 hours, not \"%s\".", name, text);
	*seconds = (uint32_t)(ns / NS_PER_S);
	return 0;
}

int recorder_parse_fraction(const struct args *args, bool *selected, struct err *err)
{
	const char *text = args_get(args, OPT_FRACTION);
	char host[256] = "";
	double percent;

	*selected = true;
	if (!text)
		return 0;
	if (!units_percent(text, &percent) || !(percent > 0 && percent <= 100))
		return err_set(err, ERR_USAGE,
			"--fraction takes a percentage, such as 10%%, not \"%s\".", text);
	gethostname(host, sizeof(host) - 1);
	*selected = (double)(hash_bytes(host, strlen(host), 1) >> 11) <
		    percent / 100 * (double)(1ull << 53);
	return 0;
}

/* Without %t in its name, each file would replace the previous one. */
static int check_names(const struct outputs *o, struct err *err)
{
	if (!o->count) {
		err_set(err, ERR_USAGE, "--rotate and --when need files to write.");
		err_hint(err, "-o '%%n-%%t.jhot'");
		return -1;
	}
	for (int i = 0; i < o->count; i++) {
		const char *path = o->files[i].path, *slash = strrchr(path, '/');

		if (outputs_is_stdout(&o->files[i]))
			return err_set(
				err, ERR_USAGE, "--rotate and --when write files, not to stdout.");
		if (!strstr(slash ? slash : path, "%t")) {
			err_set(err, ERR_USAGE,
				"With --rotate or --when, the file name in \"%s\" must contain "
				"%%t, "
				"or each file would replace the previous one.",
				path);
			err_hint(err, "-o '%.*s%%n-%%t%s'", slash ? (int)(slash + 1 - path) : 0,
				path, o->files[i].format->suffixes[0]);
			return -1;
		}
	}
	return 0;
}

/* Chooses the output whose files are pushed: recordings, because they contain all events, labels and the host. */
static int parse_push(struct recorder *r, const struct args *args, struct err *err)
{
	const char *url = args_get(args, OPT_PUSH);

	r->push_output = -1;
	if (!url)
		return 0;
	for (int i = r->outputs.count - 1; i >= 0; i--)
		if (r->outputs.files[i].format == &outputs_jhot)
			r->push_output = i;
	if (r->push_output < 0) {
		err_set(err, ERR_USAGE, "--push sends recordings, and no -o writes them.");
		err_hint(err, "-o '%%n-%%t.jhot'");
		return -1;
	}
	return pushing_parse(&r->pushing, url, args, err);
}

int recorder_parse(struct recorder *r, const struct args *args, struct err *err)
{
	struct events *e = &r->sampling.events;
	const char *keep = args_get(args, OPT_KEEP_FILES);

	r->before_s = BEFORE_S;
	r->after_s = AFTER_S;
	r->per_hour = PER_HOUR;
	r->command = args_get(args, OPT_EXEC);
	if (triggers_parse(&r->triggers, args, err) || events_parse(e, args, EVENT_CPU, err) ||
		outputs_parse(&r->outputs, args, err) ||
		sampling_options(&r->sampling, args, err) ||
		parse_seconds(args, OPT_ROTATE, "--rotate", &r->rotate_s, err) ||
		parse_seconds(args, OPT_BEFORE, "--before", &r->before_s, err) ||
		parse_seconds(args, OPT_AFTER, "--after", &r->after_s, err) ||
		(keep && keep_parse(&r->keep, keep, err)) ||
		(args_has(args, OPT_AT_MOST) &&
			units_count(args_get(args, OPT_AT_MOST), "--at-most",
				sizeof(r->fired) / sizeof(r->fired[0]), &r->per_hour, err)) ||
		check_names(&r->outputs, err) || parse_push(r, args, err))
		return -1;
	if (!args_has(args, OPT_EVENT)) {
		/* Events for the rules. Rules do without those that cannot be sampled here. */
		e->optional = r->triggers.need_findings || r->triggers.need_wall;
		if (r->triggers.need_findings)
			events_insert(e, NULL, EVENT_LOCK);
		if (r->triggers.need_findings || r->triggers.need_wall)
			events_insert(e, NULL, EVENT_WALL);
	}
	return 0;
}
