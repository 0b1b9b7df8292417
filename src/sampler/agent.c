/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Agent_OnAttach, and Agent_OnLoad once the JVM is initialized: parses options, allocates a session and starts its thread. Runs on a
 * Java thread; its longest wait is that of publisher_start, 5 s at most.
 */
#include "sampler/calls.h"
#include "sampler/jvm/jvm.h"
#include "sampler/load.h"
#include "sampler/session/memory.h"
#include "sampler/session/publisher.h"
#include "sampler/signal/raw.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/auxv.h>

#include "sampler/compat.h"

struct options {
	char token[WIRE_TOKEN_MAX];
	bool replace; /* end a live session first: option "take" */
	bool agct;
};

static bool option_token(struct options *o, const char *value, size_t bytes)
{
	if (bytes == 0 || bytes >= sizeof(o->token))
		return false;
	for (size_t i = 0; i < bytes; i++) {
		char c = value[i];

		if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z'))
			return false;
		o->token[i] = c;
	}
	return true;
}

static bool option_is(const char *text, size_t bytes, const char *option)
{
	return bytes == strlen(option) && !memcmp(text, option, bytes);
}

/* Parses "token=TOKEN[,take=0|1][,walker=agct]". */
static bool options_parse(struct options *o, const char *text)
{
	static const char token[] = "token=";

	memset(o, 0, sizeof(*o));
	while (text && *text) {
		size_t bytes = strcspn(text, ","), name = strlen(token);

		if (bytes > name && !memcmp(text, token, name)) {
			if (!option_token(o, text + name, bytes - name))
				return false;
		} else if (option_is(text, bytes, "take=1") || option_is(text, bytes, "take=0")) {
			o->replace = text[bytes - 1] == '1';
		} else if (option_is(text, bytes, "walker=agct")) {
			o->agct = true;
		} else {
			return false;
		}
		text += bytes;
		text += *text == ',';
	}
	return o->token[0] != '\0';
}

/*
 * Keeps a descriptor of the agent's file open if a later load under another path would map a second copy; front ends
 * then request a load of that descriptor (attach/place.c). glibc identifies a library by its path, which is always the
 * same unless it is that of a descriptor (/proc/PID/fd/N); musl identifies it by its file, which is removed after the
 * load.
 */
static void agent_keep(void)
{
	static bool asked;
	Dl_info info;

	if (!asked && dladdr((void *)(uintptr_t)Agent_OnAttach, &info) &&
		(!dlopen("libjhot.so", RTLD_LAZY | RTLD_NOLOAD) ||
			!memcmp(info.dli_fname, "/proc/", 6)))
		raw_fd_high(raw(SYS_openat, AT_FDCWD, info.dli_fname, O_PATH | O_CLOEXEC));
	asked = true;
}

/* HWCAP2_FSGSBASE of asm/hwcap2.h */
#define READS_FS 2u

static void agent_detect_cpu(void)
{
#if defined(__x86_64__)
	unsigned long (*get)(unsigned long) =
		(unsigned long (*)(unsigned long))(uintptr_t)dlsym(RTLD_DEFAULT, "getauxval");

	raw_reads_fs = get && get(AT_HWCAP2) & READS_FS;
#endif
}

static int session_start(JavaVM *vm, const struct options *options)
{
	struct sampler *s = NULL;
	char description[128];
	int result = calls_try();

	if (result != AGENT_OK)
		return result;
	agent_keep();
	agent_detect_cpu();
	result = jvm_prepare(vm);
	if (result != AGENT_OK)
		return result;
	jvm_describe(description, sizeof(description));
	result = sampler_new(options->token, description, &s);
	if (result != AGENT_OK)
		return result;
	s->force_agct = options->agct;
	publisher_at_exit();
	return publisher_start(s, options->replace);
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *text, void *reserved)
{
	struct options options;

	return options_parse(&options, text) ? session_start(vm, &options) : AGENT_BAD_OPTIONS;
}

/* Of -agentpath. */
static struct options load_options;

/* The front end waits for the session's shared memory, and reports if it does not appear. */
static void start_loaded(JavaVM *vm)
{
	session_start(vm, &load_options);
}

/*
 * Options are those above if `jhot record -- java` starts the JVM, else those of a recorder (load.h). Never fails: a JVM that
 * cannot be sampled runs without.
 */
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *text, void *reserved)
{
	if (options_parse(&load_options, text) ||
		load_recorder(text ? text : "", load_options.token))
		jvm_when_created(vm, start_loaded);
	return AGENT_OK;
}
