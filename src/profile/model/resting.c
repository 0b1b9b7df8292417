/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaves that say where in the program a thread waits: without them all waits end in the same few
 * functions of libc.
 */
#include "profile/model/model.h"

#include "base/buf.h"
#include "base/java_name.h"

#include <stdio.h>
#include <string.h>

/* Suitability of a frame as the place of a wait; of equal ones the innermost is used. */
enum place {
	PLACE_NONE,         /* libc, the kernel, functions without a name */
	PLACE_VM_PRIMITIVE, /* the JVM's synchronization primitives */
	PLACE_NATIVE,       /* other native libraries */
	PLACE_VM,
	PLACE_JAVA_PRIMITIVE,
	PLACE_LIBRARY, /* the JDK and language runtimes */
	PLACE_OWN,
};

static const char *const vm_primitive[] = {"os::", "Monitor::", "PlatformMonitor::", "Mutex",
	"Semaphore::", "PosixSemaphore::", "Parker::", "ObjectMonitor::", "WaitBarrier",
	"LinuxWaitBarrier", NULL};
/* musl's libc is its dynamic loader */
static const char *const waiting_module[] = {"libc.", "libc-", "libpthread", "ld-musl-", "[", NULL};
static const char *const java_primitive[] = {"java.util.concurrent.locks.",
	"java.util.concurrent.ForkJoinPool", "jdk.internal.", "sun.misc.", "java.lang.Object",
	"java.lang.Thread", "java.lang.VirtualThread", NULL};
static const char *const library[] = {
	"java.", "javax.", "jdk.", "sun.", "com.sun.", "kotlin.", "kotlinx.", "scala.", NULL};

static enum place frame_place(enum frame_type type, const struct profile_method *m)
{
	if (profile_method_nameless(m))
		return PLACE_NONE;
	if (type == FRAME_NATIVE && !name_begins_with_any(m->module, waiting_module))
		return PLACE_NATIVE;
	if (type == FRAME_VM)
		return name_begins_with_any(m->name, vm_primitive) ? PLACE_VM_PRIMITIVE : PLACE_VM;
	if (!frame_is_java(type))
		return PLACE_NONE;
	if (name_begins_with_any(m->class_name, java_primitive))
		return PLACE_JAVA_PRIMITIVE;
	return name_begins_with_any(m->class_name, library) ? PLACE_LIBRARY : PLACE_OWN;
}

bool profile_method_own(const struct profile_method *m)
{
	return *m->class_name && frame_place(FRAME_JAVA, m) == PLACE_OWN;
}

bool profile_frame_own(const struct profile *p, uint32_t frame)
{
	const struct profile_frame *f = profile_get_frame(p, frame);

	return frame_is_java(f->type) && profile_method_own(profile_get_method(p, f->method));
}

/* Patterns of class and name, each with at most one "*". */
static const struct {
	const char *class_name, *name;
	enum profile_idles kind;
} idles[] = {
#define JUC "java.util.concurrent."
	{JUC "ThreadPoolExecutor", "getTask", PROFILE_IDLES_EXECUTOR},
	{JUC "ForkJoinPool", "awaitWork", PROFILE_IDLES_EXECUTOR},
	{"org.apache.tomcat.util.threads.ThreadPoolExecutor", "getTask", PROFILE_IDLES_EXECUTOR},
	{"org.eclipse.jetty.util.thread.QueuedThreadPool*", "idleJobPoll", PROFILE_IDLES_EXECUTOR},
	{"org.eclipse.jetty.util.thread.ReservedThreadExecutor*", "reservedWait",
		PROFILE_IDLES_EXECUTOR},
	{"io.netty.util.concurrent.*", "takeTask", PROFILE_IDLES_EXECUTOR},
	{"io.netty.*", "epollWait*", PROFILE_IDLES_EXECUTOR},
	{"org.jboss.threads.EnhancedQueueExecutor*", "waitForTask", PROFILE_IDLES_EXECUTOR},
	{"kotlinx.coroutines.scheduling.*", "park", PROFILE_IDLES_EXECUTOR},
	{"java.util.Timer*", "*", PROFILE_IDLES_EXECUTOR},
	{"java.lang.ref.Reference", "waitForReferencePendingList", PROFILE_IDLES_OTHER},
	{"java.lang.ref.ReferenceQueue", "remove*", PROFILE_IDLES_OTHER},
	{"java.net.ServerSocket", "*ccept", PROFILE_IDLES_OTHER},
	{"sun.nio.ch.ServerSocketChannelImpl", "*ccept", PROFILE_IDLES_OTHER},
	{"sun.nio.ch.SelectorImpl", "*", PROFILE_IDLES_OTHER},
	{"sun.nio.ch.EPoll*", "*", PROFILE_IDLES_OTHER},
};

enum profile_idles profile_method_idles(const struct profile_method *m)
{
	for (size_t i = 0; *m->class_name && i < sizeof(idles) / sizeof(idles[0]); i++)
		if (*m->class_name == *idles[i].class_name &&
			java_name_matches(m->class_name, idles[i].class_name) &&
			java_name_matches(m->name, idles[i].name))
			return idles[i].kind;
	return PROFILE_IDLES_NOT;
}

bool model_stack_idles(const struct profile *p, uint32_t stack)
{
	bool java = false, vm = false;

	if (stack == PROFILE_ROOT_STACK || model_type(&p->stacks, stack) != FRAME_WAITS)
		return false;
	while ((stack = model_parent(&p->stacks, stack)) != PROFILE_ROOT_STACK) {
		const struct profile_method *m =
			profile_get_method(p, model_method(&p->stacks, stack));
		enum frame_type type = model_type(&p->stacks, stack);

		if (profile_method_idles(m))
			return true;
		if (frame_is_java(type)) {
			if (profile_method_own(m))
				return false;
			java = true;
		}
		if (frame_place(type, m) == PLACE_NATIVE)
			return false;
		vm = vm || type == FRAME_VM;
	}
	return vm && !java;
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

static uint32_t leaf_frame(const struct profile *p, const char *class_name, const char *name,
	const struct profile_io *io)
{
	struct buf text = {0};

	if (io)
		buf_printf(&text, "%s\t%s", io->what, io->where);
	uint32_t method = profile_method(p, class_name, name, buf_str(&text), "");
	buf_done(&text);
	return profile_frame(p, method, FRAME_WAITS, 0xffff, 0);
}

/* The leaf for a place: with its state, or with the target of I/O. */
static uint32_t place_frame(const struct profile *p, const char *class_name, const char *name,
	enum thread_state state, const struct profile_io *io)
{
	struct buf text = {0};

	if (io)
		buf_printf(&text, "%s: %s%s%s", name, io->what, *io->where ? " " : "", io->where);
	else
		buf_printf(&text, "%s %s", name, thread_states[state].name);
	uint32_t frame = leaf_frame(p, class_name, buf_str(&text), io);
	buf_done(&text);
	return frame;
}

static uint32_t io_frame(const struct profile *p, const struct profile_io *io)
{
	struct buf text = {0};

	buf_printf(&text, "[%s%s%s]", io->what, *io->where ? " " : "", io->where);
	uint32_t frame = leaf_frame(p, "", buf_str(&text), io);
	buf_done(&text);
	return frame;
}

/* True when the place may show this peer: it is among its recent ones, or there is space for one more. */
static bool may_name(struct profile *p, uint64_t place, uint64_t name)
{
	uint32_t oldest = 0;

	if (!p->io_places)
		p->io_places = xcalloc(MODEL_IO_PLACES, sizeof(*p->io_places));
	struct model_io_place *at = &p->io_places[place % MODEL_IO_PLACES];
	if (at->place != place)
		*at = (struct model_io_place){.place = place};
	for (uint32_t i = 0; i < MODEL_IO_NAMES && at->names[oldest].name; i++) {
		if (at->names[i].name == name) {
			at->names[i].second = p->now;
			return true;
		}
		if (!at->names[i].name || at->names[i].second < at->names[oldest].second)
			oldest = i;
	}
	if (at->names[oldest].name && p->now - at->names[oldest].second < MODEL_IO_S)
		return false;
	at->names[oldest].name = name;
	at->names[oldest].second = p->now;
	return true;
}

/* "[libc.so.6] sleeps": for a leaf without a name, its library. Other stacks stay as they are. */
static uint32_t nameless_child(struct profile *p, uint32_t stack, enum thread_state state)
{
	const struct profile_method *m = profile_get_method(p, model_method(&p->stacks, stack));
	struct buf name = {0};

	if (stack == PROFILE_ROOT_STACK || !profile_method_nameless(m) || !*m->module)
		return stack;
	buf_printf(&name, "[%s]", m->module);
	uint32_t frame = place_frame(p, "", buf_str(&name), state, NULL);
	buf_done(&name);
	return profile_stack_child(p, stack, frame);
}

uint32_t profile_stack_waiting(
	struct profile *p, uint32_t stack, enum thread_state state, const struct profile_io *io)
{
	uint32_t method = state >= THREAD_SLEEPING ? stack_place(p, stack) : PROFILE_NONE;
	const struct profile_method m = *profile_get_method(p, method);
	struct profile_io named;

	io = state == THREAD_IO ? io : NULL;
	if (io) {
		/* Omit the peer where the place has too many peers. */
		struct profile_io out = *io;
		uint64_t place = hash_bytes(m.full, strlen(m.full), 1);

		if (*io->where && !may_name(p, hash_bytes(io->what, strlen(io->what), place),
					  hash_bytes(io->where, strlen(io->where), 1)))
			out.where = "";
		named = out;
		io = &named;
	}
	if (method != PROFILE_NONE)
		return profile_stack_child(
			p, stack, place_frame(p, m.class_name, m.name, state, io));
	if (io)
		return profile_stack_child(p, stack, io_frame(p, io));
	return state >= THREAD_SLEEPING ? nameless_child(p, stack, state) : stack;
}

static bool frame_io(const struct profile *p, uint32_t frame, struct profile_io *out)
{
	const struct profile_frame *f = profile_get_frame(p, frame);
	const char *text = profile_get_method(p, f->method)->signature;
	const char *tab = strchr(text, '\t');

	if (f->type != FRAME_WAITS || !tab)
		return false;
	snprintf(out->what, sizeof(out->what), "%.*s", (int)(tab - text), text);
	out->where = tab + 1;
	return true;
}

bool profile_stack_io(const struct profile *p, uint32_t stack, struct profile_io *out)
{
	return frame_io(p, profile_get_stack(p, stack).frame, out);
}

bool model_io_apart(const struct profile *p, uint32_t leaf, uint32_t apart[2])
{
	const struct profile_method *m = profile_get_method(p, profile_get_frame(p, leaf)->method);
	struct buf name = {0}, suffix = {0};
	struct profile_io io;
	size_t len = strlen(m->name);

	if (!frame_io(p, leaf, &io))
		return false;
	buf_printf(&suffix, ": %s%s%s", io.what, *io.where ? " " : "", io.where);
	bool found = len > suffix.len && !strcmp(m->name + len - suffix.len, buf_str(&suffix));
	if (found)
		buf_add(&name, m->name, len - suffix.len);
	buf_done(&suffix);
	if (!found) /* no place, truncated, or an inconsistent recording */
		return false;
	apart[0] = place_frame(p, m->class_name, buf_str(&name), THREAD_IO, NULL);
	apart[1] = io_frame(p, &io);
	buf_done(&name);
	return true;
}
