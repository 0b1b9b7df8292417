/* SPDX-License-Identifier: Apache-2.0 */
/* Lists Java processes, finds one by pid or name, and explains why one cannot be attached. */
#include "attach/jvm/hotspot.h"
#include "attach/proc.h"
#include "base/buf.h"
#include "base/clean.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HINTS             8 /* JVMs listed in an error, at most */
#define STARTING_POLLS    100
#define STARTING_PAUSE_MS 100

int hotspot_list(struct hotspot_list *out, struct err *err)
{
	struct hotspot_scan *s = hotspot_scan_begin(err);
	int rc = s ? 0 : -1;

	memset(out, 0, sizeof(*out));
	while (!rc)
		rc = hotspot_scan_step(s, 1000, err);
	if (rc > 0)
		hotspot_scan_copy(s, out);
	hotspot_scan_end(s);
	return rc < 0 ? -1 : 0;
}

void hotspot_list_done(struct hotspot_list *list)
{
	free(list->jvms);
	memset(list, 0, sizeof(*list));
}

/* --- by name ----------------------------------------------------------------------------------------- */

/*
 * True when the word is the JVM's whole name, or its last part: the class without its package, the jar without its suffix.
 * Substrings do not match: a typo must not select a JVM.
 */
bool hotspot_has_name(const struct hotspot *jvm, const char *word)
{
	size_t len = strlen(jvm->name), suffix = strlen(".jar");
	const char *dot = strrchr(jvm->name, '.');

	if (!strcasecmp(jvm->name, word))
		return true;
	if (len > suffix && !strcasecmp(jvm->name + len - suffix, ".jar"))
		return strlen(word) == len - suffix && !strncasecmp(jvm->name, word, len - suffix);
	return dot && !strcasecmp(dot + 1, word);
}

/* A looser match, for the hints of "not found". */
static bool match_somewhere(const struct hotspot *jvm, const char *word)
{
	return strcasestr(jvm->name, word) || strcasestr(jvm->args, word);
}

/* Adds hints for up to HINTS of the matching JVMs (match NULL: all); returns how many match. */
static int hint_jvms(struct err *err, const struct hotspot_list *list,
	bool (*match)(const struct hotspot *jvm, const char *word), const char *word)
{
	char name[sizeof(list->jvms[0].name)];
	int found = 0;

	for (int i = 0; i < list->count; i++) {
		if ((match && !match(&list->jvms[i], word)) || ++found > HINTS)
			continue;
		clean_word(name, sizeof(name), list->jvms[i].name);
		err_hint(err, "jhot %d   %s", (int)list->jvms[i].pid, name);
	}
	return found;
}

/* Returns how many JVMs have this name; sets an error unless it is 1. */
static int find_in(
	const struct hotspot_list *list, const char *word, struct hotspot *out, struct err *err)
{
	int found = 0;

	for (int i = 0; i < list->count; i++)
		if (hotspot_has_name(&list->jvms[i], word) && !found++)
			*out = list->jvms[i];
	if (found > 1) {
		err_set(err, ERR_NO_TARGET, "%d JVMs match \"%s\".", found, word);
		hint_jvms(err, list, hotspot_has_name, word);
	}
	if (found)
		return found;
	err_set(err, ERR_NO_TARGET,
		list->count ? "No JVM matches \"%s\": a name is the main class or jar, in full or "
			      "its last part."
			    : "No JVM is running, so none matches \"%s\".",
		word);
	if (!hint_jvms(err, list, match_somewhere, word))
		hint_jvms(err, list, NULL, NULL);
	return 0;
}

/* --- other processes --------------------------------------------------------------------------------- */

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

/* If the name is that of another program, replaces "no such JVM" by the reason why it cannot be attached. */
static void refuse_program(const char *name, struct hotspot *out, struct err *err)
{
	struct named n = {.name = name};

	if (!proc_pids(match_process, &n) && n.pid && !hotspot_check(n.pid, out, NULL) &&
		!out->is_hotspot)
		hotspot_refusal(out, err);
}

bool hotspot_is_pid(const char *pid_or_name)
{
	return !pid_or_name[strspn(pid_or_name, "0123456789")];
}

int hotspot_find(const char *pid_or_name, struct hotspot *out, struct err *err)
{
	struct hotspot_list list;

	if (!pid_or_name[0])
		return err_set(err, ERR_USAGE, "The name of a JVM cannot be empty.");
	if (hotspot_is_pid(pid_or_name)) {
		long pid = strtol(pid_or_name, NULL, 10);

		if (hotspot_check(pid > 0 && pid <= INT32_MAX ? (pid_t)pid : -1, out, err))
			return -1;
		return out->verdict == HOTSPOT_NO && !out->is_hotspot && !out->starting
			       ? hotspot_refusal(out, err)
			       : 0;
	}
	if (hotspot_list(&list, err))
		return -1;
	int found = find_in(&list, pid_or_name, out, err);
	if (!found)
		refuse_program(pid_or_name, out, err);
	hotspot_list_done(&list);
	return found == 1 ? 0 : -1;
}

/* Waits for a starting JVM because of `java ... & jhot record $!`. */
int hotspot_find_ready(const char *pid_or_name, struct hotspot *out, struct err *err)
{
	if (hotspot_find(pid_or_name, out, err))
		return -1;
	for (int i = 0; out->starting && i < STARTING_POLLS; i++) {
		poll(NULL, 0, STARTING_PAUSE_MS);
		if (hotspot_check(out->pid, out, err))
			return -1;
	}
	return out->verdict > HOTSPOT_UNKNOWN ? hotspot_refusal(out, err) : 0;
}

/* --- refusal ----------------------------------------------------------------------------------------- */

int hotspot_refusal(const struct hotspot *jvm, struct err *err)
{
	err_set(err, ERR_ATTACH, "Process %d (%s) cannot be attached. %s", (int)jvm->pid, jvm->name,
		jvm->why);
	for (const char *line = jvm->hint; *line;) {
		size_t len = strcspn(line, "\n");

		err_hint(err, "%.*s", (int)len, line);
		line += len + (line[len] == '\n');
	}
	err_detail(err, "user %s; nothing was changed: no signal was sent and no file created",
		jvm->user);
	if (jvm->vm[0])
		err_detail(err, "%s %s", jvm->vm, jvm->jdk);
	if (jvm->libjvm[0])
		err_detail(err, "%s", jvm->libjvm);
	return -1;
}
