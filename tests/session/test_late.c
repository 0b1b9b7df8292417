/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session: stacks wait for names without blocking the reader of the ring: without a limit in patient mode, else they
 * get addresses, which is reported. No drain blocks.
 */
#include "session/state.h"
#include "symbols/child/child.h"
#include "tests/session/fake_agent.h"
#include "tests/tap.h"

#include <dlfcn.h>
#include <stdlib.h>

#define LONG_NS (60 * NS_PER_S)

static const char *libc_path;
static uint64_t offset; /* of qsort in libc */

/* Publishes a trace in qsort and one sample of it. */
static void publish(struct fake_agent *a, uint32_t id)
{
	const uint64_t wire = WIRE_NATIVE_FRAME(1, offset);

	fake_trace(a, id, 1, 0, &wire, 1);
	fake_delta(a, EVENT_CPU, a->header.start_mono_ns, id, 1, 1000);
	ring_commit(&a->ring);
}

static struct session *begin(struct fake_agent *a)
{
	struct hotspot jvm = {.pid = getpid(), .nspid = getpid()};
	struct session *s = session_new(&jvm, profile_new());

	fake_agent_open(a, "late");
	s->mapping.header = a->header;
	s->mapping.status = a->status;
	s->mapping.control = a->control;
	s->mapping.cursors = (struct wire_cursors *)(a->base + a->header.cursors_off);
	s->mapping.ring = a->base + a->header.ring_off;
	session_begin(s);
	fake_module(a, 1, libc_path);
	publish(a, 1);
	return s;
}

static void end(struct session *s, struct fake_agent *a)
{
	struct profile *p = s->profile;

	session_close(s);
	profile_free(p);
	fake_agent_close(a);
}

static const char *leaf(const struct session *s)
{
	struct profile *p = s->profile;
	uint32_t stack = profile_info(p).stacks - 1;
	const struct profile_frame *f = profile_get_frame(p, profile_get_stack(p, stack).frame);

	return profile_get_method(p, f->method)->name;
}

static void test_waits(void)
{
	struct fake_agent a;
	struct session *s = begin(&a);
	int samples = session_pull(s, NULL);
	uint64_t begin_ns = clock_mono_ns();

	is_int(samples, 0, "a stack waits while its names are being read");
	is_int(ring_reader_pending(&s->ring), 0, "the ring is drained although the stack waits");
	s->late.since_ns -= LONG_NS / 20;
	ok(strstr(session_note(s), "waiting for names: reading "),
		"the session's note says that stacks wait for names: %s", session_note(s));
	ok(!strncmp(session_names_note(s), "waiting for names: reading ", 27),
		"the note for the live view says that stacks wait for names");
	s->names_patient = true;
	s->late.waited_ns = LONG_NS;
	for (uint32_t id = 2; samples < 2 && clock_mono_ns() - begin_ns < LONG_NS; id += id == 2) {
		if (id == 2)
			publish(&a, id);
		symbols_wait(s->symbols, 10);
		samples += session_pull(s, NULL);
	}
	is_int(samples, 2, "in patient mode all samples arrive");
	is_str(leaf(s), "qsort", "in patient mode the frame has its name");
	is_str(session_note(s), "", "once all names are known the session's note is empty");
	is_str(session_names_note(s), "",
		"once all names are known the note for the live view is empty");
	end(s, &a);
}

static void test_gives_up(void)
{
	struct fake_agent a;
	struct session *s = begin(&a);
	char address[32];

	snprintf(address, sizeof(address), "0x%llx", (unsigned long long)offset);
	s->late.waited_ns = LONG_NS;
	is_int(session_pull(s, NULL), 1, "after the waiting limit the stack is released");
	is_str(leaf(s), address, "the frame of a released stack has an address instead of a name");
	ok(strstr(session_note(s), "1 stack has addresses instead of names: "),
		"the note gives the number of stacks without names: %s", session_note(s));
	end(s, &a);
}

int main(int argc, char **argv)
{
	struct proc_map whole = {.path = "", .end = UINT64_MAX};
	struct symbols *symbols;
	Dl_info info;

	if (elf_child_main(argc, argv, NULL))
		return 0;
	symbols = symbols_new(0, 0);
	if (dladdr((void *)(uintptr_t)qsort, &info))
		whole.path = libc_path = info.dli_fname;
	offset = symbols_function(symbols, symbols_module_add(symbols, &whole), &whole, "qsort");
	symbols_free(symbols);
	if (!offset)
		tap_skip_all("this libc has no qsort in its file");
	test_waits();
	test_gives_up();
	return tap_done();
}
