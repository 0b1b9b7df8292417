/* SPDX-License-Identifier: Apache-2.0 */
/* Starts `jhot record` from within the JVM. */
#include "sampler/load.h"

#include "base/clock.h"
#include "sampler/procfile.h"
#include "sampler/signal/raw.h"
#include "sampler/text.h"

#include <dlfcn.h>
#include <string.h>

#include "sampler/compat.h"

#define TOKEN_LETTERS 16u
#define OPTIONS_MAX   2048u
#define PATH_OPTION   "jhot="
#define WAITS         100

/* `jhot agent -o FILE` stores the path of jhot here, in the file that it writes. */
static const volatile char program[WIRE_PROGRAM] = WIRE_PROGRAM_MARK;

typedef int spawn_fn(int *pid, const char *path, const void *actions, const void *attributes,
	char *const *argv, char *const *env);
typedef int wait_fn(int pid, int *status, int options);

static void make_token(char token[WIRE_TOKEN_MAX])
{
	static const char letters[] = "0123456789abcdefghijklmnopqrstuv";
	uint64_t bits = clock_mono_ns() * 0x9e3779b97f4a7c15u ^ (uint64_t)raw_gettid() << 40;

	for (uint32_t i = 0; i < TOKEN_LETTERS; i++) {
		token[i] = letters[bits & 31];
		bits = (bits >> 5 | bits << 59) * 0xbf58476d1ce4e5b9u;
	}
	token[TOKEN_LETTERS] = '\0';
}

/* The path of jhot: from the option jhot=PATH, else the one in this file. "": none. */
static void find_program(const char *options, char out[WIRE_PROGRAM])
{
	size_t n = 0;

	for (const char *at = options; *at; at += strcspn(at, ","), at += *at == ',') {
		size_t bytes = strcspn(at, ","), name = strlen(PATH_OPTION);

		if (bytes <= name || bytes - name >= WIRE_PROGRAM || memcmp(at, PATH_OPTION, name))
			continue;
		memcpy(out, at + name, bytes - name);
		out[bytes - name] = '\0';
		return;
	}
	for (const volatile char *at = program + strlen(WIRE_PROGRAM_MARK); *at; at++)
		out[n++] = *at;
	out[n] = '\0';
}

bool load_recorder(const char *options, char token[WIRE_TOKEN_MAX])
{
	spawn_fn *spawn = (spawn_fn *)(uintptr_t)dlsym(RTLD_DEFAULT, "posix_spawn");
	wait_fn *wait = (wait_fn *)(uintptr_t)dlsym(RTLD_DEFAULT, "waitpid");
	char *const **env = (char *const **)dlsym(RTLD_DEFAULT, "environ");
	char path[WIRE_PROGRAM], loaded[OPTIONS_MAX], pid_text[24], status[PROCFILE_STATUS];
	char *const argv[] = {path, (char *)"record", (char *)"--loaded", loaded, pid_text, NULL};
	struct text text = text_into(loaded, sizeof(loaded));
	int pid = 0, ended = 0;

	if (!spawn || !wait || !env || !procfile_status(status) || procfile_filters(status) ||
		strlen(options) >= sizeof(loaded) - WIRE_TOKEN_MAX)
		return false;
	find_program(options, path);
	make_token(token);
	text_add(&text, token);
	text_add(&text, ",");
	text_add(&text, options);
	text = text_into(pid_text, sizeof(pid_text));
	text_add_number(&text, procfile_number(status, "Tgid:", 0));
	if (!*path || spawn(&pid, path, NULL, NULL, argv, *env))
		return false;
	/* Fails if a signal interrupts it; or always, if the JVM ignores SIGCHLD and the kernel reaps the child. */
	for (int i = 0; i < WAITS && wait(pid, &ended, 0) < 0; i++)
		;
	return !ended;
}
