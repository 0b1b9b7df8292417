/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that views fold by default (entry frames of threads, the inside of native runs), and frames that they do not. */
#include "profile/query/filter.h"
#include "profile/table/calltree.h"
#include "profile/table/flat.h"
#include "tests/profile/add.h"
#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Frames, root first: "Class.method" is Java, "module!name" native, "!name" a stub. */
static const struct {
	const char *what, *sampled, *shown;
} folds[] = {
	{"the entry frames of a Java thread are folded",
		"libc.so.6!clone3 libc.so.6!start_thread libjvm.so!thread_native_entry(Thread*) "
		"libjvm.so!Thread::call_run libjvm.so!JavaThread::run "
		"libjvm.so!JavaThread::thread_main_inner libjvm.so!thread_entry "
		"libjvm.so!JavaCalls::call_virtual libjvm.so!JavaCalls::call_helper !call_stub "
		"java.lang.Thread.run Shop.serve",
		"java.lang.Thread.run Shop.serve"},
	{"entry frames without symbols are folded",
		"libc.so.6!0x110771 libjvm.so!0xa37470 libjvm.so!0xbb6b80 !call_stub "
		"java.lang.Thread.run",
		"java.lang.Thread.run"},
	{"the entry frames of the main thread are folded",
		"java!_start libc.so.6!__libc_start_main java!main libjli.so!JLI_Launch "
		"libjvm.so!jni_CallStaticVoidMethod libjvm.so!jni_invoke_static !call_stub "
		"Shop.main",
		"Shop.main"},
	{"a function whose name only begins like an entry frame's is kept",
		"!main.main !main.work Shop.serve", "!main.main !main.work Shop.serve"},
	{"main without a module, of some other program's profile, is kept", "!main !parse !read",
		"!main !parse !read"},
	{"an embedding program keeps its own frames",
		"libc.so.6!_start shop!main shop!serve libjvm.so!jni_CallVoidMethod !call_stub "
		"Shop.serve",
		"shop!main shop!serve libjvm.so!jni_CallVoidMethod !call_stub Shop.serve"},
	{"a JVM thread keeps everything below its entry frames",
		"libc.so.6!clone3 libjvm.so!Thread::call_run libjvm.so!WorkerThread::run "
		"libjvm.so!G1Task::work libjvm.so!G1Scan::copy libc.so.6!memcpy",
		"libjvm.so!WorkerThread::run libjvm.so!G1Task::work libjvm.so!G1Scan::copy "
		"libc.so.6!memcpy"},
	{"a compiler thread keeps its frames after the method that it compiles",
		"![compiling] !compiling_Shop.serve libc.so.6!clone3 libc.so.6!start_thread "
		"libjvm.so!Thread::call_run libjvm.so!JavaThread::thread_main_inner "
		"libjvm.so!CompileBroker::compiler_thread_loop "
		"libjvm.so!C2Compiler::compile_method "
		"libjvm.so!Compile::Optimize libjvm.so!PhaseIdealLoop::build_loop_early",
		"![compiling] !compiling_Shop.serve libjvm.so!CompileBroker::compiler_thread_loop "
		"libjvm.so!C2Compiler::compile_method libjvm.so!Compile::Optimize "
		"libjvm.so!PhaseIdealLoop::build_loop_early"},
	{"native frames that a JVM thread calls are folded as a run",
		"libc.so.6!clone3 libjvm.so!VMThread::run libjvm.so!Monitor::wait "
		"libc.so.6!pthread_cond_wait libc.so.6!0x8f930 libc.so.6!0x8f340 "
		"[kernel]!do_syscall [kernel]!schedule",
		"libjvm.so!VMThread::run libjvm.so!Monitor::wait libc.so.6!pthread_cond_wait ...3 "
		"[kernel]!schedule"},
	{"a leaf that is an entry frame is kept", "libc.so.6!clone3 libc.so.6!start_thread",
		"libc.so.6!start_thread"},
	{"a native run keeps its first and last frame and the number between",
		"Shop.read libjvm.so!JVM_Read libjvm.so!a libjvm.so!b libc.so.6!read "
		"[kernel]!do_syscall [kernel]!copy",
		"Shop.read libjvm.so!JVM_Read ...4 [kernel]!copy"},
	{"a run of two or three frames is kept",
		"Shop.read libjvm.so!JVM_Read libc.so.6!read libc.so.6!0x9a700",
		"Shop.read libjvm.so!JVM_Read libc.so.6!read libc.so.6!0x9a700"},
	{"a native run between Java frames is folded",
		"Shop.load libjvm.so!JVM_Load libjvm.so!x libjvm.so!y !call_stub Shop.init",
		"Shop.load libjvm.so!JVM_Load ...3 Shop.init"},
	{"frames of the program's own library are not folded",
		"Shop.pack libshop.so!pack libshop.so!deflate libshop.so!match libc.so.6!a "
		"libc.so.6!b libc.so.6!c libc.so.6!d",
		"Shop.pack libshop.so!pack libshop.so!deflate libshop.so!match libc.so.6!a ...2 "
		"libc.so.6!d"},
	{"waits of JVM threads are one row",
		"libc.so.6!clone3 libjvm.so!VMThread::run libjvm.so!Monitor::wait "
		"libc.so.6!pthread_cond_wait wait!VMThread::run",
		"![the JVM's own threads] wait"},
	{"a wait of the launcher's thread is in that row",
		"java!_start java!main libjli.so!JLI_Launch libc.so.6!join wait!JLI_Launch",
		"![the JVM's own threads] wait"},
	{"an idle wait of the Reference Handler is in that row",
		"java.lang.ref.Reference$ReferenceHandler.run "
		"java.lang.ref.Reference.processPendingReferences "
		"java.lang.ref.Reference.waitForReferencePendingList libjvm.so!Monitor::wait "
		"wait!Reference.waitForReferencePendingList",
		"![the JVM's own threads] wait"},
	{"a wait of an embedding program's thread is kept",
		"shop!main libjvm.so!jni_DestroyJavaVM libc.so.6!wait wait!jni_DestroyJavaVM",
		"shop!main libjvm.so!jni_DestroyJavaVM libc.so.6!wait !jni_DestroyJavaVM"},
	{"a wait of a Java thread inside the JVM is kept",
		"java.lang.Thread.run Shop.serve libjvm.so!Monitor::wait wait!Shop.serve",
		"java.lang.Thread.run Shop.serve libjvm.so!Monitor::wait !Shop.serve"},
	{"a wait of the program's native thread is kept",
		"libshop.so!serve libc.so.6!poll wait!serve",
		"libshop.so!serve libc.so.6!poll !serve"},
	{"a run of a single frame keeps its name",
		"Shop.load libjvm.so!JVM_Load !call_stub Shop.init",
		"Shop.load libjvm.so!JVM_Load !call_stub Shop.init"},
};
#define FOLDS (sizeof(folds) / sizeof(folds[0]))

static uint32_t push(struct profile *p, uint32_t stack, const char *frame, size_t len)
{
	char text[128], *name;
	uint32_t method;

	snprintf(text, sizeof(text), "%.*s", (int)len, frame);
	name = strchr(text, '!') ? strchr(text, '!') : strrchr(text, '.');
	*name = '\0';
	if (!strcmp(text, "wait")) /* the frame that names the wait */
		return profile_stack_child(p, stack,
			profile_frame(p, profile_method(p, "", name + 1, "", ""), FRAME_WAITS,
				0xffff, 0));
	method = memchr(frame, '!', len) ? profile_method(p, "", name + 1, "", text)
					 : profile_method(p, text, name + 1, "", "");
	return profile_stack_child(p, stack,
		profile_frame(
			p, method, profile_method_type(profile_get_method(p, method)), 0xffff, 0));
}

static uint32_t stack_of(struct profile *p, const char *frames)
{
	uint32_t stack = PROFILE_ROOT_STACK;

	while (*frames) {
		size_t len = strcspn(frames, " ");

		stack = push(p, stack, frames, len);
		frames += len + (frames[len] == ' ');
	}
	return stack;
}

static const char *text_of(const struct profile *p, uint32_t stack, char *out, size_t bytes)
{
	struct profile_stack s = profile_get_stack(p, stack);
	const struct profile_method *m;
	uint32_t run = filter_collapsed_frames(p, stack);
	size_t len;

	if (stack == PROFILE_ROOT_STACK) {
		*out = '\0';
		return out;
	}
	text_of(p, s.parent, out, bytes);
	len = strlen(out);
	m = profile_get_method(p, profile_get_frame(p, s.frame)->method);
	if (run)
		snprintf(out + len, bytes - len, " ...%u", run);
	else
		snprintf(out + len, bytes - len, "%s%s%s%s", len ? " " : "",
			*m->class_name ? m->class_name : m->module, *m->class_name ? "." : "!",
			m->name);
	return out;
}

static void test_stacks(void)
{
	struct profile *p = profile_new();
	struct filter *f = filter_new();
	char text[1024];

	filter_set_hide(f, FILTER_ENTRY | FILTER_RUNS);
	for (size_t i = 0; i < FOLDS; i++) {
		uint32_t stack = stack_of(p, folds[i].sampled);

		is_str(text_of(p, filter_map_stack(f, p, stack), text, sizeof(text)),
			folds[i].shown, folds[i].what);
	}
	/* again, in another order */
	for (size_t i = FOLDS; i-- > 0;) {
		uint32_t stack = stack_of(p, folds[i].sampled);

		if (strcmp(text_of(p, filter_map_stack(f, p, stack), text, sizeof(text)),
			    folds[i].shown))
			ok(false, "folding the same stack again gives the same result: %s",
				folds[i].what);
	}
	filter_free(f);
	profile_free(p);
}

/* In a profile without Java no frames are taken for a JVM's. */
static void test_without_java(void)
{
	static const char frames[] =
		"libc.so.6!_start app!main app!work libc.so.6!read libc.so.6!a "
		"libc.so.6!b [kernel]!do_syscall [kernel]!copy";
	struct profile *p = profile_new();
	struct filter *f = filter_new();
	uint32_t stack = stack_of(p, frames);
	char text[1024];

	filter_set_hide(f, FILTER_ENTRY | FILTER_RUNS);
	is_str(text_of(p, filter_map_stack(f, p, stack), text, sizeof(text)), frames,
		"a profile without Java is not folded");
	stack_of(p, "Shop.serve");
	is_str(text_of(p, filter_map_stack(f, p, stack), text, sizeof(text)),
		"app!main app!work libc.so.6!read ...3 [kernel]!copy",
		"the same stack is folded in a profile with Java");
	filter_free(f);
	profile_free(p);
}

/* Each stack has one sample: sums are kept, and no row is a fold's. */
static void test_sums(void)
{
	struct profile *p = profile_new();
	struct profile_query q = profile_whole(EVENT_CPU);
	struct calltree_options options = {.root_method = PROFILE_NONE};
	struct calltree *t;
	struct flat *flat;
	uint64_t self = 0;
	int unexpected = 0;

	profile_advance(p, 0);
	for (size_t i = 0; i < FOLDS; i++)
		profile_add(p, EVENT_CPU, 0, stack_of(p, folds[i].sampled), 0, 1, 1);
	q.filter = filter_new();
	filter_set_hide(q.filter, FILTER_ENTRY | FILTER_RUNS);
	flat = flat_new(p, &q);
	for (uint32_t i = 0; i < flat->count; i++) {
		const char *name = profile_get_method(p, flat->rows[i].method)->full;

		self += flat->rows[i].self;
		unexpected += !strcmp(name, "[native frames]");
		unexpected += !strcmp(name, "[libc.so.6] clone3") || !strcmp(name, "thread_entry");
	}
	ok(flat->sum == FOLDS && self == FOLDS, "each sample is in a row of the method table");
	ok(!unexpected && flat->count > FOLDS, "folded frames have no rows");
	flat_free(flat);
	t = calltree_new(p, &q, &options);
	ok(t->nodes[0].total == FOLDS, "all samples are in the call tree");
	calltree_free(t);
	filter_free(q.filter);
	profile_free(p);
}

/* Equal totals: the program's method sorts before the library's, which was added first. */
static void test_ties(void)
{
	struct profile *p = profile_new();
	struct profile_query q = profile_whole(EVENT_CPU);
	struct calltree_options options = {.root_method = PROFILE_NONE};
	const struct flat_row *rows;
	struct calltree *t;
	struct flat *flat;

	profile_advance(p, 0);
	profile_add(p, EVENT_CPU, 0, stack_of(p, "java.lang.Thread.run java.util.A.a"), 0, 3, 3);
	profile_add(p, EVENT_CPU, 0, stack_of(p, "java.lang.Thread.run Shop.c"), 0, 3, 3);
	flat = flat_new(p, &q);
	qsort(flat->rows, flat->count, sizeof(*flat->rows), flat_compare);
	rows = flat->rows;
	is_str(profile_get_method(p, rows[0].method)->full, "Shop.c",
		"method table: of equal totals the program's own comes first");
	is_str(profile_get_method(p, rows[1].method)->full, "java.util.A.a",
		"method table: the library's comes second");
	flat_free(flat);
	t = calltree_new(p, &q, &options);
	is_str(profile_get_method(p, t->nodes[t->nodes[t->nodes[0].first_child].first_child].method)
			->full,
		"Shop.c", "call tree: of equal totals the program's own comes first");
	calltree_free(t);
	profile_free(p);
}

int main(void)
{
	test_stacks();
	test_without_java();
	test_sums();
	test_ties();
	return tap_done();
}
