/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds by a frame's type and method, and by the frames above it. */
#include "profile/query/fold_kind.h"

#include "base/buf.h"
#include "profile/model/fit.h"
#include "profile/query/query.h"

#include <stdlib.h>
#include <string.h>

/* Of a stack, beside its kind. */
#define STACK_KIND   0x07
#define STACK_BEGIN  0x08 /* it is no frame of its thread's, which begins with what comes behind */
#define STACK_KNOWN  0x10
#define STACK_JAVA   0x20 /* it has a Java frame */
#define STACK_SYSTEM 0x40 /* it ends in the system's or the JVM's own native code ... */
#define STACK_OS     0x80 /* ... and in the system's */

/* Of a method. */
#define METHOD_KNOWN     1
#define METHOD_FRAMEWORK 2
#define METHOD_SYSTEM    4
#define METHOD_ENTRY     8
#define METHOD_OS        16
#define METHOD_COMPILING \
	32 /* a compiler's thread: what it compiles stands behind this, then its own frames */

void fold_kinds_init(
	struct fold_kinds *k, const struct profile *p, unsigned hide, const char *frameworks)
{
	*k = (struct fold_kinds){.p = p, .hide = hide, .frameworks = xstrdup(frameworks)};
}

void fold_kinds_done(struct fold_kinds *k)
{
	free(k->frameworks);
	free(k->stacks);
	free(k->methods);
}

size_t fold_kinds_bytes(const struct fold_kinds *k)
{
	return (size_t)k->stacks_cap + k->methods_cap;
}

void fold_kinds_fit(struct fold_kinds *k, uint32_t stack)
{
	k->stacks = fit_zeroed(k->stacks, &k->stacks_cap, stack + 1, 1);
}

/* --- methods ----------------------------------------------------------------------------------------- */

/*
 * Libraries that are the same under every program: of their frames between two others one wants to know how many there
 * are. Any other library may be the program's own.
 */
static const char *const jvm_modules[] = {"libjvm.", "libjava.", "libjli.", "libnio.", "libnet.",
	"libzip.", "libjimage.", "libverify.", "libextnet.", "libmanagement", "libinstrument.",
	"libjhot.", NULL};
static const char *const os_modules[] = {"libc.", "libc-", "libpthread", "libm.", "libm-", "libdl",
	"librt", "ld-", "libstdc++", "libgcc_s", "libz.", "[", NULL};

/* How threads come to their first frame of Java, outermost first. What has no name ("0x92620") tells nobody anything. */
static const char *const entry_names[] = {"0x", "_start", "__libc_start", "clone", "__clone",
	"thread_start", "start_thread", "JLI_Launch", "JVMInit", "ContinueInNewThread",
	"CallJavaMainInNewThread", "ThreadJavaMain", "JavaMain", "java_start",
	"thread_native_entry", "Thread::call_run", "JavaThread::run",
	"JavaThread::thread_main_inner", "thread_entry", "jni_Call", "jni_invoke_",
	"JavaCalls::call", "os::os_exception_wrapper", "call_stub", NULL};

static bool begins_with_any(const char *text, const char *const *prefixes)
{
	for (; *prefixes; prefixes++)
		if (!strncmp(text, *prefixes, strlen(*prefixes)))
			return true;
	return false;
}

static bool in_framework(const struct fold_kinds *k, const char *class_name)
{
	const char *at = k->frameworks;

	while (*(at += strspn(at, " \t\n"))) {
		size_t len = strcspn(at, " \t\n");

		if (!strncmp(class_name, at, len))
			return true;
		at += len;
	}
	return false;
}

static uint8_t method_bits(struct fold_kinds *k, uint32_t method)
{
	const struct profile_method *m = &k->p->methods->list[method].pub;
	uint8_t bits = METHOD_KNOWN;

	k->methods = fit_zeroed(k->methods, &k->methods_cap, method + 1, 1);
	if (k->methods[method])
		return k->methods[method];
	if (*m->class_name && in_framework(k, m->class_name))
		bits |= METHOD_FRAMEWORK;
	if (!*m->class_name && begins_with_any(m->module, os_modules))
		bits |= METHOD_OS | METHOD_SYSTEM;
	/* Stubs have no module; the JVM's own program is called java. */
	if (!*m->class_name && (!*m->module || !strcmp(m->module, "java") ||
				       begins_with_any(m->module, jvm_modules)))
		bits |= METHOD_SYSTEM;
	/* "main" of no module is no launcher's: a profile of another kind of program has it at its root. */
	if (bits & METHOD_SYSTEM &&
		(begins_with_any(m->name, entry_names) || (*m->module && !strcmp(m->name, "main"))))
		bits |= METHOD_ENTRY;
	if (!*m->class_name && !strcmp(m->name, "[compiling]"))
		bits |= METHOD_COMPILING;
	return k->methods[method] = bits;
}

/* --- stacks ------------------------------------------------------------------------------------------ */

static uint8_t stack_bits(const struct fold_kinds *k, uint32_t stack)
{
	return stack == PROFILE_ROOT_STACK ? KIND_ENTRY : k->stacks[stack];
}

static enum fold_kind kind_of_native(struct fold_kinds *k, uint32_t stack, uint8_t bits)
{
	uint8_t above = stack_bits(k, model_parent(&k->p->stacks, stack));

	if (k->hide & FILTER_ENTRY && bits & METHOD_ENTRY &&
		((above & STACK_KIND) == KIND_ENTRY || above & STACK_BEGIN))
		return KIND_ENTRY;
	if (k->hide & FILTER_NATIVE)
		return KIND_NATIVE;
	/* The first tells what was called, so the run is what comes then; of the JVM's own threads its work is no run. */
	if (k->hide & FILTER_RUNS && bits & METHOD_SYSTEM && above & STACK_SYSTEM &&
		(above & STACK_JAVA || (bits & METHOD_OS && above & STACK_OS)))
		return KIND_RUN;
	return KIND_SHOWN;
}

/* A leaf that says where a thread waits: is it one of the JVM's own, with nothing of Java or of the program on its stack? */
static bool waits_in_jvm(struct fold_kinds *k, uint32_t stack)
{
	const struct model_stacks *s = &k->p->stacks;
	bool jvm = false;

	if (stack_bits(k, model_parent(s, stack)) & STACK_JAVA)
		return false;
	while ((stack = model_parent(s, stack)) != PROFILE_ROOT_STACK) {
		uint8_t bits = method_bits(k, model_method(s, stack));

		if (!(bits & METHOD_SYSTEM))
			return false;
		jvm |= !(bits & METHOD_OS);
	}
	return jvm;
}

static enum fold_kind kind_of(struct fold_kinds *k, uint32_t stack, uint8_t bits)
{
	switch (model_type(&k->p->stacks, stack)) {
	case FRAME_KERNEL:
		return k->hide & FILTER_KERNEL ? KIND_KERNEL : kind_of_native(k, stack, bits);
	case FRAME_NATIVE:
	case FRAME_VM: return kind_of_native(k, stack, bits);
	case FRAME_CLASS_OUTSIDE:
	case FRAME_CLASS: /* what was allocated or locked is what one asks for */
	case FRAME_WAITS:
		return k->hide & FILTER_ENTRY && waits_in_jvm(k, stack) ? KIND_JVM_WAITS
									: KIND_SHOWN;
	case FRAME_BREAK: return KIND_SHOWN;
	default:
		return k->hide & FILTER_FRAMEWORK && bits & METHOD_FRAMEWORK ? KIND_FRAMEWORK
									     : KIND_SHOWN;
	}
}

/* "[compiling]" at the root, or the method behind it, which is not run here. */
static bool is_compiled(struct fold_kinds *k, uint32_t stack, uint8_t bits)
{
	const struct model_stacks *s = &k->p->stacks;
	uint32_t above = model_parent(s, stack);

	if (above != PROFILE_ROOT_STACK) {
		stack = above;
		bits = method_bits(k, model_method(s, stack));
	}
	return bits & METHOD_COMPILING && model_parent(s, stack) == PROFILE_ROOT_STACK;
}

enum fold_kind fold_kind(struct fold_kinds *k, uint32_t stack)
{
	uint8_t bits = method_bits(k, model_method(&k->p->stacks, stack));
	uint8_t above = stack_bits(k, model_parent(&k->p->stacks, stack));
	enum fold_kind kind = kind_of(k, stack, bits);

	k->stacks[stack] = (uint8_t)(kind | STACK_KNOWN | (above & STACK_JAVA));
	if (is_compiled(k, stack, bits))
		k->stacks[stack] |= STACK_BEGIN;
	else if (frame_is_java(model_type(&k->p->stacks, stack)))
		k->stacks[stack] |= STACK_JAVA;
	if (bits & METHOD_SYSTEM)
		k->stacks[stack] |= STACK_SYSTEM;
	if (bits & METHOD_OS)
		k->stacks[stack] |= STACK_OS;
	return kind;
}

bool fold_kind_known(const struct fold_kinds *k, uint32_t stack)
{
	return k->stacks[stack] & STACK_KNOWN;
}

enum fold_kind fold_kind_at(const struct fold_kinds *k, uint32_t stack)
{
	return (enum fold_kind)(k->stacks[stack] & STACK_KIND);
}
