/* SPDX-License-Identifier: Apache-2.0 */
/* All Java processes, one found by its pid or name, and the error for one that cannot be attached. */
#include "attach/hotspot.h"
#include "attach/hotspot_check.h"
#include "attach/proc.h"
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HINTS 8 /* JVMs named in an error */

struct gather {
	struct hotspot_list *list;
	struct libjvm_memo memo;
	int cap;
};

static void gather_pid(void *ctx, pid_t pid)
{
	struct gather *g = ctx;
	struct hotspot jvm;

	if (pid == getpid() || hotspot_check_java(pid, &jvm, &g->memo))
		return;
	if (g->list->count == g->cap) {
		g->cap = g->cap ? g->cap * 2 : 16;
		g->list->jvms = xreallocarray(g->list->jvms, (size_t)g->cap, sizeof(jvm));
	}
	g->list->jvms[g->list->count++] = jvm;
}

static int by_pid(const void *a, const void *b)
{
	const struct hotspot *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

int hotspot_list(struct hotspot_list *out, struct err *err)
{
	struct gather g = {.list = out};

	memset(out, 0, sizeof(*out));
	if (proc_pids(gather_pid, &g)) {
		err_set(err, ERR_FAILED, "%s cannot be read, so no process can be seen.",
			proc_root);
		err_hint(err, "mount -t proc proc /proc");
		return -1;
	}
	if (out->count)
		qsort(out->jvms, (size_t)out->count, sizeof(out->jvms[0]), by_pid);
	return 0;
}

void hotspot_list_done(struct hotspot_list *list)
{
	free(list->jvms);
	memset(list, 0, sizeof(*list));
}

/* --- by name ------------------------------------------------------------------------------------------ */

static bool match_whole_name(const struct hotspot *jvm, const char *word)
{
	return !strcasecmp(jvm->name, word);
}

static bool match_name(const struct hotspot *jvm, const char *word)
{
	return strcasestr(jvm->name, word) != NULL;
}

static bool match_args(const struct hotspot *jvm, const char *word)
{
	return strcasestr(jvm->args, word) != NULL;
}

/* The first of these under which there is any match counts. */
static bool (*const matchers[])(const struct hotspot *jvm, const char *word) = {
	match_whole_name,
	match_name,
	match_args,
};

static void hint_jvms(struct err *err, const struct hotspot_list *list,
	bool (*match)(const struct hotspot *jvm, const char *word), const char *word)
{
	int shown = 0;

	for (int i = 0; i < list->count && shown < HINTS; i++)
		if (!match || match(&list->jvms[i], word)) {
			err_hint(err, "jhot %d   %s", (int)list->jvms[i].pid, list->jvms[i].name);
			shown++;
		}
}

/* The number of matches; an error unless it is 1. */
static int find_in(
	const struct hotspot_list *list, const char *word, struct hotspot *out, struct err *err)
{
	for (size_t m = 0; m < sizeof(matchers) / sizeof(matchers[0]); m++) {
		int found = 0;

		for (int i = 0; i < list->count; i++)
			if (matchers[m](&list->jvms[i], word) && !found++)
				*out = list->jvms[i];
		if (found > 1) {
			err_set(err, ERR_NO_TARGET, "%d JVMs match \"%s\".", found, word);
			hint_jvms(err, list, matchers[m], word);
		}
		if (found)
			return found;
	}
	err_set(err, ERR_NO_TARGET,
		list->count ? "No JVM's name or command line has \"%s\" in it."
			    : "No JVM runs here, so none is called \"%s\".",
		word);
	hint_jvms(err, list, NULL, NULL);
	return 0;
}

/* --- what is no JVM ------------------------------------------------------------------------------ */

struct named {
	const char *name;
	pid_t pid;
};

static void match_process(void *ctx, pid_t pid)
{
	struct named *n = ctx;
	struct proc_status status;

	if (!n->pid && pid != getpid() && !proc_status(pid, &status) &&
		!strcmp(status.name, n->name))
		n->pid = pid;
}

/* Somebody asks for a program that is not Java: better its reason than "no such JVM". */
static void refuse_program(const char *name, struct hotspot *out, struct err *err)
{
	struct named n = {.name = name};

	if (!proc_pids(match_process, &n) && n.pid && !hotspot_check(n.pid, out, NULL) &&
		!out->is_hotspot)
		hotspot_refusal(out, err);
}

static int find_pid(const char *digits, struct hotspot *out, struct err *err)
{
	long pid = strtol(digits, NULL, 10);

	if (hotspot_check(pid > 0 && pid <= INT32_MAX ? (pid_t)pid : -1, out, err))
		return -1;
	return out->verdict == HOTSPOT_NO && !out->is_hotspot ? hotspot_refusal(out, err) : 0;
}

int hotspot_find(const char *pid_or_name, struct hotspot *out, struct err *err)
{
	struct hotspot_list list;
	int found;

	if (!pid_or_name[0])
		return err_set(err, ERR_USAGE, "An empty word names no JVM.");
	if (pid_or_name[strspn(pid_or_name, "0123456789")] == '\0')
		return find_pid(pid_or_name, out, err);
	if (hotspot_list(&list, err))
		return -1;
	found = find_in(&list, pid_or_name, out, err);
	if (!found)
		refuse_program(pid_or_name, out, err);
	hotspot_list_done(&list);
	return found == 1 ? 0 : -1;
}

/* --- refusal ------------------------------------------------------------------------------------------ */

int hotspot_refusal(const struct hotspot *jvm, struct err *err)
{
	err_set(err, ERR_ATTACH, "Process %d (%s) cannot be attached. %s", (int)jvm->pid, jvm->name,
		jvm->why);
	for (const char *line = jvm->hint; *line;) {
		size_t len = strcspn(line, "\n");

		err_hint(err, "%.*s", (int)len, line);
		line += len + (line[len] == '\n');
	}
	err_detail(err, "user %s, state untouched: no signal was sent and no file made", jvm->user);
	if (jvm->vm[0])
		err_detail(err, "%s %s", jvm->vm, jvm->jdk);
	if (jvm->libjvm[0])
		err_detail(err, "%s", jvm->libjvm);
	return -1;
}
