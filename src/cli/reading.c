/* SPDX-License-Identifier: Apache-2.0 */
/* Reads profiles: files, and the sessions of other jhot processes. */
#include "cli/reading.h"

#include "base/buf.h"
#include "base/clock.h"
#include "cli/line/events.h"
#include "cli/line/selection.h"
#include "cli/line/units.h"
#include "cli/line/verb.h"
#include "session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* --- files ------------------------------------------------------------------------------------------------ */

#define FIRST_NS (NS_PER_S / 2)
#define EACH_NS  (NS_PER_S / 10)
#define DAY_S    (24 * 3600)

struct reading {
	const char *path;
	uint64_t begin_ns, shown_ns;
	bool shown;
};

static bool reading_progress(void *ctx, uint64_t done, uint64_t total)
{
	struct reading *r = ctx;
	uint64_t now = clock_mono_ns();

	if (!isatty(STDERR_FILENO) || now - r->begin_ns < FIRST_NS || now - r->shown_ns < EACH_NS)
		return true;
	fprintf(stderr, "\r\033[Kreading %.60s ... ", r->path);
	if (total)
		fprintf(stderr, "%llu of %llu MB, %d %%", (unsigned long long)(done / 1000000),
			(unsigned long long)(total / 1000000),
			(int)(100.0 * (double)done / (double)total));
	else
		fprintf(stderr, "%llu MB", (unsigned long long)(done / 1000000));
	fputs("  (Ctrl-C cancels)", stderr);
	fflush(stderr);
	r->shown_ns = now;
	r->shown = true;
	return true;
}

static void reading_over(struct reading *r)
{
	if (r->shown)
		fputs("\r\033[K", stderr);
	r->shown = false;
}

static int reading_memory(const struct args *args, uint64_t *memory, struct err *err)
{
	const char *text = args_get(args, OPT_MEMORY);
	enum units_kind kind = UNITS_BYTES;

	if (!text)
		return 0;
	if (units_interval(text, memory, &kind, NULL) || kind != UNITS_BYTES)
		return err_set(
			err, ERR_USAGE, "--memory takes a size such as 4g, not \"%s\".", text);
	return 0;
}

/* With --longer or --shorter: replaces the profile by that of the selected calls. */
static int reading_calls(
	const struct args *args, struct imported *i, const char *path, struct err *err)
{
	struct profile *selected;

	if (args->verb->bit == VERB_SLOW || !selection_wanted(args))
		return 0;
	selected = selection_extract(args, i->profile, path, err);
	if (!selected)
		return -1;
	profile_free(i->profile);
	i->profile = selected;
	return 0;
}

static int reading_list(const struct args *args, struct import_options *how, struct imported **list,
	struct err *err)
{
	struct reading *r = how->ctx;

	for (int i = 0; i < args->operand_count; i++) {
		r->path = args->operands[i];
		list[i] = import_read(r->path, how, err);
		if (list[i]) {
			reading_over(r);
			if (*list[i]->note)
				fprintf(stderr, "%s: %s\n", r->path, list[i]->note);
			if (!reading_calls(args, list[i], r->path, err))
				continue;
			import_free(list[i]);
			list[i] = NULL;
		}
		while (i--) {
			import_free(list[i]);
			list[i] = NULL;
		}
		return -1;
	}
	return 0;
}

int reading_each(const struct args *args, struct imported **list, struct err *err)
{
	struct reading r = {.begin_ns = clock_mono_ns()};
	struct import_options how = {.progress = reading_progress, .ctx = &r};
	int rc = reading_memory(args, &how.memory, err);

	if (!rc)
		rc = reading_list(args, &how, list, err);
	reading_over(&r);
	return rc;
}

struct imported *reading_operands(const struct args *args, struct err *err)
{
	struct reading r = {.begin_ns = clock_mono_ns()};
	struct import_options how = {.progress = reading_progress, .ctx = &r};
	int count = args->operand_count;
	struct imported **list = xcalloc((size_t)count, sizeof(*list)), *out = NULL;

	if (!reading_memory(args, &how.memory, err) && !reading_list(args, &how, list, err)) {
		out = count == 1 ? list[0] : import_merge(list, count, &how, err);
		for (int i = 0; i < count; i++)
			if (list[i] != out)
				import_free(list[i]);
	}
	free(list);
	reading_over(&r);
	return out;
}

/* --- a span of time ---------------------------------------------------------------------------------- */

/* "14:05" or "14:05:30" on the day the file begins, or on the next day if the file lasts that long. */
static int span_clock(const char *option, const char *text, const struct imported *i,
	uint32_t *second, struct err *err)
{
	time_t start = (time_t)(profile_info(i->profile).start_wall_ns / NS_PER_S);
	int hour, minute, s = 0, end = 0;
	struct tm tm;

	if ((sscanf(text, "%2d:%2d:%2d%n", &hour, &minute, &s, &end) < 3 &&
		    sscanf(text, "%2d:%2d%n", &hour, &minute, &end) < 2) ||
		text[end] || hour > 23 || minute > 59 || s > 59 || hour < 0 || minute < 0 || s < 0)
		return err_set(err, ERR_USAGE,
			"--%s takes seconds (90, 2m) or a time of day (14:05:30), not \"%s\".",
			option, text);
	if (!start)
		return err_set(err, ERR_USAGE,
			"--%s %s cannot be used: the file does not record when it began. Give "
			"seconds from its beginning instead.",
			option, text);
	localtime_r(&start, &tm);
	tm.tm_hour = hour;
	tm.tm_min = minute;
	tm.tm_sec = s;
	tm.tm_isdst = -1;
	time_t then = mktime(&tm);
	*second = then >= start ? (uint32_t)(then - start) : 0;
	/* Earlier than the beginning: the next day, if the file lasts that long. */
	if (then < start && then + DAY_S - start <= (time_t)profile_info(i->profile).now)
		*second = (uint32_t)(then + DAY_S - start);
	return 0;
}

static int span_second(const char *option, const char *text, const struct imported *i,
	uint32_t *second, struct err *err)
{
	uint64_t ns;

	if (strchr(text, ':'))
		return span_clock(option, text, i, second, err);
	if (!strcmp(text, "0")) {
		*second = 0;
		return 0;
	}
	if (units_duration(text, &ns, err))
		return err_prefix(err, "--%s: ", option);
	*second = (uint32_t)(ns / NS_PER_S < UINT32_MAX ? ns / NS_PER_S : UINT32_MAX - 1);
	return 0;
}

int reading_span(const struct args *args, const struct imported *i, uint32_t *from, uint32_t *to,
	struct err *err)
{
	const char *begin = args_get(args, OPT_FROM), *end = args_get(args, OPT_TO);

	*from = 0;
	*to = UINT32_MAX;
	if ((begin || end) && !i->timed)
		return err_set(err, ERR_USAGE,
			"--from and --to cannot be used: %s files do not record time.",
			i->format->name);
	if ((begin && span_second("from", begin, i, from, err)) ||
		(end && span_second("to", end, i, to, err)))
		return -1;
	if (*from >= profile_info(i->profile).now)
		return err_set(err, ERR_USAGE, "--from %s is past the end of the file (%u s).",
			begin, profile_info(i->profile).now);
	if (*from >= *to)
		return err_set(err, ERR_USAGE, "--to must be later than --from.");
	return 0;
}

uint64_t reading_duration_ns(const struct imported *i, uint32_t from, uint32_t to)
{
	uint64_t whole = i->duration_ns, begin = (uint64_t)from * NS_PER_S;
	uint64_t end = (uint64_t)to * NS_PER_S;

	if (!i->timed || (!from && to == UINT32_MAX))
		return whole;
	end = end < whole ? end : whole;
	return end > begin ? end - begin : 0;
}

int reading_write(const struct imported *i, const struct args *args, struct outputs *o,
	uint64_t duration_ns, struct err *err)
{
	const struct outputs_source source = {
		.profile = i->profile, .vitals = &i->vitals, .duration_ns = duration_ns, .file = i};
	const struct outputs_names names = {
		i->vitals.pid, i->vitals.name, profile_info(i->profile).start_wall_ns, NULL};
	struct events events;

	if (events_of_profile(&events, args, i->profile, err) ||
		outputs_check(o, &events, &names, err))
		return -1;
	return outputs_write(o, &events, &source, err);
}

/* --- another session -------------------------------------------------------------------------------------- */

#define WAIT_MS 30000

/* Explains why there is nothing to copy. */
static int not_shared(const struct hotspot *jvm, struct err *err)
{
	struct session_status status;

	if (session_status(jvm, &status, NULL) || !status.active) {
		err_set(err, ERR_NO_TARGET, "JVM %d is not being profiled.", (int)jvm->pid);
		err_hint(err, "jhot start %d", (int)jvm->pid);
		return -1;
	}
	return err_set(err, ERR_NO_TARGET,
		"JVM %d is being profiled by %s (jhot process %d), but its samples cannot be "
		"read from here: it belongs to another user, container or version.",
		(int)jvm->pid, status.front_end, status.front_end_pid);
}

int copying_begin(
	struct copying *c, const struct hotspot *jvm, enum share_request request, struct err *err)
{
	c->to = xcalloc(1, sizeof(*c->to));
	c->to->profile = profile_new();
	c->from = shared_open(jvm, request, c->to->profile, err);
	if (c->from)
		return 0;
	return err && err->kind == ERR_NO_TARGET ? not_shared(jvm, err) : -1;
}

struct imported *copying_take(struct copying *c)
{
	struct imported *to = c->to;

	for (to->format = import_formats; strcmp(to->format->name, "jhot") != 0; to->format++)
		;
	import_describe(to, shared_recording(c->from));
	c->to = NULL;
	shared_close(c->from);
	c->from = NULL;
	return to;
}

struct imported *copying_finish(struct copying *c, struct err *err)
{
	int rc = 1;

	while (rc > 0 && !shared_complete(c->from))
		rc = shared_read(c->from, WAIT_MS, err);
	if (!rc)
		err_set(err, ERR_FAILED,
			"The jhot process %d, which is profiling the JVM, does not "
			"respond.",
			(int)shared_server(c->from));
	return rc > 0 ? copying_take(c) : NULL;
}

void copying_done(struct copying *c)
{
	shared_close(c->from);
	import_free(c->to);
}
