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

/* Shortens a name from the left, where a class has its package. *mark: "~" if it was shortened. */
static const char *name_tail(const char *name, const char **mark)
{
	size_t len = strlen(name), skip;

	*mark = "";
	if (len <= NAME_WIDTH)
		return name;
	*mark = "~";
	skip = len - (NAME_WIDTH - 1);
	while (((unsigned char)name[skip] & 0xc0) == 0x80) /* not within a UTF-8 letter */
		skip++;
	return name + skip;
}

static void print_row(const struct hotspot *jvm)
{
	char rss[TEXT_NUMBER], up[TEXT_NUMBER];
	const char *mark, *name = name_tail(jvm->name, &mark);

	printf("%7d %-8.8s %-9.9s %4d %5s %4d %6s %s%-*s %s\n", (int)jvm->pid, jvm->user,
		jvm->jdk[0] ? jvm->jdk : "?", cpu_pct(jvm),
		text_bytes(rss, (int64_t)jvm->rss_bytes), jvm->threads,
		text_uptime(up, jvm->uptime_s), mark, NAME_WIDTH - (int)strlen(mark), name,
		hotspot_verdict_names[jvm->verdict]);
	if (jvm->why[0])
		help_wrap(stdout, 0, WHY_MARGIN, jvm->why);
}

static void print_json(const struct hotspot_list *list)
{
	struct buf text = {0};
	struct json j = {.out = &text};

	json_begin(&j, '[');
	for (int i = 0; i < list->count; i++) {
		const struct hotspot *jvm = &list->jvms[i];

		json_begin(&j, '{');
		json_key(&j, "pid"), json_int(&j, jvm->pid);
		json_key(&j, "nspid"), json_int(&j, jvm->nspid);
		json_key(&j, "user"), json_str(&j, jvm->user);
		json_key(&j, "uid"), json_int(&j, jvm->euid);
		json_key(&j, "jdk"), json_str(&j, jvm->jdk);
		json_key(&j, "vm"), json_str(&j, jvm->vm);
		json_key(&j, "name"), json_str(&j, jvm->name);
		json_key(&j, "args"), json_str(&j, jvm->args);
		json_key(&j, "cpu_pct_mean"), json_int(&j, cpu_pct(jvm));
		json_key(&j, "rss_bytes"), json_int(&j, (int64_t)jvm->rss_bytes);
		json_key(&j, "threads"), json_int(&j, jvm->threads);
		json_key(&j, "uptime_s"), json_int(&j, jvm->uptime_s);
		json_key(&j, "attach"), json_str(&j, hotspot_verdict_names[jvm->verdict]);
		json_key(&j, "why"), json_str(&j, jvm->why);
		json_key(&j, "hint"), json_str(&j, jvm->hint);
		json_end(&j, '}');
	}
	json_end(&j, ']');
	puts(buf_str(&text));
	buf_done(&text);
}

static void print_table(const struct hotspot_list *list)
{
	printf("%7s %-8s %-9s %4s %5s %4s %6s %-*s %s\n", "PID", "USER", "JDK", "CPU%", "RSS",
		"THR", "UP", NAME_WIDTH, "NAME", "ATTACH");
	for (int i = 0; i < list->count; i++)
		print_row(&list->jvms[i]);
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
		"  ok ?   probably: the JVM publishes no counters that would tell\n"
		"  sudo   another user's: attach as that user or as root\n"
		"  no     not possible, for the reason below the row",
	.run = run_list,
};
