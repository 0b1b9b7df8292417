/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JVMTI agent that says what is true of a program: it samples the main thread's pc, and writes the code of all compiled methods
 * with their debug information. -agentpath:libtruth.so=FOLDER writes two files while the JVM runs:
 *
 *   FOLDER/code  "C address size samples": a method was compiled after this number of samples; "P address method": the innermost method of
 *                the code that ends there
 *   FOLDER/pcs   8 bytes each: how many samples there are, then their pcs
 *
 * The JVM keeps debug information between safepoints while this event is enabled, so all code has it.
 */
#include <fcntl.h>
#include <jvmti.h>
#include <jvmticmlr.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define SAMPLES_MAX (1u << 22)
#define PERIOD_NS   500000
#define SIGNAL      (SIGRTMIN + 9)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *code;
static uint64_t *pcs; /* [0]: how many follow */
static int event = -1;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	uint64_t at = pcs[0] + 1;

	(void)sig, (void)info;
	if (at < SAMPLES_MAX) {
#if defined(__x86_64__)
		pcs[at] = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#else
		pcs[at] = (uint64_t)((ucontext_t *)context)->uc_mcontext.pc;
#endif
		pcs[0] = at;
	}
	ioctl(event, PERF_EVENT_IOC_REFRESH, 1);
}

static void write_place(jvmtiEnv *jvmti, const void *pc, jmethodID method)
{
	char *name = NULL, *signature = NULL;
	jclass class = NULL;

	if (!(*jvmti)->GetMethodDeclaringClass(jvmti, method, &class) &&
		!(*jvmti)->GetClassSignature(jvmti, class, &signature, NULL) &&
		!(*jvmti)->GetMethodName(jvmti, method, &name, NULL, NULL))
		fprintf(code, "P %lx %.*s.%s\n", (unsigned long)pc, (int)strlen(signature) - 2,
			signature + 1, name);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
}

static void JNICALL on_compiled(jvmtiEnv *jvmti, jmethodID method, jint size, const void *addr,
	jint count, const jvmtiAddrLocationMap *map, const void *info)
{
	const jvmtiCompiledMethodLoadRecordHeader *head = info;

	(void)method, (void)count, (void)map;
	pthread_mutex_lock(&lock);
	fprintf(code, "C %lx %d %lu\n", (unsigned long)addr, size, (unsigned long)pcs[0]);
	for (; head; head = head->next) {
		const jvmtiCompiledMethodLoadInlineRecord *record = (const void *)head;

		for (jint i = 0; head->kind == JVMTI_CMLR_INLINE_INFO && i < record->numpcs; i++)
			write_place(jvmti, record->pcinfo[i].pc, record->pcinfo[i].methods[0]);
	}
	fflush(code);
	pthread_mutex_unlock(&lock);
}

/* On the main thread. */
static void JNICALL on_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
		.disabled = 1,
		.wakeup_events = 1,
		.exclude_kernel = 1};
	struct f_owner_ex owner = {F_OWNER_TID, (pid_t)syscall(SYS_gettid)};
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};

	(void)jvmti, (void)jni, (void)thread;
	sigaction(SIGNAL, &action, NULL);
	event = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	fcntl(event, F_SETFL, O_ASYNC);
	fcntl(event, F_SETSIG, SIGNAL);
	fcntl(event, F_SETOWN_EX, &owner);
	ioctl(event, PERF_EVENT_IOC_REFRESH, 1);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	jvmtiCapabilities wants = {.can_generate_compiled_method_load_events = 1};
	jvmtiEventCallbacks calls = {.VMInit = on_init, .CompiledMethodLoad = on_compiled};
	char path[4096];
	jvmtiEnv *jvmti;
	int fd;

	(void)reserved;
	snprintf(path, sizeof(path), "%s/code", options);
	code = fopen(path, "w");
	snprintf(path, sizeof(path), "%s/pcs", options);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (!code || fd < 0 || ftruncate(fd, SAMPLES_MAX * 8l))
		return JNI_ERR;
	pcs = mmap(NULL, SAMPLES_MAX * 8ul, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pcs == MAP_FAILED || (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_0))
		return JNI_ERR;
	(*jvmti)->AddCapabilities(jvmti, &wants);
	(*jvmti)->SetEventCallbacks(jvmti, &calls, sizeof(calls));
	(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL);
	(*jvmti)->SetEventNotificationMode(
		jvmti, JVMTI_ENABLE, JVMTI_EVENT_COMPILED_METHOD_LOAD, NULL);
	return JNI_OK;
}
