/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a JVM that loads the agent; translates the options of an agent that a JVM has loaded. */
#include "cli/launch.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_EXECUTED 127

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
static volatile sig_atomic_t launched;

/* Signals of the terminal have a positive code: the program has received them as well. */
static void forward(int signo, siginfo_t *info, void *context)
{
	(void)context;
	if (launched && info->si_code <= 0)
		kill((pid_t)launched, signo);
}

/* In the child: waits for the agent's path, then becomes the program. Reports a failure through `failed`. */
static void run(struct launch *l, const char *const *argv, int path, int failed)
{
	int count = 0;
	const char **all;
	char agent[PATH_MAX];
	ssize_t n = read(path, agent, sizeof(agent) - 1);

	if (n <= 0)
		_exit(NOT_EXECUTED);
	agent[n] = '\0';
	while (argv[count])
		count++;
	all = xcalloc((size_t)count + 2, sizeof(*all));
	snprintf(l->agent_option, sizeof(l->agent_option), "-agentpath:%s=token=%s", agent,
		l->token);
	all[0] = argv[0];
	all[1] = l->agent_option;
	memcpy(all + 2, argv + 1, (size_t)count * sizeof(*all));
	execvp(all[0], (char *const *)all);
	int error = errno;
	if (write(failed, &error, sizeof(error)) < 0)
		_exit(NOT_EXECUTED);
	_exit(NOT_EXECUTED);
}

/* Places the agent where the child can open it, and sends the child its path. */
static int place_agent(struct launch *l, const struct agent_file *agent, int path, struct err *err)
{
	struct hotspot *jvm = &l->jvm;

	snprintf(jvm->temp, sizeof(jvm->temp), "/tmp");
	if (place_prepare(&l->place, agent, jvm, err) || place_write(&l->place, err))
		return -1;
	size_t bytes = strlen(l->place.path);
	return write(path, l->place.path, bytes) == (ssize_t)bytes
		       ? 0
		       : err_set_errno(err, ERR_FAILED, "The program could not be started");
}

struct hotspot launch_jvm(pid_t pid)
{
	return (struct hotspot){.pid = pid,
		.nspid = pid,
		.euid = geteuid(),
		.egid = getegid(),
		.name = "java",
		.is_java = true,
		.is_hotspot = true};
}

int launch_begin(
	struct launch *l, const char *const *argv, const struct agent_file *agent, struct err *err)
{
	const char *name = strrchr(argv[0], '/');
	int path[2], failed[2], error, rc;

	if (strcmp(name ? name + 1 : argv[0], "java") != 0) {
		err_set(err, ERR_USAGE,
			"\"%s\" is not the java command, so jhot cannot load its agent.", argv[0]);
		err_hint(err, "jhot record [OPTION]... -- java [OPTION]... CLASS|-jar FILE");
		err_hint(err, "jhot record NAME     samples a JVM that a script has started");
		return -1;
	}
	if (pipe2(path, O_CLOEXEC) || pipe2(failed, O_CLOEXEC))
		return err_set_errno(err, ERR_FAILED, "Cannot create a pipe");
	session_token(l->token);
	fflush(NULL);
	pid_t child = fork();
	if (!child) {
		close(path[1]); /* so that the read ends if jhot does */
		run(l, argv, path[0], failed[1]);
	}
	close(path[0]);
	close(failed[1]);
	if (child < 0) {
		rc = err_set_errno(err, ERR_FAILED, "Cannot create a process");
	} else {
		l->jvm = launch_jvm(child);
		launched = child;
		const struct sigaction action = {
			.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART};
		for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++) {
			struct sigaction old;
			if (!sigaction(forwarded[i], NULL, &old) && old.sa_handler != SIG_IGN)
				sigaction(forwarded[i], &action, NULL);
		}
		rc = place_agent(l, agent, path[1], err);
	}
	close(path[1]);
	if (!rc && read(failed[0], &error, sizeof(error)) == sizeof(error)) {
		errno = error;
		rc = err_set_errno(err, ERR_USAGE, "Cannot run %s", argv[0]);
	}
	close(failed[0]);
	if (rc && child > 0) {
		launch_loaded(l);
		launch_wait(l);
		l->jvm.pid = 0;
	}
	return rc;
}

void launch_loaded(struct launch *l)
{
	place_done(&l->place);
}

int launch_wait(struct launch *l)
{
	int status = 0;

	while (launched && waitpid(l->jvm.pid, &status, 0) < 0 && errno == EINTR)
		;
	launched = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* --- options of the agent --------------------------------------------------------------------------------- */

/* Options that have another name in `jhot record`. NULL: they have no meaning there. */
static const struct {
	const char *agent, *record;
} names[] = {
	{"start", NULL},
	{"jhot", NULL},
	{"file", "output"},
	{"loop", "rotate"},
};

/* Events are options of the agent: "alloc=512k" is "--event=alloc=512k". */
static const char *const events[] = {"cpu", "alloc", "lock", "wall"};

static int add(
	struct loaded *l, const char *before, const char *text, size_t bytes, struct err *err)
{
	struct buf word = {0};

	if (l->count == LOADED_WORDS)
		return err_set(err, ERR_USAGE, "The agent has more than %d options.", LOADED_WORDS);
	buf_adds(&word, before);
	buf_add(&word, text, bytes);
	l->words[l->count++] = buf_steal(&word);
	return 0;
}

/* Adds an option, "NAME" or "NAME=VALUE". bytes: its length; it is not NUL-terminated. */
static int add_option(struct loaded *l, const char *text, size_t bytes, struct err *err)
{
	size_t name = 0;

	while (name < bytes && text[name] != '=')
		name++;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (strlen(events[i]) == name && !memcmp(text, events[i], name))
			return add(l, "--event=", text, bytes, err);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct buf before = {0};

		if (strlen(names[i].agent) != name || memcmp(text, names[i].agent, name) != 0)
			continue;
		if (!names[i].record)
			return 0;
		buf_printf(&before, "--%s", names[i].record);
		int rc = add(l, buf_str(&before), text + name, bytes - name, err);
		buf_done(&before);
		return rc;
	}
	return add(l, "--", text, bytes, err);
}

int loaded_parse(struct loaded *l, const char *text, const char *pid, struct err *err)
{
	size_t bytes = strcspn(text, ",");

	*l = (struct loaded){0};
	int rc = add(l, "--token=", text, bytes, err);
	while (!rc && text[bytes]) {
		text += bytes + 1;
		bytes = strcspn(text, ",");
		if (bytes)
			rc = add_option(l, text, bytes, err);
	}
	return rc ? -1 : add(l, "", pid, strlen(pid), err);
}

void loaded_done(struct loaded *l)
{
	for (int i = 0; i < l->count; i++)
		free(l->words[i]);
}
