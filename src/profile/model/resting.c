/* SPDX-License-Identifier: Apache-2.0 */
/* Where a thread waits, in the program's own words: all end in the same few functions of libc. */
#include "profile/model/model.h"

#include "base/buf.h"

#include <string.h>

/* How good a place a frame is: of two that are as good the inner one. */
enum place {
	PLACE_NONE,         /* libc, the kernel, what has no name */
	PLACE_VM_PRIMITIVE, /* what only waits */
	PLACE_NATIVE,       /* other libraries */
	PLACE_VM,
	PLACE_JAVA_PRIMITIVE,
	PLACE_LIBRARY, /* that every program uses */
	PLACE_OWN,
};

static const char *const vm_primitive[] = {"os::", "Monitor::", "PlatformMonitor::", "Mutex",
	"Semaphore::", "PosixSemaphore::", "Parker::", "ObjectMonitor::", "WaitBarrier",
	"LinuxWaitBarrier", NULL};
static const char *const waiting_module[] = {"libc.", "libc-", "libpthread", "[", NULL};
static const char *const java_primitive[] = {"java.util.concurrent.locks.",
	"java.util.concurrent.ForkJoinPool", "jdk.internal.", "sun.misc.", "java.lang.Object",
	"java.lang.Thread", "java.lang.VirtualThread", NULL};
static const char *const library[] = {
	"java.", "javax.", "jdk.", "sun.", "com.sun.", "kotlin.", "kotlinx.", "scala.", NULL};

static bool is_of(const char *const *prefixes, const char *name)
{
	for (; *prefixes; prefixes++)
		if (!strncmp(name, *prefixes, strlen(*prefixes)))
			return true;
	return false;
}

static enum place frame_place(enum frame_type type, const struct profile_method *m)
{
	if (!*m->class_name && !strncmp(m->name, "0x", 2))
		return PLACE_NONE;
	if (type == FRAME_NATIVE && !is_of(waiting_module, m->module))
		return PLACE_NATIVE;
	if (type == FRAME_VM)
		return is_of(vm_primitive, m->name) ? PLACE_VM_PRIMITIVE : PLACE_VM;
	if (type > FRAME_JAVA)
		return PLACE_NONE;
	if (is_of(java_primitive, m->class_name))
		return PLACE_JAVA_PRIMITIVE;
	return is_of(library, m->class_name) ? PLACE_LIBRARY : PLACE_OWN;
}

bool profile_method_own(const struct profile_method *m)
{
	return *m->class_name && frame_place(FRAME_JAVA, m) == PLACE_OWN;
}

bool profile_frame_own(const struct profile *p, uint32_t frame)
{
	const struct profile_frame *f = profile_get_frame(p, frame);

	return f->type <= FRAME_JAVA && profile_method_own(profile_get_method(p, f->method));
}

static uint32_t stack_place(const struct profile *p, uint32_t stack)
{
	uint32_t method = PROFILE_NONE;
	enum place best = PLACE_NONE;

	for (; stack != PROFILE_ROOT_STACK && best != PLACE_OWN;
		stack = model_parent(&p->stacks, stack)) {
		uint32_t here = model_method(&p->stacks, stack);
		enum place place =
			frame_place(model_type(&p->stacks, stack), profile_get_method(p, here));

		if (place > best) {
			best = place;
			method = here;
		}
	}
	return method;
}

/* "[libc.so.6] sleeps": the library of a leaf that has no name is more than its address. NULL: it has one. */
static const char *nameless_module(const struct profile *p, uint32_t stack)
{
	const struct profile_method *m;

	if (stack == PROFILE_ROOT_STACK)
		return NULL;
	m = profile_get_method(p, model_method(&p->stacks, stack));
	return !*m->class_name && *m->module && !strncmp(m->name, "0x", 2) ? m->module : NULL;
}

uint32_t profile_stack_resting(struct profile *p, uint32_t stack, enum thread_state state)
{
	const char *why = thread_states[state].name, *module = NULL;
	const struct profile_method *m;
	struct buf class_name = {0}, name = {0};
	uint32_t method = state >= THREAD_SLEEPING ? stack_place(p, stack) : PROFILE_NONE;

	if (state >= THREAD_SLEEPING && method == PROFILE_NONE)
		module = nameless_module(p, stack);
	if (method == PROFILE_NONE && !module)
		return stack;
	m = profile_get_method(p, method);
	if (module) {
		buf_printf(&name, "[%s] %s", module, why);
	} else {
		buf_adds(&class_name, m->class_name);
		buf_printf(&name, "%s %s", m->name, why);
	}
	method = profile_method(p, buf_str(&class_name), buf_str(&name), "", "");
	buf_done(&class_name);
	buf_done(&name);
	return profile_stack_child(p, stack, profile_frame(p, method, FRAME_WAITS, 0xffff, 0));
}
