/* SPDX-License-Identifier: Apache-2.0 */
/* `jhot list`: the Java processes of this machine, and whether each can be attached. */
#include "attach/jvm/hotspot.h"
#include "base/json.h"
#include "cli/line/help.h"
#include "cli/line/verb.h"
#include "tui/screen/text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME_WIDTH 23
#define WHY_MARGIN 8

/* Mean over the life of the process, as in ps: needs no second reading. */
static int cpu_pct(const struct hotspot *jvm)
{
	double seconds = (double)jvm->cpu_ticks / (double)sysconf(_SC_CLK_TCK);

	return jvm->uptime_s > 0 ? (int)(100 * seconds / (double)jvm->uptime_s + 0.5) : 0;
}

/* Shortens a name from the left, where a class has its package. *ellipsis: "~" if it was shortened. */
static const char *name_tail(const char *name, const char **ellipsis)
{
	size_t len = strlen(name);

	*ellipsis = "";
	if (len <= NAME_WIDTH)
		return name;
	*ellipsis = "~";
	size_t skip = len - (NAME_WIDTH - 1);
	while (((unsigned char)name[skip] & 0xc0) == 0x80) /* not within a UTF-8 character */
		skip++;
	return name + skip;
}

static void print_json(const struct hotspot_list *list)
{
	struct buf text = {0};
	struct json j = {.out = &text};

	json_begin(&j, NULL, '[');
	for (int i = 0; i < list->count; i++) {
		const struct hotspot *jvm = &list->jvms[i];

		json_begin(&j, NULL, '{');
		json_int(&j, "pid", jvm->pid);
		json_int(&j, "nspid", jvm->nspid);
		json_str(&j, "user", jvm->user);
		json_int(&j, "uid", jvm->euid);
		json_str(&j, "jdk", jvm->jdk);
		json_str(&j, "vm", jvm->vm);
		json_str(&j, "name", jvm->name);
		json_str(&j, "args", jvm->args);
		json_int(&j, "cpu_pct_mean", cpu_pct(jvm));
		json_int(&j, "rss_bytes", (int64_t)jvm->rss_bytes);
		json_int(&j, "threads", jvm->threads);
		json_int(&j, "uptime_s", jvm->uptime_s);
		json_str(&j, "attach", hotspot_verdict_names[jvm->verdict]);
		json_str(&j, "why", jvm->why);
		json_str(&j, "hint", jvm->hint);
		json_end(&j, '}');
	}
	json_end(&j, ']');
	json_print(&j, stdout);
}

static void print_table(const struct hotspot_list *list)
{
	printf("%7s %-8s %-9s %4s %5s %4s %6s %-*s %s\n", "PID", "USER", "JDK", "CPU%", "RSS",
		"THR", "UP", NAME_WIDTH, "NAME", "ATTACH");
	for (int i = 0; i < list->count; i++) {
		char rss[TEXT_NUMBER], up[TEXT_NUMBER];
		const char *ellipsis, *name = name_tail(list->jvms[i].name, &ellipsis);

		printf("%7d %-8.8s %-9.9s %4d %5s %4d %6s %s%-*s %s\n", (int)list->jvms[i].pid,
			list->jvms[i].user, list->jvms[i].jdk[0] ? list->jvms[i].jdk : "?",
			cpu_pct(&list->jvms[i]), text_bytes(rss, (int64_t)list->jvms[i].rss_bytes),
			list->jvms[i].threads, text_uptime(up, list->jvms[i].uptime_s), ellipsis,
			NAME_WIDTH - (int)strlen(ellipsis), name,
			hotspot_verdict_names[list->jvms[i].verdict]);
		if (list->jvms[i].why[0])
			help_wrap(stdout, 0, WHY_MARGIN, list->jvms[i].why);
	}
	if (!list->count)
		puts("No Java process is running.");
}

static int run_list(const struct args *args, struct err *err)
{
	struct hotspot_list list;

	if (hotspot_list(&list, err))
		return -1;
	(args_has(args, OPT_JSON) ? print_json : print_table)(&list);
	hotspot_list_done(&list);
	return 0;
}

const struct verb verb_list = {
	.bit = VERB_LIST,
	.name = "list",
	.synopsis = "[--json]",
	.help = "show the Java processes and whether each can be attached",
	.text = "Lists the Java processes of this machine. CPU% is relative to one core, averaged "
		"since the start of the process.\n\n"
		"ATTACH is one of\n"
		"  ok     HotSpot of the same user, or you are root\n"
		"  ok ns  the same, in another root or namespace: the agent is copied there\n"
		"  ok ?   probably: the JVM publishes no counters that would confirm it\n"
		"  sudo   another user's: attach as that user or as root\n"
		"  no     not possible, for the reason below the row",
	.run = run_list,
};
