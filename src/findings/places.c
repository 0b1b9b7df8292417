/* SPDX-License-Identifier: Apache-2.0 */
/* The table of known methods, and the classification of stacks: each node inherits from its caller. */
#include "findings/places.h"

#include "base/buf.h"
#include "base/java_name.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define METHOD_WAITS (METHOD_KIND(9) - 1) /* all bits of enum place_wait */
#define METHOD_RUNS  METHOD_KIND(40)      /* an executor's run loop: its callees are tasks */
#define METHOD_IDLES METHOD_KIND(41)      /* PROFILE_IDLES_EXECUTOR */
#define METHOD_OWN   METHOD_KIND(42)      /* own method of the program */
#define METHOD_SEEN  METHOD_KIND(43)      /* cached */

#define JUC          "java.util.concurrent."

/*
 * Patterns of class ("": a native function) and name, each with at most one "*". A method has the
 * kinds of all rows that match.
 */
static const struct {
	const char *class_name, *name;
	uint64_t kinds;
} methods[] = {
	{JUC "ThreadPoolExecutor", "runWorker", METHOD_RUNS},
	{JUC "ForkJoinTask", "doExec", METHOD_RUNS},
	{JUC "ThreadPerTaskExecutor", "*", METHOD_RUNS},
	{"org.apache.tomcat.util.threads.ThreadPoolExecutor", "runWorker", METHOD_RUNS},
	{"org.eclipse.jetty.util.thread.QueuedThreadPool*", "runJob", METHOD_RUNS},
	{"io.netty.util.concurrent.*", "runTask", METHOD_RUNS},
	{"io.netty.util.concurrent.*", "safeExecute", METHOD_RUNS},
	{"io.netty.*", "processSelectedKey*", METHOD_RUNS},
	{"org.jboss.threads.EnhancedQueueExecutor*", "doRunTask", METHOD_RUNS},
	{"org.xnio.nio.WorkerThread", "run", METHOD_RUNS},
	{"java.util.TimerThread", "mainLoop", METHOD_RUNS | METHOD_SCHEDULED},
	{"kotlinx.coroutines.scheduling.*", "runSafely", METHOD_RUNS},
	{"akka.dispatch.Mailbox", "run", METHOD_RUNS},
	{JUC "Semaphore", "*", PLACE_PERMIT},
	{JUC "*Queue", "*", PLACE_QUEUE},
	{JUC "*Deque", "*", PLACE_QUEUE},
	{JUC "*Queue", "put", METHOD_INSERTS},
	{JUC "*Deque", "put*", METHOD_INSERTS},
	{JUC "*Queue", "offer", METHOD_INSERTS},
	{JUC "locks.Abstract*", "*", METHOD_SYNC},
	{JUC "locks.Abstract*$ConditionObject", "*", PLACE_CHANGE},
	{JUC "locks.Reentrant*", "*", PLACE_LOCK},
	{JUC "locks.StampedLock", "*", PLACE_LOCK},
	{JUC "FutureTask", "*", PLACE_EVENT},
	{JUC "CompletableFuture", "*", PLACE_EVENT},
	{JUC "CountDownLatch", "*", PLACE_EVENT},
	{JUC "CyclicBarrier", "*", PLACE_EVENT},
	{JUC "Phaser", "*", PLACE_EVENT},
	{JUC "Exchanger", "*", PLACE_EVENT},
	{JUC "ForkJoinTask", "*", PLACE_EVENT},
	{JUC "ForkJoinPool", "await*", PLACE_EVENT},
	{JUC "*CompletionService", "*", PLACE_EVENT},
	{JUC "ThreadPoolExecutor", "awaitTermination", PLACE_EVENT},
	{"java.lang.Thread", "join*", PLACE_EVENT},
	{"java.lang.Process*", "waitFor*", PLACE_EVENT},
	{"java.lang.UNIXProcess", "waitFor*", PLACE_EVENT},
	{"java.lang.ref.*", "*", PLACE_EVENT},
	{"java.net.ServerSocket", "*ccept", PLACE_CALLERS | PLACE_ACCEPTS},
	{"sun.nio.ch.ServerSocketChannelImpl", "*ccept", PLACE_CALLERS | PLACE_ACCEPTS},
	{"sun.nio.ch.Net", "accept", PLACE_CALLERS | PLACE_ACCEPTS},
	{"sun.nio.ch.*SelectorImpl", "*", PLACE_CALLERS},
	{"sun.nio.ch.EPoll*", "*", PLACE_CALLERS},
	{"sun.nio.fs.*", "poll", PLACE_CALLERS},
	{"java.net.DatagramSocket", "receive", PLACE_CALLERS},
	{"sun.nio.ch.DatagramChannelImpl", "*", PLACE_CALLERS},
	{"java.net.Socket*", "*", PLACE_PEER},
	{"sun.nio.ch.NioSocketImpl*", "*", PLACE_PEER},
	{"sun.nio.ch.SocketChannelImpl", "*", PLACE_PEER},
	{"jdk.internal.net.http.HttpClientImpl", "send", METHOD_ASKS},
	{"com.sun.jndi.ldap.Connection", "readReply", METHOD_ASKS},
	{"io.grpc.stub.ClientCalls", "blockingUnaryCall", METHOD_ASKS},
	{"java.io.FileInputStream", "*", PLACE_FILE},
	{"java.io.FileOutputStream", "*", PLACE_FILE},
	{"java.io.RandomAccessFile", "*", PLACE_FILE},
	{"java.io.FileDescriptor", "sync*", PLACE_FILE},
	{"java.io.UnixFileSystem", "*", PLACE_FILE},
	{"sun.nio.fs.UnixNativeDispatcher", "*", PLACE_FILE},
	{"java.nio.MappedMemoryUtils", "force*", PLACE_FILE},
	{"java.nio.MappedByteBuffer", "force*", PLACE_FILE},
	{"sun.nio.ch.FileChannelImpl", "*", PLACE_FILE},
	{"*", "tryLock", METHOD_TRIES},
	{"*", "parkNanos", METHOD_TRIES},
	{"*", "parkUntil", METHOD_TRIES},
	{"java.lang.Throwable", "fillInStackTrace", METHOD_TRACE},
	{"java.lang.VirtualThread", "runContinuation", METHOD_MOUNTS},
	{"java.lang.ref.Finalizer", "runFinalizer", METHOD_FINALIZES},
	{"jdk.internal.ref.PhantomCleanable", "clean", METHOD_CLEANS},
	{"jdk.internal.ref.CleanerImpl", "run", METHOD_CLEANER},
	{"java.lang.Thread", "start0", METHOD_STARTS},
	{JUC "FutureTask", "get", METHOD_AWAITS_TASK},
	{JUC "FutureTask", "run*", METHOD_RUNNING(METHOD_AWAITS_TASK)},
	{JUC "CompletableFuture", "*Get", METHOD_AWAITS_STAGE},
	{JUC "CompletableFuture$*", "run", METHOD_RUNNING(METHOD_AWAITS_STAGE)},
	{JUC "ForkJoinTask", "get", METHOD_AWAITS_FORK},
	{JUC "ForkJoinTask", "join", METHOD_AWAITS_FORK},
	{JUC "ForkJoinTask", "invoke*", METHOD_AWAITS_FORK},
	{JUC "ForkJoinTask", "doExec", METHOD_RUNNING(METHOD_AWAITS_FORK)},
	{"java.lang.Runtime", "gc", METHOD_COLLECTS},
	{"java.util.HashMap$TreeNode", "*", METHOD_COLLIDES},
	{JUC "ConcurrentHashMap$Tree*", "*", METHOD_COLLIDES},
	{"", "G1CollectedHeap::attempt_allocation_humongous", METHOD_LARGE},
	{"", "G1CollectedHeap::humongous_obj_allocate*", METHOD_LARGE},
	{"", "InstanceKlass::initialize_impl*", METHOD_INITIALIZES},
	{"java.lang.ClassLoader", "defineClass*", METHOD_DEFINES},
	{"java.lang.invoke.MethodHandles$Lookup", "define*", METHOD_DEFINES},
	{"java.lang.ProcessImpl", "waitFor*", METHOD_CHILD},
	{"java.lang.UNIXProcess", "waitFor*", METHOD_CHILD},
	{"java.lang.ProcessBuilder", "start", METHOD_FORKS},
	{JUC "ForkJoinWorkerThread", "run", METHOD_WORKER},
	{JUC "ScheduledThreadPoolExecutor$ScheduledFutureTask", "run", METHOD_SCHEDULED},
	{"java.nio.DirectByteBuffer", "<init>", METHOD_DIRECT},
	{"sun.misc.Unsafe", "allocateMemory*", METHOD_DIRECT},
	{"jdk.internal.misc.Unsafe", "allocateMemory*", METHOD_DIRECT},
	{"*", "<clinit>", METHOD_CLINIT},
	{"", "UncommonTrapBlob", METHOD_LEAVES},
	{"", "DeoptimizationBlob", METHOD_LEAVES},
	{"java.lang.Thread", "getAllStackTraces", METHOD_STOPS},
	{"java.lang.Thread", "dumpThreads", METHOD_STOPS},
	{"sun.management.ThreadImpl", "dumpThreads0", METHOD_STOPS},
	{"sun.management.ThreadImpl", "getThreadInfo1", METHOD_STOPS},
	{"sun.management.ThreadImpl", "find*DeadlockedThreads0", METHOD_STOPS},
	{"*HotSpotDiagnostic", "dumpHeap0", METHOD_STOPS},
	{"sun.instrument.InstrumentationImpl", "re*Classes0", METHOD_STOPS},
};

struct places {
	const struct scene *scene;
	struct place *list; /* by stack */
	uint64_t *methods;  /* kinds by method; METHOD_SEEN is set once known */
	uint32_t stacks, method_count;
};

/* --- methods ----------------------------------------------------------------------------------------- */

static uint64_t method_kinds(struct places *p, uint32_t frame, uint32_t method)
{
	const struct profile_method *m = profile_get_method(p->scene->profile, method);
	uint64_t kinds = METHOD_SEEN;

	if (method < p->method_count && p->methods[method])
		return p->methods[method];
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		char first = *methods[i].class_name;

		if ((first == *m->class_name || (first == '*' && *m->class_name)) &&
			java_name_matches(m->class_name, methods[i].class_name) &&
			java_name_matches(m->name, methods[i].name))
			kinds |= methods[i].kinds;
	}
	if (profile_method_idles(m) == PROFILE_IDLES_EXECUTOR)
		kinds |= METHOD_IDLES;
	if (profile_frame_own(p->scene->profile, frame))
		kinds |= METHOD_OWN;
	if (method < p->method_count)
		p->methods[method] = kinds;
	return kinds;
}

static bool is_lambda(const struct profile_method *m)
{
	return java_name_is_lambda(m->class_name) || !strncmp(m->name, "lambda$", 7);
}

const struct profile_method *places_method(const struct scene *scene, uint32_t stack)
{
	return profile_get_method(scene->profile, scene_frame(scene, stack)->method);
}

const char *places_class(const struct profile_method *m)
{
	const char *dot = strrchr(m->class_name, '.');

	return dot ? dot + 1 : m->class_name;
}

/* True at the first letter of a word of a name in camel case. */
static bool word_begins(const char *name, const char *at)
{
	return at == name || isupper((unsigned char)*at) || !isalpha((unsigned char)at[-1]);
}

bool places_contains(const char *name, const char *const *words)
{
	for (; *words; words++)
		for (const char *at = name; (at = strcasestr(at, *words)); at++)
			if (word_begins(name, at))
				return true;
	return false;
}

/* --- stacks ------------------------------------------------------------------------------------------ */

struct places *places_new(const struct scene *scene)
{
	struct places *p = xcalloc(1, sizeof(*p));

	p->scene = scene;
	p->stacks = profile_info(scene->profile).stacks;
	p->method_count = profile_method_count(scene->profile);
	p->list = xcalloc(p->stacks + 1, sizeof(*p->list));
	p->methods = xcalloc(p->method_count + 1, sizeof(*p->methods));
	return p;
}

void places_free(struct places *p)
{
	if (!p)
		return;
	free(p->list);
	free(p->methods);
	free(p);
}

/* Updates `at` for an own frame. Lambdas and direct recursion are not counted in owns. */
static void add_own(struct places *p, struct place *at, uint32_t stack)
{
	const struct profile_method *m = places_method(p->scene, stack);
	bool again = at->own != PROFILE_NONE && places_method(p->scene, at->own) == m;

	at->own = stack;
	at->waits = 0;
	if (is_lambda(m) || again)
		return;
	at->owns++;
	if (at->outer == PROFILE_NONE)
		at->outer = stack;
}

static struct place place_below(struct places *p, struct place at, uint32_t stack)
{
	uint32_t frame_id = profile_get_stack(p->scene->profile, stack).frame;
	const struct profile_frame *frame = profile_get_frame(p->scene->profile, frame_id);
	uint64_t kinds = method_kinds(p, frame_id, frame->method);

	at.seen |= kinds;
	if (!frame_is_java(frame->type))
		return at;
	at.java = stack;
	if (kinds & METHOD_RUNS) {
		at = (struct place){.own = PROFILE_NONE,
			.outer = PROFILE_NONE,
			.java = stack,
			.seen = at.seen,
			.known = true,
			.executor = true,
			.idle = kinds & METHOD_IDLES,
			.loop = kinds & METHOD_IDLES};
	} else if (kinds & METHOD_IDLES) {
		at.idle = true;
		at.loop = false;
		at.own = PROFILE_NONE;
	} else if ((!at.idle || at.loop) && kinds & METHOD_OWN) {
		at.idle = at.loop = false;
		add_own(p, &at, stack);
	} else {
		at.waits |= (uint16_t)(kinds & METHOD_WAITS);
	}
	return at;
}

/* Recursive up to the nearest cached caller: at most PROFILE_DEPTH_MAX levels. */
struct place places_of(struct places *p, uint32_t stack)
{
	static const struct place root = {
		.own = PROFILE_NONE, .outer = PROFILE_NONE, .java = PROFILE_NONE, .known = true};

	if (stack == PROFILE_ROOT_STACK || stack >= p->stacks)
		return root;
	if (p->list[stack].known)
		return p->list[stack];
	struct place at = place_below(
		p, places_of(p, profile_get_stack(p->scene->profile, stack).parent), stack);
	p->list[stack] = at;
	return at;
}

uint32_t places_find(struct places *p, uint32_t stack, uint64_t kinds)
{
	if (!(places_of(p, stack).seen & kinds))
		return PROFILE_NONE;
	while (stack != PROFILE_NONE && stack != PROFILE_ROOT_STACK) {
		struct profile_stack s = profile_get_stack(p->scene->profile, stack);

		if (method_kinds(
			    p, s.frame, profile_get_frame(p->scene->profile, s.frame)->method) &
			kinds)
			return stack;
		stack = s.parent;
	}
	return PROFILE_NONE;
}

uint64_t places_kinds(struct places *p, uint32_t stack, uint64_t kinds)
{
	uint32_t at = places_find(p, stack, kinds);

	if (at == PROFILE_NONE)
		return 0;
	uint32_t frame = profile_get_stack(p->scene->profile, at).frame;
	return method_kinds(p, frame, profile_get_frame(p->scene->profile, frame)->method) & kinds;
}

uint32_t places_outwards(struct places *p, uint32_t own)
{
	uint32_t at = profile_get_stack(p->scene->profile, own).parent;

	for (at = places_of(p, at).own; at != PROFILE_NONE; at = places_of(p, at).own) {
		if (!is_lambda(places_method(p->scene, at)))
			return at;
		at = profile_get_stack(p->scene->profile, at).parent;
	}
	return PROFILE_NONE;
}
