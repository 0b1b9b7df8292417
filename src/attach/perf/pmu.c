/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the files described by Documentation/ABI/testing/sysfs-bus-event_source-devices-*. */
#include "attach/perf/pmu.h"

#include <ctype.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PMU_PATH 400

/* Reads the first line of a small file; false if there is none. */
static bool pmu_read(const char *path, char *out, size_t bytes)
{
	FILE *f = fopen(path, "re");
	bool got = f && fgets(out, (int)bytes, f);

	if (f)
		fclose(f);
	if (got)
		out[strcspn(out, "\n")] = '\0';
	return got;
}

/* --- terms ------------------------------------------------------------------------------------------- */

/* Distributes the low bits of value over the bits of a format ("config:0-7,32-35"). */
static bool pmu_deposit(struct perf_event *out, const char *format, uint64_t value)
{
	static const struct {
		const char *name;
		size_t at;
	} words[] = {{"config:", offsetof(struct perf_event, config)},
		{"config1:", offsetof(struct perf_event, config1)},
		{"config2:", offsetof(struct perf_event, config2)}};
	uint64_t *word = NULL;

	for (size_t i = 0; i < 3 && !word; i++) {
		if (strncmp(format, words[i].name, strlen(words[i].name)))
			continue;
		word = (uint64_t *)(void *)((char *)out + words[i].at);
		format += strlen(words[i].name);
	}
	while (word && isdigit((unsigned char)*format)) {
		char *end;
		unsigned long low = strtoul(format, &end, 10);
		unsigned long high = *end == '-' ? strtoul(end + 1, &end, 10) : low;

		for (unsigned long bit = low; bit <= high && bit < 64; bit++, value >>= 1)
			*word = (*word & ~(1ull << bit)) | (value & 1) << bit;
		format = end + (*end == ',');
	}
	return word != NULL;
}

struct pmu {
	const char *sys, *name; /* "cpu" */
	int depth;              /* > 0: inside a named event, whose terms may not name another */
};

static bool pmu_terms(
	const struct pmu *pmu, const char *terms, struct perf_event *out, struct err *err);

/* Expands NAME to the terms in the file events/NAME. */
static bool pmu_named(
	const struct pmu *pmu, const char *name, struct perf_event *out, struct err *err)
{
	struct pmu inner = {pmu->sys, pmu->name, pmu->depth + 1};
	char path[PMU_PATH], terms[256];

	snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s/events/%s", pmu->sys,
		pmu->name, name);
	if (pmu->depth || !pmu_read(path, terms, sizeof(terms))) {
		err_set(err, ERR_USAGE, "The PMU \"%s\" has no event \"%s\".", pmu->name, name);
		return false;
	}
	return pmu_terms(&inner, terms, out, err);
}

/* Applies one term: NAME=VALUE, a flag, or an event's name. */
static bool pmu_term(const struct pmu *pmu, char *term, struct perf_event *out, struct err *err)
{
	char path[PMU_PATH], format[128], *equals = strchr(term, '='), *end = NULL;
	uint64_t value = 1;

	if (equals) {
		*equals = '\0';
		value = strtoull(equals + 1, &end, 0);
	}
	if (equals && (*end || end == equals + 1)) {
		err_set(err, ERR_USAGE, "\"%s\" is not a number.", equals + 1);
		return false;
	}
	if (equals && !strcmp(term, "period")) {
		out->interval = value;
		return true;
	}
	snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s/format/%s", pmu->sys,
		pmu->name, term);
	if (pmu_read(path, format, sizeof(format)) && pmu_deposit(out, format, value))
		return true;
	if (!equals)
		return pmu_named(pmu, term, out, err);
	err_set(err, ERR_USAGE, "The PMU \"%s\" has no term \"%s\".", pmu->name, term);
	return false;
}

static bool pmu_terms(
	const struct pmu *pmu, const char *terms, struct perf_event *out, struct err *err)
{
	while (*terms) {
		size_t len = strcspn(terms, ",");
		char term[64];

		snprintf(term, sizeof(term), "%.*s", len < 63 ? (int)len : 63, terms);
		if (strchr(term, '/')) {
			err_set(err, ERR_USAGE, "\"%s\" is not a term of a PMU.", term);
			return false;
		}
		if (*term && !pmu_term(pmu, term, out, err))
			return false;
		terms += len + (terms[len] == ',');
	}
	return true;
}

int perf_pmu_find(const char *sys, const char *name, struct perf_event *out, struct err *err)
{
	const char *slash = strchr(name, '/'), *end = strrchr(name, '/');
	char pmu_name[32], terms[256], path[PMU_PATH], type[32];
	struct pmu pmu = {sys, pmu_name, 0};

	snprintf(pmu_name, sizeof(pmu_name), "%.*s", (int)(slash - name), name);
	if (end == slash || end[1] || !*pmu_name || *pmu_name == '.')
		return err_set(err, ERR_USAGE,
			"\"%s\" is not an event: a PMU's event is written PMU/TERM=NUMBER,.../.",
			name);
	snprintf(terms, sizeof(terms), "%.*s", (int)(end - slash - 1), slash + 1);
	snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s/type", sys, pmu_name);
	if (!pmu_read(path, type, sizeof(type))) {
		err_set(err, ERR_USAGE, "This machine has no PMU \"%s\".", pmu_name);
		err_hint(err, "ls /sys/bus/event_source/devices");
		return -1;
	}
	out->type = (uint32_t)strtoul(type, NULL, 10);
	out->interval = 1000000;
	return pmu_terms(&pmu, terms, out, err) ? 0 : -1;
}

/* --- tracepoints ------------------------------------------------------------------------------------- */

/* Stores the mount point of tracefs in path; false if it is not mounted. */
static bool perf_tracefs(const char *sys, char *path, size_t bytes)
{
	static const char *const places[] = {"kernel/tracing", "kernel/debug/tracing"};

	for (size_t i = 0; i < 2; i++) {
		char events[PMU_PATH];

		snprintf(path, bytes, "%s/%s", sys, places[i]);
		snprintf(events, sizeof(events), "%s/events", path);
		if (!access(events, R_OK | X_OK))
			return true;
	}
	return false;
}

void perf_tracefs_why(char *why, size_t bytes)
{
	char path[PMU_PATH];

	if (perf_tracefs(perf_events_sys, path, sizeof(path)))
		*why = '\0';
	else
		snprintf(why, bytes, "tracefs is not mounted%s",
			geteuid() ? ", or for root only" : "");
}

int perf_tracepoint_find(const char *sys, const char *name, struct perf_event *out)
{
	const char *colon = strchr(name, ':');
	char fs[PMU_PATH], path[PMU_PATH * 2], id[32];

	if (strchr(name, '/') || *name == '.' || colon[1] == '.' ||
		!perf_tracefs(sys, fs, sizeof(fs)))
		return -1;
	snprintf(path, sizeof(path), "%s/events/%.*s/%s/id", fs, (int)(colon - name), name,
		colon + 1);
	if (!pmu_read(path, id, sizeof(id)))
		return -1;
	out->type = PERF_TYPE_TRACEPOINT;
	out->config = strtoull(id, NULL, 10);
	out->interval = 1;
	return 0;
}
