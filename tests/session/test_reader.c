/* SPDX-License-Identifier: Apache-2.0 */
/* session: from records in the ring to the model: names, kinds of frames, seconds, missing and invalid records. */
#include "base/clean.h"
#include "session/state.h"
#include "tests/session/fake_agent.h"
#include "tests/tap.h"

#define SECOND(n) (agent.header.start_mono_ns + (uint64_t)(n)*NS_PER_S + 1)

static struct fake_agent agent;
static struct profile *profile;
static struct session *session;

static void begin(void)
{
	struct hotspot jvm = {.pid = getpid(), .nspid = getpid()};
	struct err err = {0};

	fake_agent_open(&agent, "reader");
	((struct wire_header *)agent.base)->start_mono_ns -= 100 * NS_PER_S;
	((struct wire_header *)agent.base)->start_wall_ns -= 100 * NS_PER_S; /* the same instant */
	agent.header.start_mono_ns -= 100 * NS_PER_S;
	profile = profile_new();
	session = session_new(&jvm, profile);
	if (mapping_find(&session->mapping, getpid(), "reader", &err) != 1)
		ok(false, "the fake agent is found: %s", err.what);
	session->lease = lease_start(&session->mapping, LEASE_BEAT_MS, LEASE_STALL_MS, &err);
	session_begin(session);
}

static void end(void)
{
	/* Detaching would wait for an answer of the agent, which this one does not give. */
	atomic_store(&agent.status->agent_state, WIRE_AGENT_LEFT);
	session_close(session);
	profile_free(profile);
	fake_agent_close(&agent);
}

/* Drains the ring and waits for the names of native frames, which another thread reads. */
static int drain(struct session *s, struct err *err)
{
	int samples = session_drain(s, err), more = 0;

	while (samples >= 0 && late_any(&s->late)) {
		session_wait(s, 100);
		more = session_drain(s, err);
		samples = more < 0 ? more : samples + more;
	}
	return samples;
}

/* An event's stacks as "thread;root;...;leaf COUNT WEIGHT" lines, not sorted. */

static void add_frames(struct buf *out, uint32_t stack)
{
	struct profile_stack s = profile_get_stack(profile, stack);
	const struct profile_frame *f;

	if (stack == PROFILE_ROOT_STACK)
		return;
	add_frames(out, s.parent);
	f = profile_get_frame(profile, s.frame);
	buf_printf(out, ";%c:%s", frame_types[f->type].letter,
		profile_get_method(profile, f->method)->full);
}

static void add_line(void *ctx, const struct profile_part *part)
{
	struct buf *out = ctx;

	buf_adds(out, profile_get_thread(profile, part->thread)->name);
	add_frames(out, part->stack);
	buf_printf(out, " %d %d\n", (int)part->count, (int)part->weight);
}

static const char *lines(struct buf *out, int event, uint32_t from, uint32_t to)
{
	struct profile_query q = {
		.event = event, .from = from, .to = to, .thread = PROFILE_ANY_THREAD};

	buf_clear(out);
	profile_each(profile, &q, add_line, out);
	return buf_str(out);
}

static void test_names(void)
{
	const uint64_t frames[] = {
		WIRE_METHOD_FRAME(WIRE_FRAME_CLASS, 4, 0),
		WIRE_METHOD_FRAME(WIRE_FRAME_STUB, 3, 0),
		WIRE_METHOD_FRAME(WIRE_FRAME_INLINED, 2, 7),
		WIRE_METHOD_FRAME(WIRE_FRAME_C2, 1, 5),
		WIRE_METHOD_FRAME(WIRE_FRAME_C1, 1, 6),
		WIRE_METHOD_FRAME(WIRE_FRAME_INTERPRETED, 1, WIRE_BCI_UNKNOWN),
		WIRE_NATIVE_FRAME(1, 0x1234),
		WIRE_FRAME(WIRE_FRAME_RAW, 0x7f0000001000),
	};
	struct buf out = {0};
	struct err err = {0};

	begin();
	fake_method(&agent, 1, "org/example/Shop$Cart", "add", "(I)V");
	fake_method(&agent, 2, "org/example/Shop$$Lambda+0x00007f10", "apply", "()V");
	fake_method(&agent, 3, "", "arraycopy", "");
	fake_method(&agent, 4, "", "[[Ljava/lang/String;", "");
	fake_thread(&agent, 1, getpid(), WIRE_THREAD_JAVA, "worker \033[1m-1");
	fake_module(&agent, 1, "/nonexistent/libshop.so");
	fake_trace(&agent, 1, 1, 0, frames, sizeof(frames) / sizeof(frames[0]));
	fake_delta(&agent, WIRE_CPU, SECOND(3), 1, 2, 20);
	fake_tick(&agent, SECOND(3));
	is_int(drain(session, &err), 2, "both samples are read");
	is_str(lines(&out, EVENT_CPU, 3, 4),
		"worker "
		"?[1m-1;n:[anon];n:[libshop.so];I:org.example.Shop$Cart.add;J:org.example.Shop$"
		"Cart.add;J:org.example.Shop$Cart.add;i:org.example.Shop$$Lambda/"
		"0x00007f10.apply;v:arraycopy;c:java.lang.String[][] 2 20\n",
		"each kind of frame has its name and letter");
	is_str(lines(&out, EVENT_CPU, 4, 5), "", "the samples are in their second only");
	is_str(lines(&out, EVENT_ALLOC, 0, UINT32_MAX), "", "the samples are in their event only");
	is_int(profile_get_thread(profile, 0)->kind, THREAD_JAVA, "the thread has its kind");
	ok(strstr(session_note(session), "libshop.so") != NULL,
		"the note names a library that cannot be read");
	fake_thread(&agent, 1, getpid(), WIRE_THREAD_JAVA, "renamed");
	fake_tick(&agent, SECOND(4));
	drain(session, &err);
	is_str(profile_get_thread(profile, 0)->name, "renamed", "a thread is renamed");
	buf_done(&out);
	end();
}

/* The kernel truncates names to 15 characters; the names of HotSpot's own threads are completed. */
static void test_truncated_names(void)
{
	static const struct {
		uint32_t kind;
		const char *truncated, *whole;
	} names[] = {
		{WIRE_THREAD_COMPILER, "C2 CompilerThre", "C2 CompilerThread"},
		{WIRE_THREAD_COMPILER, "C1 CompilerThread0", "C1 CompilerThread0"},
		{WIRE_THREAD_COMPILER, "C2 Comp..hread0", "C2 CompilerThread0"},
		{WIRE_THREAD_COMPILER, "C1 Comp..read12", "C1 CompilerThread12"},
		{WIRE_THREAD_VM, "VM Periodic Tas", "VM Periodic Task Thread"},
		{WIRE_THREAD_VM, "VM Peri..Thread", "VM Periodic Task Thread"},
		{WIRE_THREAD_VM, "VM Thread", "VM Thread"},
		{WIRE_THREAD_JAVA, "C2 CompilerThre", "C2 CompilerThre"},
		{WIRE_THREAD_NATIVE, "VM Periodic Tas", "VM Periodic Tas"},
	};
	struct err err = {0};

	begin();
	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		fake_thread(&agent, i + 1, getpid(), names[i].kind, names[i].truncated);
	fake_tick(&agent, SECOND(3));
	drain(session, &err);
	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		is_str(profile_get_thread(profile, i)->name, names[i].whole,
			"truncated names of HotSpot's threads are completed, others are kept");
	end();
}

/* The target of a wait for I/O is part of the leaf frame. Its text comes from another process, and is cleaned. */
static void test_io(void)
{
	const uint64_t known[] = {
		WIRE_FRAME(WIRE_FRAME_IO, 2), WIRE_METHOD_FRAME(WIRE_FRAME_C2, 1, 5)};
	const uint64_t unknown[] = {
		WIRE_FRAME(WIRE_FRAME_IO, 99), WIRE_METHOD_FRAME(WIRE_FRAME_C2, 1, 5)};
	const uint16_t in_io = WIRE_TRACE_IN_STATE(WIRE_STATE_IO);
	struct buf out = {0};
	struct err err = {0};

	begin();
	fake_method(&agent, 1, "a/B", "c", "()V");
	fake_method(&agent, 2, "", "file read\t/tmp/a\tb\033c", "");
	fake_thread(&agent, 1, getpid(), WIRE_THREAD_JAVA, "w");
	fake_trace(&agent, 1, 1, in_io, known, 2);
	fake_trace(&agent, 2, 1, in_io, unknown, 2);
	fake_trace(&agent, 3, 1, in_io, known, 1);
	for (uint32_t i = 1; i <= 3; i++)
		fake_delta(&agent, WIRE_WALL, SECOND(i), i, 1, 1);
	fake_tick(&agent, SECOND(3));
	drain(session, &err);
	is_str(lines(&out, EVENT_WALL, 1, 2), "w;J:a.B.c;w:a.B.c: file read /tmp/a?b?c 1 1\n",
		"the leaf has the description of the file, cleaned");
	is_str(lines(&out, EVENT_WALL, 2, 3), "w;J:a.B.c;w:a.B.c is in I/O 1 1\n",
		"without a description the leaf is \"is in I/O\"");
	is_str(lines(&out, EVENT_WALL, 3, 4), "w;?:[unknown];w:[file read /tmp/a?b?c] 1 1\n",
		"without a Java frame the description is a frame of its own");
	buf_done(&out);
	end();
}

/* Samples of lock owners are separate from waits. */
static void test_owners(void)
{
	const uint64_t frames[] = {WIRE_METHOD_FRAME(WIRE_FRAME_C2, 1, 5)};
	struct profile_query owners = profile_whole(EVENT_LOCK), waits = owners;
	struct err err = {0};

	owners.holders = true;
	begin();
	fake_method(&agent, 1, "a/B", "c", "()V");
	fake_thread(&agent, 1, getpid(), WIRE_THREAD_JAVA, "w");
	fake_trace(&agent, 1, 1, WIRE_TRACE_IN_STATE(WIRE_STATE_HOLDS), frames, 1);
	fake_trace(&agent, 2, 1, 0, frames, 1);
	fake_delta(&agent, WIRE_LOCK, SECOND(1), 1, 1, 70);
	fake_delta(&agent, WIRE_LOCK, SECOND(1), 2, 1, 30);
	fake_tick(&agent, SECOND(2));
	drain(session, &err);
	is_int(profile_sum(profile, &waits).weight, 30, "a query of waits has the wait");
	is_int(profile_sum(profile, &owners).weight, 70, "a query of owners has the owner");
	end();
}

static void test_missing(void)
{
	const uint64_t frames[] = {WIRE_METHOD_FRAME(WIRE_FRAME_C2, 99, 0), WIRE_FRAME(200, 1),
		WIRE_METHOD_FRAME(WIRE_FRAME_BREAK, 98, 0)};
	const uint64_t unread[] = {WIRE_METHOD_FRAME(WIRE_FRAME_C2, 97, 0)};
	struct buf out = {0};
	struct err err = {0};

	begin();
	fake_trace(&agent, 5, 7, WIRE_TRACE_TRUNCATED, frames, 3);
	fake_trace(&agent, 6, 7, 0, NULL, 0);
	fake_method(&agent, 97, "", "[unloaded]", "");
	fake_trace(&agent, 8, 7, 0, unread, 1);
	fake_delta(&agent, WIRE_CPU, SECOND(1), 8, 5, 5);
	fake_delta(&agent, WIRE_CPU, SECOND(1), 5, 1, 1);
	fake_delta(&agent, WIRE_CPU, SECOND(1), 6, 2, 2);
	fake_delta(&agent, WIRE_CPU, SECOND(1), 4242, 3, 3);
	fake_tick(&agent, SECOND(1));
	is_int(drain(session, &err), 11, "samples without known names are not lost");
	lines(&out, EVENT_CPU, 0, UINT32_MAX);
	ok(strstr(out.data, "[unknown thread];?:[truncated];?:[unknown_reason];?:[unknown_frame];"
			    "?:[unknown_method] 1 1\n") != NULL,
		"unknown thread, frame, reason and method have placeholder names");
	ok(strstr(out.data, "[unknown thread];?:[unloaded] 5 5\n") != NULL,
		"a method that the agent could not read has the agent's placeholder");
	ok(strstr(out.data, "[unknown thread];?:[unknown] 2 2\n") != NULL,
		"an empty stack has a placeholder frame");
	ok(strstr(out.data, "[unknown thread];?:[unknown_trace] 3 3\n") != NULL,
		"an unknown trace has a placeholder frame");
	fake_method(&agent, 99, "a/B", "late", "()V");
	fake_trace(&agent, 7, 7, 0, frames, 1);
	fake_delta(&agent, WIRE_CPU, SECOND(2), 7, 1, 1);
	fake_tick(&agent, SECOND(2));
	drain(session, &err);
	ok(strstr(lines(&out, EVENT_CPU, 2, 3), "J:a.B.late 1") != NULL,
		"a name that arrives late is used for later traces");
	buf_done(&out);
	end();
}

static void test_time(void)
{
	const uint64_t frame = WIRE_METHOD_FRAME(WIRE_FRAME_C2, 1, 0);
	struct buf out = {0};
	struct err err = {0};
	int64_t counts[5];

	begin();
	fake_method(&agent, 1, "a/B", "c", "()V");
	fake_trace(&agent, 1, 1, 0, &frame, 1);
	fake_delta(&agent, WIRE_CPU, agent.header.start_mono_ns - 5, 1, 1, 1);
	fake_delta(&agent, WIRE_CPU, SECOND(10) - 1, 1, 10, 10); /* the last ns of second 9 */
	fake_delta(&agent, WIRE_CPU, SECOND(10), 1, 100, 100);
	fake_tick(&agent, SECOND(12));
	fake_delta(&agent, WIRE_CPU, SECOND(3), 1, 1000, 1000); /* too late for its second */
	fake_note(&agent, WIRE_NOTE_GAP, SECOND(16), SECOND(14), "parked");
	fake_tick(&agent, SECOND(17));
	is_int(drain(session, &err), 1111, "all samples are read");
	ok(strstr(lines(&out, EVENT_CPU, 0, 1), " 1 1\n") != NULL,
		"a sample from before the session counts in second 0");
	ok(strstr(lines(&out, EVENT_CPU, 9, 10), " 10 10\n") != NULL,
		"a sample in the last nanosecond of a second belongs to it");
	ok(strstr(lines(&out, EVENT_CPU, 10, 11), " 1100 1100\n") != NULL,
		"a late sample counts in the earliest second that the model accepts");
	is_int(profile_info(profile).now, 17, "a tick advances the time without samples");
	profile_history(profile, EVENT_CPU, 18, counts, 5);
	ok(counts[1] == -1 && counts[2] == -1 && counts[3] == 0 && counts[4] == 0,
		"a gap is recorded in the history");
	fake_tick(&agent, UINT64_MAX);
	drain(session, &err);
	ok(profile_info(profile).now < 4000, "a tick in the far future does not advance the time");
	buf_done(&out);
	end();
}

static void test_unknown_types(void)
{
	struct err err = {0};
	struct wire_record *rec;

	begin();
	rec = ring_reserve(&agent.ring, 4711, 4096);
	rec->flags = 0xffff;
	fake_tick(&agent, SECOND(5));
	is_int(drain(session, &err), 0, "a record of an unknown type is not an error");
	is_int(reader_stats(session->reader)->skipped, 1, "an unknown record is counted");
	is_int(profile_info(profile).now, 5, "the record after an unknown one is read");
	end();
}

/* Each record type with sizes that exceed the record. */
static void test_impossible(void)
{
	static const struct {
		const char *what;
		uint16_t type;
		uint32_t size;
		size_t offset;
		uint32_t value;
	} rows[] = {
		{"a module with a path of 9 bytes", WIRE_REC_MODULE, 64,
			offsetof(struct wire_module, path_bytes), 9},
		{"a module with a path of 4 GB", WIRE_REC_MODULE, 64,
			offsetof(struct wire_module, path_bytes), UINT32_MAX},
		{"a method with names of 9 bytes", WIRE_REC_METHOD, 32,
			offsetof(struct wire_method, class_bytes), 9},
		{"a method with names of 4 GB", WIRE_REC_METHOD, 32,
			offsetof(struct wire_method, class_bytes), UINT32_MAX},
		{"a thread with a name of 9 bytes", WIRE_REC_THREAD, 40,
			offsetof(struct wire_thread, name_bytes), 9},
		{"a trace with 2 frames", WIRE_REC_TRACE, 32,
			offsetof(struct wire_trace, frame_count), 2},
		{"a trace with 2^32 frames", WIRE_REC_TRACE, 32,
			offsetof(struct wire_trace, frame_count), UINT32_MAX},
		{"a trace without an id", WIRE_REC_TRACE, 32, offsetof(struct wire_trace, id), 0},
		{"a record with 2 deltas", WIRE_REC_DELTAS, 48,
			offsetof(struct wire_deltas, delta_count), 2},
		{"a record with 2^32 deltas", WIRE_REC_DELTAS, 48,
			offsetof(struct wire_deltas, delta_count), UINT32_MAX},
		{"deltas of an invalid event", WIRE_REC_DELTAS, 48,
			offsetof(struct wire_deltas, event), WIRE_EVENTS},
		{"a note with a text of 9 bytes", WIRE_REC_NOTE, 40,
			offsetof(struct wire_note, text_bytes), 9},
		{"a short tick", WIRE_REC_TICK, 16, offsetof(struct wire_tick, time_ns), 0},
		{"a short trace", WIRE_REC_TRACE, 16, offsetof(struct wire_trace, id), 1},
		{"a short module", WIRE_REC_MODULE, 8, 0, 8},
		{"a short method", WIRE_REC_METHOD, 16, 0, 16},
		{"a short thread", WIRE_REC_THREAD, 24, 0, 24},
		{"short deltas", WIRE_REC_DELTAS, 24, 0, 24},
		{"a short note", WIRE_REC_NOTE, 24, 0, 24},
		{"a wait that ends before it begins", WIRE_REC_WAIT, 48,
			offsetof(struct wire_wait, since_ns), 9},
		{"a short wait", WIRE_REC_WAIT, 40, 0, 40},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = {0};
		unsigned char *rec;

		begin();
		rec = ring_reserve(&agent.ring, rows[i].type, rows[i].size);
		memcpy(rec + rows[i].offset, &rows[i].value, sizeof(rows[i].value));
		ring_commit(&agent.ring);
		ok(drain(session, &err) == -1 && err.kind == ERR_FAILED,
			"an invalid record is an error (%s): %s", rows[i].what,
			err.what + (strstr(err.what, "ends: ")
						   ? strstr(err.what, "ends: ") - err.what
						   : 0));
		is_int(drain(session, &err), -1, "the session stays closed after the record");
		end();
	}
}

/* Many ids, far apart: memory grows with the number of ids, not with their values. */
static void test_ids(void)
{
	const uint32_t ids[] = {1, 1u << 12, 1u << 18, (1u << 18) + 1, 1u << 30, UINT32_MAX, 3};
	struct err err = {0};
	struct buf out = {0};
	uint64_t frame;

	begin();
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		char name[16];

		snprintf(name, sizeof(name), "m%zu", i);
		fake_method(&agent, ids[i], "a/B", name, "()V");
		fake_thread(&agent, ids[i], (int)i + 1, WIRE_THREAD_NATIVE, "");
		fake_module(&agent, ids[i], "/x");
		frame = WIRE_METHOD_FRAME(WIRE_FRAME_C2, ids[i], 0);
		fake_trace(&agent, ids[i], ids[i], 0, &frame, 1);
		fake_delta(&agent, WIRE_CPU, SECOND(1), ids[i], 1, 1);
	}
	fake_tick(&agent, SECOND(1));
	is_int(drain(session, &err), 7, "samples of arbitrary ids are read");
	lines(&out, EVENT_CPU, 0, UINT32_MAX);
	ok(strstr(out.data, "thread 6;J:a.B.m5 1 1\n") != NULL && !strstr(out.data, "unknown"),
		"arbitrary ids are not mixed up");
	buf_done(&out);
	end();
}

static void test_lines(void)
{
	/* bci 0 line 7, bci 5 line 9; since JDK 20: bci 0 line 100 */
	static const uint8_t small[] = {0 << 3 | 7, 5 << 3 | 2, 0},
			     since20[] = {0xff, 1, 201, 1, 0};
	struct {
		struct wire_method rec;
		char text[16];
	} m = {.rec = {.class_bytes = 1, .name_bytes = 1}, .text = "ab"};
	struct frames *f;
	int line[4];

	profile = profile_new();
	f = frames_new(profile, NULL);
	m.rec.id = 1;
	m.rec.line_bytes = sizeof(small);
	memcpy(m.rec.text + 2, small, sizeof(small));
	frames_method(f, &m.rec);
	m.rec.id = 2;
	m.rec.flags = WIRE_METHOD_LINES_20;
	m.rec.line_bytes = sizeof(since20);
	memcpy(m.rec.text + 2, since20, sizeof(since20));
	frames_method(f, &m.rec);
	for (uint32_t i = 0; i < 4; i++)
		line[i] = profile_get_frame(
			profile, frames_get(f, WIRE_METHOD_FRAME(WIRE_FRAME_C2, i < 3 ? 1 : 2,
						       i == 2 ? WIRE_BCI_UNKNOWN : i * 4)))
				  ->line;
	ok(line[0] == 7 && line[1] == 7, "a frame has the line of its bytecode");
	is_int(line[2], 0, "a frame without a bytecode index has no line");
	is_int(line[3], 100, "a line table of JDK 20 is decoded");
	frames_free(f);
	profile_free(profile);
}

/* More methods than are retained: the older half is evicted, the newer ones are found by their ids. */
static void test_flood(void)
{
	struct frames *f;
	struct {
		struct wire_method rec;
		char text[8];
	} m = {.rec = {.class_bytes = 1, .name_bytes = 1}, .text = "ab"};
	const struct profile_frame *frame;

	profile = profile_new();
	f = frames_new(profile, NULL);
	for (uint32_t id = 1; id <= (1u << 20) + 5; id++) {
		m.rec.id = id;
		m.rec.text[1] = (char)('a' + id % 7);
		frames_method(f, &m.rec);
	}
	frame = profile_get_frame(
		profile, frames_get(f, WIRE_METHOD_FRAME(WIRE_FRAME_C2, 1u << 20, 0)));
	is_str(profile_get_method(profile, frame->method)->full,
		(char[]){'a', '.', (char)('a' + (1u << 20) % 7), 0},
		"a recent method is found after a million others");
	frame = profile_get_frame(profile, frames_get(f, WIRE_METHOD_FRAME(WIRE_FRAME_C2, 5, 0)));
	is_str(profile_get_method(profile, frame->method)->full, "[unknown_method]",
		"an old method is evicted");
	frames_free(f);
	profile_free(profile);
}

/* The sentence for each reason of an agent to leave. */
static void test_reasons(void)
{
	static const struct {
		uint32_t left;
		const char *says;
	} reasons[] = {
		{WIRE_LEFT_ASKED, "jhot stop"},
		{WIRE_LEFT_SILENT, "no heartbeat"},
		{WIRE_LEFT_EXIT, "the JVM is ending"},
		{WIRE_LEFT_FORBIDDEN, "seccomp filter"},
		{WIRE_LEFT_NOT, "without giving a reason"},
		{1000, "without giving a reason"},
	};
	struct err err;

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		begin();
		atomic_store(&agent.status->left, reasons[i].left);
		atomic_store(&agent.status->agent_state, WIRE_AGENT_LEFT);
		session->left_ns = 1; /* long ago */
		err = (struct err){0};
		session_drain(session, &err);
		ok(strstr(err.what, reasons[i].says) != NULL, "reason %u has a sentence: %s",
			reasons[i].left, err.what);
		end();
	}
}

static void test_ends(void)
{
	struct err err = {0};
	int samples;

	begin();
	fake_tick(&agent, SECOND(1));
	atomic_store(&agent.status->agent_state, WIRE_AGENT_LEFT);
	is_int(drain(session, &err), 0,
		"drain does not wait for the JVM to exit after the agent left");
	while ((samples = drain(session, &err)) >= 0)
		session_wait(session, 100000);
	is_int(samples, -1, "the session ends if the JVM does not exit");
	is_int(reader_stats(session->reader)->ticks, 1, "the agent's last records are read");
	is_int(session_wait(session, 100000), 1, "session_wait returns at once after the end");
	end();
	begin();
	atomic_store(&((struct wire_cursors *)(agent.base + agent.header.cursors_off))->head,
		1ull << 40);
	is_int(drain(session, &err), -1, "invalid cursors end the session");
	ok(strstr(err.what, "invalid data") != NULL, "the error says that the data is invalid");
	end();
}

static void test_clean(void)
{
	static const char *const cases[][2] = {
		{"java/util/HashMap", "java.util.HashMap"},
		{"[B", "byte[]"},
		{"[[J", "long[][]"},
		{"[Lfoo/Bar;", "foo.Bar[]"},
		{"[Q", "Q[]"},
		{"[unloaded]", "[unloaded]"},
		{"[names_full]", "[names_full]"},
		{"[L]x];", "]x][]"},
		{"[", "[]"},
		{"", ""},
		{"foo/Bar$$Lambda+0x0000001f", "foo.Bar$$Lambda/0x0000001f"},
		{"foo/Bar$$Lambda$14/0x0000001f", "foo.Bar$$Lambda$14/0x0000001f"},
		{"caf\xc3\xa9/\xe2\x82\xac", "caf\xc3\xa9.\xe2\x82\xac"},
		{"x\xed\xa0\xbd\xed\xb8\x80y", "x\xf0\x9f\x98\x80y"}, /* a surrogate pair */
		{"x\xed\xa0\xbdy", "x?y"},                            /* half of one */
		{"\xff\xc3", "??"},
		{"a\xc0\x80z", "a?z"},
		{"line\nfeed\x7f", "line?feed?"},
	};
	char small[6];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf out = {0};

		clean_add_class(&out, cases[i][0], strlen(cases[i][0]));
		is_str(buf_str(&out), cases[i][1], "a class name is converted for display");
		buf_done(&out);
	}
	clean_text(small, sizeof(small), "abc\xe2\x82\xac", 6);
	is_str(small, "abc", "a text is not truncated inside a character");
}

/* The distribution of a second's weight, of a publication with halves and of one without. Lock owners are excluded. */
static void test_pulse(void)
{
	const uint64_t frame = WIRE_METHOD_FRAME(WIRE_FRAME_C2, 1, 5);
	uint8_t parts[PROFILE_PULSE];
	struct wire_tick *tick;
	struct err err = {0};

	begin();
	fake_method(&agent, 1, "org/example/Shop", "serve", "()V");
	fake_thread(&agent, 1, getpid(), WIRE_THREAD_JAVA, "worker");
	fake_trace(&agent, 1, 1, 0, &frame, 1);
	fake_trace(&agent, 2, 1, WIRE_TRACE_IN_STATE(WIRE_STATE_HOLDS), &frame, 1);
	fake_delta(&agent, WIRE_LOCK, SECOND(3) + 100 * NS_PER_MS, 2, 1, 1000);
	fake_delta(&agent, WIRE_CPU, SECOND(3) + 100 * NS_PER_MS, 1, 4, 400);
	tick = ring_reserve(&agent.ring, WIRE_REC_TICK, sizeof(*tick));
	tick->since_ns = SECOND(3);
	tick->time_ns = SECOND(3) + 100 * NS_PER_MS;
	tick->half_ns = SECOND(3) + 50 * NS_PER_MS;
	tick->half_weight[WIRE_CPU] = 300;
	fake_delta(&agent, WIRE_CPU, SECOND(3) + 200 * NS_PER_MS, 1, 2, 200);
	fake_tick(&agent, SECOND(3) + 200 * NS_PER_MS);
	drain(session, &err);
	ok(profile_pulse(profile, EVENT_CPU, 3, parts), "a second's distribution is known");
	ok(parts[0] == 127 && parts[1] == 42 && parts[2] == 42 && parts[3] == 42 && !parts[4],
		"a distribution follows the halves, or is even: %u %u %u %u %u", parts[0], parts[1],
		parts[2], parts[3], parts[4]);
	ok(!profile_pulse(profile, EVENT_LOCK, 3, parts), "lock owners have no distribution");
	end();
}

int main(void)
{
	test_clean();
	test_pulse();
	test_names();
	test_truncated_names();
	test_io();
	test_owners();
	test_missing();
	test_time();
	test_unknown_types();
	test_impossible();
	test_ids();
	test_lines();
	test_flood();
	test_ends();
	test_reasons();
	return tap_done();
}
