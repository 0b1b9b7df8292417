/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of roles, loaded into a JVM:
 *
 *   java -agentpath:libneighbours.so=DIR:ROLE+ROLE...   starts the roles in that JVM, reports in DIR/ROLE
 *   neighbours list                                     prints the table: name, form, embedded, refused, JVM options
 *   neighbours embed LIBJVM DIR ROLE JVM-OPTION... CLASS  the same roles in a program that creates its JVM itself
 *   neighbours embed-late ...                           the same from a second thread, after the first one has exited
 */
#include "neighbours.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const struct role roles[] = {
	{"sigwait", role_sigwait, 0, "blocks all signals and collects them by sigtimedwait",
		.form = ROLE_CHECK},
	{"sigwait-late", role_sigwait_late, 0, "begins to collect signals while it is sampled",
		.form = ROLE_CHECK},
	{"signalfd", role_signalfd, 0, "collects signals by a signalfd, while busy",
		.form = ROLE_CHECK},
	{"prober", role_prober, 0,
		"sets a SIGSEGV handler, accesses a protected page, restores the handler",
		.form = ROLE_LONG},
	{"guarded", role_guarded, 0,
		"handles faults of a page to which a wrong frame pointer leads",
		.form = ROLE_ALONE},
	{"flipper", role_flipper, 0, "keeps restoring the SIGSEGV handler that it found at first",
		.form = ROLE_LONG},
	{"altstack-2048", role_altstack, 2048, "a busy thread with an alternate stack of this size",
		.form = ROLE_CHECK},
	{"altstack-2700", role_altstack, 2700, "", .form = ROLE_LONG},
	{"altstack-3072", role_altstack, 3072, "", .form = ROLE_LONG},
	{"altstack-3400", role_altstack, 3400, "", .form = ROLE_CHECK},
	{"altstack-8192", role_altstack, 8192, "", .form = ROLE_LONG},
	{"altstack-16384", role_altstack, 16384, "", .form = ROLE_LONG},
	{"coroutine-4096", role_coroutine, 4096, "busy on a stack of this size",
		.form = ROLE_CHECK},
	{"coroutine-16384", role_coroutine, 16384, "", .form = ROLE_LONG},
	{"goroutine-2048", role_goroutine, 2048,
		"the same, with a SIGURG handler and an alternate stack as in Go",
		.form = ROLE_ALONE},
	{"queued", role_queued, 20, "queues signals to itself", .form = ROLE_CHECK},
	{"limit-data", role_limit, RLIMIT_DATA, "1 MB left of this limit", .form = ROLE_LONG,
		.refused = true},
	{"limit-as", role_limit, RLIMIT_AS, "1 MB left of this limit", .form = ROLE_LONG,
		.refused = true},
	{"limit-memlock", role_limit, RLIMIT_MEMLOCK, "nothing left of this limit",
		.form = ROLE_LONG},
	{"limit-sigpending", role_limit, RLIMIT_SIGPENDING, "nothing left of this limit",
		.form = ROLE_ALONE, .refused = true},
	{"limit-nproc", role_limit, RLIMIT_NPROC, "nothing left of this limit", .form = ROLE_LONG,
		.refused = true},
	{"kill-perf", role_seccomp, SYS_perf_event_open, "this call ends the process",
		.form = ROLE_LONG, .refused = true},
	{"kill-memfd", role_seccomp, SYS_memfd_create, "", .form = ROLE_LONG, .refused = true},
	{"kill-timer", role_seccomp, SYS_timer_create, "", .form = ROLE_LONG, .refused = true},
	{"kill-queue", role_seccomp, SYS_rt_tgsigqueueinfo, "", .form = ROLE_LONG, .refused = true},
	{"kill-readv", role_seccomp, SYS_process_vm_readv, "", .form = ROLE_LONG, .refused = true},
	{"kill-attr", role_seccomp, SYS_sched_setattr, "", .form = ROLE_LONG, .refused = true},
	{"eperm-perf", role_seccomp, -SYS_perf_event_open, "this call fails with EPERM",
		.form = ROLE_LONG},
	{"eperm-timer", role_seccomp, -SYS_timer_create, "", .form = ROLE_LONG, .refused = true},
	{"eperm-queue", role_seccomp, -SYS_rt_tgsigqueueinfo, "", .form = ROLE_LONG,
		.refused = true},
	{"mlockall", role_mlockall, 0, "locks all memory, also of the future", .form = ROLE_CHECK},
	{"closer", role_closer, 0, "closes all descriptors that it did not open, and opens its own",
		.form = ROLE_ALONE},
	{"hoarder", role_hoarder, 0, "needs all of its descriptors", .form = ROLE_ALONE},
	{"timers", role_timers, 0,
		"needs most of RLIMIT_SIGPENDING, in a sandbox without perf_events",
		.form = ROLE_LONG},
	{"sigquit", role_sigquit, 0, "has a SIGQUIT handler, the JVM has none", .form = ROLE_LONG,
		.embedded = true, .options = "-Xrs"},
	{"sigquit-unlinked", role_sigquit, 1, "the same, and removes the JVM's attach socket",
		.form = ROLE_LONG, .embedded = true, .refused = true, .options = "-Xrs"},
	{"quit-collector", role_quit_collector, 0, "a thread collects SIGQUIT by sigtimedwait",
		.form = ROLE_CHECK},
	{"seccomp-thread", role_seccomp_thread, 0,
		"has a filter in one thread that kills for nearly all calls", .form = ROLE_CHECK},
	{"seccomp-strict", role_seccomp_strict, 0, "a thread in seccomp's strict mode",
		.form = ROLE_LONG},
	{"setxid", role_setxid, 0, "changes the ids of all threads", .form = ROLE_ALONE},
	{"cancel", role_cancel, 0, "cancels threads", .form = ROLE_CHECK},
	{"forker", role_forker, 0, "forks children that run on without exec", .form = ROLE_CHECK},
	{"traced", role_traced, 0, "a debugger traces all threads", .form = ROLE_LONG},
	{"no-counter", role_no_counter, 0, "a busy thread may not read the CPU's counter",
		.form = ROLE_CHECK},
	{"aligned", role_aligned, 0, "a busy thread in which misaligned accesses fault",
		.form = ROLE_CHECK},
	{"no-pointer", role_no_pointer, 0, "a Java thread without thread pointer while in C",
		.form = ROLE_CHECK},
	{"stack-hole", role_stack_hole, 0, "a Java thread with a protected page in its stack",
		.form = ROLE_CHECK},
	{"fake-timer", role_seccomp_fakes, SYS_timer_create, "this call does nothing and returns 0",
		.form = ROLE_LONG},
};
#define ROLES (sizeof(roles) / sizeof(roles[0]))

static char folder[512];
static JavaVM *loaded_vm;

/* --- what roles use --------------------------------------------------------------------------- */

void role_harm(struct report *report, const char *what, long number)
{
	char *at = report->first;
	size_t bytes = strlen(what);

	if (report->harms++)
		return;
	memcpy(at, what, bytes);
	at += bytes;
	*at++ = ' ';
	for (long unit = 1000000000000; unit; unit /= 10) {
		if (number >= unit || unit == 1)
			*at++ = (char)('0' + number / unit % 10);
	}
}

void role_sleep_ms(unsigned ms)
{
	struct timespec pause = {ms / 1000, (long)(ms % 1000) * 1000000};

	while (nanosleep(&pause, &pause))
		continue;
}

void role_burn_ms(unsigned ms)
{
	struct timespec now;
	long begin, end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	begin = now.tv_sec * 1000000000 + now.tv_nsec;
	do {
		for (volatile int i = 0; i < 20000; i++)
			continue;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		end = now.tv_sec * 1000000000 + now.tv_nsec;
	} while (end - begin < (long)ms * 1000000);
}

void role_wait_ready(void)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/go", folder);
	while (access(path, F_OK))
		role_sleep_ms(20);
}

JavaVM *role_vm(void)
{
	return loaded_vm;
}

bool role_in_session(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	bool found = false;
	char line[512];

	while (maps && !found && fgets(line, sizeof(line), maps))
		found = strstr(line, "memfd:jhot-") != NULL;
	if (maps)
		fclose(maps);
	return found;
}

/* --- starting roles --------------------------------------------------------------------------- */

struct start {
	const struct role *role;
	struct report *report;
};

static void *start_main(void *arg)
{
	struct start start = *(struct start *)arg;

	free(arg);
	/* The loops of fifteen roles must not starve the sessions that they are for. */
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 19);
	start.role->run(start.role, start.report);
	return NULL;
}

static bool start_role(const struct role *role)
{
	struct start *start = calloc(1, sizeof(*start));
	char path[600];
	pthread_t thread;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, role->name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (!start || fd < 0 || ftruncate(fd, sizeof(struct report)))
		return false;
	start->role = role;
	start->report =
		mmap(NULL, sizeof(struct report), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return start->report != MAP_FAILED && pthread_create(&thread, NULL, start_main, start) == 0;
}

/* names: "sigwait+prober". Returns false, with a message, if a role is unknown or cannot be started. */
static bool start_roles(char *names)
{
	char *rest = names;

	for (char *name; (name = strtok_r(rest, "+", &rest));) {
		const struct role *found = NULL;

		for (size_t i = 0; i < ROLES; i++) {
			if (!strcmp(roles[i].name, name))
				found = &roles[i];
		}
		if (!found || !start_role(found)) {
			fprintf(stderr, "neighbours: cannot start the role %s\n", name);
			return false;
		}
	}
	return true;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved);
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	char *names = strchr(options, ':');

	loaded_vm = vm;
	(void)reserved;
	snprintf(folder, sizeof(folder), "%.*s", (int)(names - options), options);
	return start_roles(names + 1) ? JNI_OK : JNI_ERR;
}

/* --- a program that embeds a JVM -------------------------------------------------------------- */

static int embed(int count, char **words)
{
	JavaVMOption options[32];
	JavaVMInitArgs args = {.version = JNI_VERSION_1_8, .options = options};
	void *library = dlopen(words[0], RTLD_NOW | RTLD_GLOBAL);
	jint (*create)(JavaVM **, void **, void *);
	jclass class;
	jmethodID method;
	JavaVM *vm;
	JNIEnv *env;

	*(void **)&create = library ? dlsym(library, "JNI_CreateJavaVM") : NULL;
	for (int i = 3; i < count - 1; i++)
		options[args.nOptions++].optionString = words[i];
	snprintf(folder, sizeof(folder), "%s", words[1]);
	if (!create || !start_roles(words[2]) || create(&vm, (void **)&env, &args)) {
		fprintf(stderr, "neighbours: no JVM: %s\n", library ? words[0] : dlerror());
		return 1;
	}
	class = (*env)->FindClass(env, words[count - 1]);
	method = class ? (*env)->GetStaticMethodID(env, class, "main", "([Ljava/lang/String;)V")
		       : NULL;
	if (method)
		(*env)->CallStaticVoidMethod(env, class, method, NULL);
	if (!method || (*env)->ExceptionCheck(env))
		(*env)->ExceptionDescribe(env);
	(*vm)->DestroyJavaVM(vm);
	return !method;
}

struct words {
	int count;
	char **words;
};

static void *embed_late(void *arg)
{
	const struct words *words = arg;

	role_sleep_ms(100);
	exit(embed(words->count, words->words));
}

int main(int argc, char **argv)
{
	static struct words late;
	pthread_t thread;

	if (argc > 5 && !strcmp(argv[1], "embed"))
		return embed(argc - 2, argv + 2);
	if (argc > 5 && !strcmp(argv[1], "embed-late")) {
		late = (struct words){argc - 2, argv + 2};
		if (!pthread_create(&thread, NULL, embed_late, &late))
			pthread_exit(NULL);
	}
	if (argc != 2 || strcmp(argv[1], "list")) {
		fprintf(stderr, "usage: neighbours list | embed[-late] LIBJVM DIR ROLE [OPTION...] "
				"CLASS\n");
		return 2;
	}
	for (size_t i = 0; i < ROLES; i++)
		printf("%s %d %d %d %s\n", roles[i].name, (int)roles[i].form, roles[i].embedded,
			roles[i].refused, roles[i].options ? roles[i].options : "");
	return 0;
}
