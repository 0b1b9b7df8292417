/* SPDX-License-Identifier: Apache-2.0 */
/* `jhot events`: lists the events that can be sampled here, and why the others cannot. */
#include "attach/perf/events.h"
#include "attach/jvm/hotspot.h"
#include "base/json.h"
#include "cli/line/verb.h"
#include "profile/profile.h"
#include "session/alloc_trap.h"
#include "tui/screen/text.h"

#include <stdio.h>
#include <stdlib.h>

/* One row of the output. */
struct row {
	const char *kind, *name, *unit;
	char interval[TEXT_NUMBER];
	char why[240]; /* why it cannot be sampled, "" if it can */
	char note[240];
};

struct rows {
	struct row *rows;
	uint32_t count, cap;
};

static struct row *rows_add(struct rows *r, const char *kind, const char *name, const char *unit)
{
	r->rows = xgrow(r->rows, r->count, &r->cap, sizeof(*r->rows));
	struct row *row = &r->rows[r->count++];
	*row = (struct row){.kind = kind, .name = name, .unit = unit};
	return row;
}

/* --- the JVM's own ----------------------------------------------------------------------------------- */

/* Whether and how alloc can be sampled in this JVM, if its JDK matters. */
static void explain_alloc(const struct hotspot *jvm, struct row *row)
{
	struct alloc_trap trap;
	struct err err = {0};

	if (!alloc_trap_needed(jvm))
		return;
	if (perf_breakpoints_dead(row->why, sizeof(row->why)))
		return;
	struct symbols *symbols = symbols_new(jvm->pid, jvm->nspid);
	if (alloc_trap_find(jvm, symbols, &trap, &err))
		snprintf(row->why, sizeof(row->why),
			"needs the symbols of libjvm on JDK 8: apt install openjdk-8-dbg (Debian, "
			"Ubuntu), dnf debuginfo-install java-1.8.0-openjdk-headless (Fedora, "
			"RHEL)");
	else
		snprintf(row->note, sizeof(row->note),
			"by breakpoints in libjvm: new TLABs, and objects outside TLABs");
	symbols_free(symbols);
}

/* --- output ------------------------------------------------------------------------------------------ */

static void print_json(const struct rows *r)
{
	struct buf text = {0};
	struct json j = {.out = &text};

	json_begin(&j, NULL, '[');
	for (uint32_t i = 0; i < r->count; i++) {
		const struct row *row = &r->rows[i];

		json_begin(&j, NULL, '{');
		json_str(&j, "kind", row->kind);
		json_str(&j, "event", row->name);
		json_str(&j, "unit", row->unit);
		json_str(&j, "interval", row->interval);
		json_bool(&j, "available", !row->why[0]);
		json_str(&j, "why", row->why);
		json_str(&j, "note", row->note);
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_print(&j, stdout);
}

static void print_table(const struct rows *r)
{
	printf("%-24s %-12s %9s  %s\n", "EVENT", "UNIT", "INTERVAL", "HERE");
	for (uint32_t i = 0; i < r->count; i++) {
		const struct row *row = &r->rows[i];
		const char *text = row->why[0] ? row->why : row->note;

		printf("%-24s %-12s %9s  %s%s%s\n", row->name, row->unit, row->interval,
			row->why[0] ? "no" : "yes", text[0] ? ": " : "", text);
	}
}

static int run_events(const struct args *args, struct err *err)
{
	struct hotspot jvm = {0};
	struct rows rows = {0};

	if (args->operand_count && hotspot_find_ready(args->operands[0], &jvm, err))
		return -1;
	char why[200];
	for (int i = 0; i < EVENT_USER_FIRST; i++) {
		const struct profile_event *e = &profile_events[i];
		struct row *row = rows_add(&rows, "jvm", e->name, e->unit);
		text_interval(row->interval, (int64_t)e->default_interval, e->weight_is_time);
		if (i == EVENT_ALLOC)
			explain_alloc(&jvm, row);
		else if (i == EVENT_CPU && perf_events_probe_cpu(why, sizeof(why)))
			snprintf(row->note, sizeof(row->note),
				"by CPU timers, without kernel frames: %s", why);
		else if (i == EVENT_CPU)
			snprintf(
				row->note, sizeof(row->note), "by perf_events, with kernel frames");
	}
	/* The predefined events, then the forms of names for all others. */
	struct perf_event_form form;
	struct perf_event event;
	for (int i = 0; perf_events_each(i, &event); i++) {
		struct row *row = rows_add(&rows, event.kind, event.name, event.unit);
		snprintf(row->interval, sizeof(row->interval), "%llu",
			(unsigned long long)event.interval);
		perf_events_probe(&event, false, row->why, sizeof(row->why));
	}
	for (int i = 0; perf_events_form(i, &form); i++) {
		struct row *row = rows_add(&rows, "form", form.form, form.unit);
		snprintf(row->why, sizeof(row->why), "%s", form.why);
		snprintf(row->note, sizeof(row->note), "%s", form.note);
	}
	(args_has(args, OPT_JSON) ? print_json : print_table)(&rows);
	free(rows.rows);
	return 0;
}

const struct verb verb_events = {
	.bit = VERB_EVENTS,
	.name = "events",
	.synopsis = "[--json] [PID|NAME]",
	.help = "list the events that can be sampled here, and why others cannot",
	.text = "Lists the events for -e with the unit of their weights and their default "
		"interval. Whether a perf event is available is tested with the rights of the "
		"user who runs this command; a JVM of another user may have fewer.\n\n"
		"Besides the names that are listed, -e accepts\n"
		"  rHEX               a raw event number from the manual of the CPU\n"
		"  PMU/TERM=N,.../    an event of a PMU in /sys/bus/event_source/devices\n"
		"  SYSTEM:NAME        a tracepoint: syscalls:sys_enter_openat\n"
		"  mem:ADDR[/N][:rwx] accesses to N bytes at an address or function\n"
		"  [LIBRARY:]FUNCTION calls of a native function: malloc, libjvm.so:JVM_Clone\n\n"
		"A breakpoint needs a debug register of the CPU; x86 has four.",
	.min_operands = 0,
	.max_operands = 1,
	.run = run_events,
};
