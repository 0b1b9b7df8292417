/* SPDX-License-Identifier: Apache-2.0 */
/* Where a thread waits, in the program's own words: all end in the same few functions of libc. */
#include "profile/model/model.h"

#include "base/buf.h"

#include <stdio.h>
#include <string.h>

/* How good a place a frame is: of two that are as good the inner one. */
enum place {
	PLACE_NONE,         /* libc, the kernel */
	PLACE_VM_PRIMITIVE, /* what only waits */
	PLACE_VM,
	PLACE_JAVA_PRIMITIVE,
	PLACE_LIBRARY, /* that every program uses */
	PLACE_OWN,
};

static const char *const vm_primitive[] = {"os::", "Monitor::", "PlatformMonitor::", "Mutex",
	"Semaphore::", "PosixSemaphore::", "Parker::", "ObjectMonitor::", "WaitBarrier",
	"LinuxWaitBarrier", NULL};
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
	if (type == FRAME_VM)
		return is_of(vm_primitive, m->name) ? PLACE_VM_PRIMITIVE : PLACE_VM;
	if (type > FRAME_JAVA)
		return PLACE_NONE;
	if (is_of(java_primitive, m->class_name))
		return PLACE_JAVA_PRIMITIVE;
	return is_of(library, m->class_name) ? PLACE_LIBRARY : PLACE_OWN;
}

bool profile_frame_own(const struct profile *p, uint32_t frame)
{
	const struct profile_frame *f = profile_get_frame(p, frame);

	return frame_place(f->type, profile_get_method(p, f->method)) == PLACE_OWN;
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

/* --- leaves ------------------------------------------------------------------------------------------ */

/* On top of a stack; io NULL: it is not known. */
static uint32_t add_leaf(struct profile *p, uint32_t stack, const char *class_name,
	const char *name, const struct profile_io *io)
{
	struct buf text = {0};
	uint32_t method;

	if (io)
		buf_printf(&text, "%s\t%s", io->what, io->where);
	method = profile_method(p, class_name, name, buf_str(&text), "");
	buf_done(&text);
	return profile_stack_child(p, stack, profile_frame(p, method, FRAME_WAITS, 0xffff, 0));
}

static uint32_t add_io(struct profile *p, uint32_t stack, const struct profile_io *io)
{
	struct buf name = {0};

	buf_printf(&name, "[%s%s%s]", io->what, *io->where ? " " : "", io->where);
	stack = add_leaf(p, stack, "", buf_str(&name), io);
	buf_done(&name);
	return stack;
}

/* Where it waits and why; io: and for what. */
static uint32_t add_place(struct profile *p, uint32_t stack, uint32_t method,
	enum thread_state state, const struct profile_io *io)
{
	const struct profile_method *m = profile_get_method(p, method);
	struct buf class_name = {0}, name = {0};

	buf_adds(&class_name, m->class_name);
	buf_adds(&name, m->name);
	if (io)
		buf_printf(&name, ": %s%s%s", io->what, *io->where ? " " : "", io->where);
	else
		buf_printf(&name, " %s", thread_states[state].name);
	stack = add_leaf(p, stack, buf_str(&class_name), buf_str(&name), io);
	buf_done(&class_name);
	buf_done(&name);
	return stack;
}

uint32_t profile_stack_resting(
	struct profile *p, uint32_t stack, enum thread_state state, const struct profile_io *io)
{
	uint32_t method = state >= THREAD_SLEEPING ? stack_place(p, stack) : PROFILE_NONE;
	bool apart;

	io = state == THREAD_IO ? io : NULL;
	apart = io && (p->io_apart || method == PROFILE_NONE);
	if (method != PROFILE_NONE)
		stack = add_place(p, stack, method, state, apart ? NULL : io);
	return apart ? add_io(p, stack, io) : stack;
}

void profile_io_apart(struct profile *p)
{
	p->io_apart = true;
}

bool profile_stack_io(const struct profile *p, uint32_t stack, struct profile_io *out)
{
	const struct profile_frame *f = profile_get_frame(p, profile_get_stack(p, stack).frame);
	const char *text = profile_get_method(p, f->method)->signature;
	const char *tab = strchr(text, '\t');

	if (f->type != FRAME_WAITS || !tab)
		return false;
	snprintf(out->what, sizeof(out->what), "%.*s", (int)(tab - text), text);
	out->where = tab + 1;
	return true;
}
