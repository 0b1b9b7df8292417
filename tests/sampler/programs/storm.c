/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native half of Hammer.java's signal modes: libraries that replace signal handlers, and threads that leave code
 * by longjmp or cancellation. Part of libhammer.
 */
#include <jni.h>

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define JAVA(name) JNIEXPORT jboolean JNICALL Java_Hammer_##name

/* The handlers when the library was loaded. */
static struct sigaction initial[_NSIG];

/* One library at a time uses a signal: two that save and restore alternately lose a handler even without a profiler. */
static pthread_mutex_t users = PTHREAD_MUTEX_INITIALIZER;

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved);
JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
	(void)vm, (void)reserved;
	for (int sig = 1; sig < 32; sig++)
		sigaction(sig, NULL, &initial[sig]);
	return JNI_VERSION_1_6;
}

/* Mostly short, sometimes long enough for other libraries to use the handlers that are installed meanwhile. */
static void pause_of(int n)
{
	struct timespec pause = {0, n % 64 == 63 ? 300000000 : (n * 7919) % 97 * 20000};

	nanosleep(&pause, NULL);
}

static jboolean restore(const int *signals, size_t count, int n)
{
	jboolean good = JNI_TRUE;

	pthread_mutex_lock(&users);
	for (size_t i = 0; i < count; i++)
		good &= sigaction(signals[i], &initial[signals[i]], NULL) == 0;
	pthread_mutex_unlock(&users);
	pause_of(n);
	return good;
}

JAVA(faultHandlersRound)(JNIEnv *env, jclass self, jint n)
{
	static const int signals[] = {SIGSEGV, SIGBUS};

	(void)env, (void)self;
	return restore(signals, 2, n);
}

JAVA(trapHandlersRound)(JNIEnv *env, jclass self, jint n)
{
	static const int signals[] = {SIGTRAP, SIGILL, SIGFPE};

	(void)env, (void)self;
	return restore(signals, 3, n);
}

/* Any signal that a profiler may have taken because it was unused. */
JAVA(ourHandlersRound)(JNIEnv *env, jclass self, jint n)
{
	static const int signals[] = {SIGPROF, SIGVTALRM, SIGSTKFLT, SIGURG, SIGWINCH, SIGIO};

	(void)env, (void)self;
	return restore(signals, 6, n);
}

/* --- a library that starts to use a signal ------------------------------------------------------------ */

#define TAKE_AFTER 300

static void on_taken(int sig)
{
	(void)sig;
}

/*
 * Installs a handler for good once a profiler has used the signal for TAKE_AFTER rounds; false if it was replaced
 * again.
 */
static jboolean take(int sig)
{
	static int seen[_NSIG];
	struct sigaction mine = {.sa_handler = on_taken, .sa_flags = SA_RESTART}, now;
	jboolean good = JNI_TRUE;

	pthread_mutex_lock(&users);
	sigaction(sig, NULL, &now);
	if (seen[sig] > TAKE_AFTER)
		good = now.sa_handler == on_taken;
	else if (now.sa_handler != initial[sig].sa_handler && ++seen[sig] > TAKE_AFTER)
		sigaction(sig, &mine, NULL);
	pthread_mutex_unlock(&users);
	nanosleep(&(struct timespec){0, 2000000}, NULL);
	return good;
}

JAVA(takeUrgRound)(JNIEnv *env, jclass self, jint n)
{
	(void)env, (void)self, (void)n;
	return take(SIGURG);
}

JAVA(takeWinchRound)(JNIEnv *env, jclass self, jint n)
{
	(void)env, (void)self, (void)n;
	return take(SIGWINCH);
}

/* A thread that blocks SIGWINCH, as one that waits for it with sigwait does. */
JAVA(collectWinchRound)(JNIEnv *env, jclass self, jint n)
{
	sigset_t set;

	(void)env, (void)self, (void)n;
	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	nanosleep(&(struct timespec){0, 2000000}, NULL);
	return JNI_TRUE;
}

/* --- a library that probes whether memory can be read ------------------------------------------------- */

static struct sigaction before_probe[_NSIG];
static _Atomic pid_t prober;
static sigjmp_buf probe_failed;

static void on_probe(int sig, siginfo_t *info, void *context)
{
	struct sigaction *before = &before_probe[sig];

	if (gettid() == atomic_load(&prober))
		siglongjmp(probe_failed, 1);
	before->sa_sigaction(sig, info, context);
}

static volatile int *volatile nowhere = (volatile int *)16;

JAVA(probeRound)(JNIEnv *env, jclass self, jint n)
{
	struct sigaction mine = {.sa_sigaction = on_probe, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	volatile jboolean good = JNI_FALSE;

	(void)env, (void)self;
	pthread_mutex_lock(&users);
	sigaction(SIGSEGV, NULL, &before_probe[SIGSEGV]); /* stored before on_probe can be called */
	sigaction(SIGSEGV, &mine, NULL);
	pause_of(n);
	atomic_store(&prober, gettid());
	if (sigsetjmp(probe_failed, 1))
		good = JNI_TRUE;
	else
		*nowhere = 1;
	atomic_store(&prober, 0);
	sigaction(SIGSEGV, &before_probe[SIGSEGV], NULL);
	pthread_mutex_unlock(&users);
	return good;
}

/* --- how deep a handler goes -------------------------------------------------------------------------- */

#define PAINTED_BYTES 65536
#define PAINT         0x5a

/* The number of bytes of the alternate stack used so far. */
JNIEXPORT jint JNICALL Java_Hammer_painted(JNIEnv *env, jclass self, jlong at)
{
	unsigned char *stack = (unsigned char *)(uintptr_t)at;
	int free = 0;

	(void)env, (void)self;
	while (free < PAINTED_BYTES && stack[free] == PAINT)
		free++;
	return PAINTED_BYTES - free;
}

JNIEXPORT jlong JNICALL Java_Hammer_paint(JNIEnv *env, jclass self)
{
	stack_t stack = {.ss_sp = malloc(PAINTED_BYTES), .ss_size = PAINTED_BYTES};

	(void)env, (void)self;
	memset(stack.ss_sp, PAINT, PAINTED_BYTES);
	sigaltstack(&stack, NULL);
	return (jlong)(uintptr_t)stack.ss_sp;
}

/* --- threads that leave code by cancellation or longjmp ----------------------------------------------- */

static void burn(void)
{
	for (volatile int i = 0; i < 3000; i++)
		;
}

static void *cancelled_main(void *arg)
{
	(void)arg;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		burn();
	return NULL;
}

/* The threads live long enough for a few samples and are cancelled at arbitrary points. */
JAVA(cancelRound)(JNIEnv *env, jclass self, jint n)
{
	pthread_t threads[4];
	jboolean good = JNI_TRUE;
	void *result;

	(void)env, (void)self;
	for (int i = 0; i < 4; i++)
		good &= pthread_create(&threads[i], NULL, cancelled_main, NULL) == 0;
	nanosleep(&(struct timespec){0, 3000000 + n % 61 * 100000}, NULL);
	for (int i = 0; i < 4; i++) {
		good &= pthread_cancel(threads[i]) == 0;
		pthread_join(threads[i], &result);
		good &= result == PTHREAD_CANCELED;
	}
	return good;
}

/* The state of a jumping thread; its handler gets it as the signal's value. */
struct jumper {
	sigjmp_buf out;
	_Atomic int leave, jumps;
	_Atomic int armed;
};

static void on_jump(int sig, siginfo_t *info, void *context)
{
	struct jumper *j = info->si_value.sival_ptr;

	(void)sig, (void)context;
	if (info->si_code == SI_QUEUE && atomic_exchange(&j->armed, 0))
		siglongjmp(j->out, 1);
}

static void *jumper_main(void *arg)
{
	struct jumper *j = arg;

	if (sigsetjmp(j->out, 1))
		atomic_fetch_add(&j->jumps, 1);
	atomic_store(&j->armed, 1);
	while (!atomic_load(&j->leave))
		burn();
	atomic_store(&j->armed, 0);
	return NULL;
}

/* A time limit implemented by a signal handler that jumps out of long computations. */
JAVA(jumpRound)(JNIEnv *env, jclass self, jint n)
{
	struct sigaction action = {.sa_sigaction = on_jump, .sa_flags = SA_SIGINFO};
	struct jumper jumper = {.leave = 0};
	union sigval value = {.sival_ptr = &jumper};
	pthread_t thread;

	(void)env, (void)self;
	sigaction(SIGRTMIN + 7, &action, NULL);
	if (pthread_create(&thread, NULL, jumper_main, &jumper))
		return JNI_FALSE;
	for (int i = 0; i < 100; i++) {
		nanosleep(&(struct timespec){0, 50000 + (i * 31 + n) % 61 * 10000}, NULL);
		if (atomic_load(&jumper.armed))
			pthread_sigqueue(thread, SIGRTMIN + 7, value);
	}
	while (!atomic_load(&jumper.jumps)) { /* the thread has not run yet */
		nanosleep(&(struct timespec){0, 10000000}, NULL);
		if (atomic_load(&jumper.armed))
			pthread_sigqueue(thread, SIGRTMIN + 7, value);
	}
	atomic_store(&jumper.leave, 1);
	pthread_join(thread, NULL);
	return JNI_TRUE;
}
