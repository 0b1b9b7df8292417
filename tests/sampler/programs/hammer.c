/* SPDX-License-Identifier: Apache-2.0 */
/* The native half of Hammer.java. Compiled twice: with -DPLUGIN it is the library that is loaded and unloaded repeatedly. */
#include <jni.h>

#include <stdlib.h>
#include <string.h>

#ifdef PLUGIN

/* Large enough for dynamic TLS, which the loader allocates when a thread first uses it. */
static __thread char plugin_state[8192];

int plugin_use(int n);
int plugin_use(int n)
{
	plugin_state[n & 8191] = (char)n;
	return plugin_state[n & 8191] == (char)n ? n + 1 : 0;
}

#else

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define JAVA(name) JNIEXPORT jboolean JNICALL Java_Hammer_##name

extern char **environ;

JAVA(mallocRound)(JNIEnv *env, jclass self, jint n)
{
	unsigned char *blocks[64];
	jboolean right = JNI_TRUE;

	(void)env, (void)self;
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 64; i++) {
			size_t bytes = 16u << ((n + i) % 14);

			blocks[i] = malloc(bytes);
			memset(blocks[i], i, bytes);
			if (i % 3 == 0)
				blocks[i] = realloc(blocks[i], bytes * 2);
		}
		for (int i = 0; i < 64; i++) {
			right &= blocks[i][3] == i;
			free(blocks[i]);
		}
	}
	return right;
}

static int count_objects(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)info, (void)size;
	++*(int *)data;
	return 0;
}

JAVA(dlopenRound)(JNIEnv *env, jclass self, jstring library)
{
	const char *path = (*env)->GetStringUTFChars(env, library, NULL);
	jboolean right = JNI_TRUE;
	int objects = 0;

	(void)self;
	for (int i = 0; i < 20; i++) {
		void *handle = dlopen(path, i & 1 ? RTLD_LAZY : RTLD_NOW);
		int (*use)(int) = handle ? (int (*)(int))dlsym(handle, "plugin_use") : NULL;

		right &= use && use(i) == i + 1;
		dl_iterate_phdr(count_objects, &objects);
		if (handle)
			dlclose(handle);
	}
	(*env)->ReleaseStringUTFChars(env, library, path);
	return right && objects > 20;
}

struct native_thread {
	JavaVM *vm;
	jclass hammer;
	jmethodID called;
	int n;
	int result;
};

/* As threads of Rust and Go do: handlers with SA_ONSTACK run on an alternate stack of 8 kB or more. */
static void spin_on_alternate_stack(size_t bytes)
{
	stack_t stack = {.ss_sp = malloc(bytes), .ss_size = bytes}, none = {.ss_flags = SS_DISABLE};

	sigaltstack(&stack, NULL);
	for (volatile int i = 0; i < 300000; i++)
		;
	sigaltstack(&none, NULL);
	free(stack.ss_sp);
}

static void *native_main(void *arg)
{
	struct native_thread *v = arg;
	JNIEnv *env;

	v->result = 1;
	if (v->n & 1) { /* briefly a Java thread, then native again */
		if ((*v->vm)->AttachCurrentThread(v->vm, (void **)&env, NULL) != JNI_OK)
			return NULL;
		v->result = (*env)->CallStaticIntMethod(env, v->hammer, v->called, v->n);
		(*v->vm)->DetachCurrentThread(v->vm);
	}
	if (v->n % 3 == 0)
		spin_on_alternate_stack(v->n % 2 ? 8192 : 65536);
	for (volatile int i = 0; i < 20000; i++)
		;
	return NULL;
}

JAVA(pthreadRound)(JNIEnv *env, jclass self, jint n)
{
	struct native_thread args[4];
	pthread_t threads[4];
	jboolean right = JNI_TRUE;
	JavaVM *vm;

	(*env)->GetJavaVM(env, &vm);
	for (int i = 0; i < 4; i++) {
		args[i] = (struct native_thread){.vm = vm, .hammer = self, .n = n + i};
		args[i].called = (*env)->GetStaticMethodID(env, self, "called", "(I)I");
		if (pthread_create(&threads[i], NULL, native_main, &args[i]))
			return JNI_FALSE;
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		right &= args[i].result == ((n + i) & 1 ? (n + i) * 7 + 1 : 1);
	}
	return right;
}

/* blockedRound: a thread that blocks the signals of profilers; false if they were unblocked. */
JAVA(blockedRound)(JNIEnv *env, jclass self, jint n)
{
	sigset_t ours, now;

	(void)env, (void)self;
	sigemptyset(&ours);
	sigaddset(&ours, SIGURG);
	sigaddset(&ours, SIGWINCH);
	sigaddset(&ours, SIGPROF);
	sigaddset(&ours, SIGVTALRM);
	sigaddset(&ours, SIGSTKFLT);
	if (n == 0)
		pthread_sigmask(SIG_BLOCK, &ours, NULL);
	for (volatile int i = 0; i < 300000; i++)
		;
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	return n == 0 || (sigismember(&now, SIGURG) && sigismember(&now, SIGSTKFLT));
}

/*
 * sectionsRound: a thread that, after two seconds, is nearly always in critical sections like libc's, which block all
 * signals including libc's own. It does not wait for signals.
 */
JAVA(sectionsRound)(JNIEnv *env, jclass self, jint n)
{
	static __thread struct timespec start;
	uint64_t all = ~0ull, before = 0;
	struct timespec now;

	(void)env, (void)self;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (n == 0)
		start = now;
	if (now.tv_sec - start.tv_sec > 2)
		syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof(all));
	for (volatile int i = 0; i < 300000; i++)
		;
	if (now.tv_sec - start.tv_sec > 2)
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
	return JNI_TRUE;
}

/* forkRound: a child that only computes, or one that execs, or posix_spawn. */
JAVA(forkRound)(JNIEnv *env, jclass self, jint n)
{
	char *const argv[] = {(char *)"true", NULL};
	int status = -1;
	pid_t pid;

	(void)env, (void)self;
	if (n % 3 == 0) {
		if (posix_spawnp(&pid, "true", NULL, NULL, argv, environ))
			return JNI_FALSE;
	} else {
		pid = fork();
		if (pid == 0) {
			for (volatile int i = 0; n % 3 == 1 && i < 3000000; i++)
				;
			if (n % 3 == 1)
				_exit(0);
			execvp("true", argv);
			_exit(1);
		}
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

#endif
