/* SPDX-License-Identifier: Apache-2.0 */
/* Sets a session up: reads HotSpot's layout, chooses a signal, lists the threads, starts the VM-call thread. */
#include "sampler/calls.h"
#include "sampler/engine/perf_fd.h"
#include "sampler/session/publisher.h"

#include "sampler/engine/collect.h"
#include "sampler/engine/events.h"
#include "sampler/engine/lock/lock.h"
#include "sampler/jvm/jvm.h"
#include "sampler/procfile.h"
#include "sampler/publish/modules.h"
#include "sampler/publish/publish.h"
#include "sampler/session/epochs.h"
#include "sampler/session/files.h"
#include "sampler/session/headroom.h"
#include "sampler/session/kept.h"
#include "sampler/session/scan.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"
#include "sampler/task.h"
#include "sampler/text.h"

#include "walk/load/mem.h"

#include <string.h>
#include <sys/resource.h>

/* Prefix of the agent's file name, used by front ends of every version: attach/place.h. */
#define SETUP_AGENT   "libjhot-"

#define OTHERS_NAME   "/memfd:" WIRE_MEMFD_PREFIX
#define OTHERS_BUFFER 8192

/*
 * Attempts to validate the layout before it is rejected, with exponential back-off: threads in a transient state prove
 * nothing, and may stay in it for long when they get no core.
 */
#define TESTS    8
#define FIRST_NS 2000000

/* The layout if it fits this JVM; otherwise NULL, with the contradiction in the note. */
static const struct walk_layout *setup_tested(struct sampler *s, const struct walk_mem *mem)
{
	uint64_t pause_ns = FIRST_NS;
	const char *wrong = "";
	struct wire_status *status = s->shared.status;

	for (int i = 0; i < TESTS && wrong; i++) {
		if (i) {
			raw_sleep(pause_ns);
			pause_ns *= 2;
		}
		mem_refresh(mem);
		wrong = walk_layout_test(s->layout_memory, mem);
	}
	if (!wrong)
		return s->layout_memory;
	text_set(status->walker_note, sizeof(status->walker_note), wrong);
	return NULL;
}

static void setup_walker(struct sampler *s)
{
	SELF_LINES_OF(SELF_LINES) lines;
	struct self_mem self;
	struct wire_status *status = s->shared.status;
	struct walk_tables tables = {.symbol = jvm_symbol};
	bool full;

	self_mem_open(&self, sig_copy_more, &s->kept, self_lines(&lines));
	modules_refresh(s->modules, &full);
	modules_range(s->modules, jvm_inside(), &tables.libjvm_start, &tables.libjvm_end);
	if (walk_layout_read(s->layout_memory, &self.mem, &tables, status->walker_note,
		    sizeof(status->walker_note)) == 0)
		s->layout = setup_tested(s, &self.mem);
	if (walk_threads_readable(s->layout_memory))
		s->thread_layout = s->layout_memory;
	if (s->force_agct) {
		s->layout = NULL;
		text_set(status->walker_note, sizeof(status->walker_note),
			"requested by the option walker=agct");
	}
	debug_info_begin(s);
	if (!s->layout && s->thread_layout) /* AsyncGetCallTrace needs the JavaThread */
		jvm_agct_open(s->agct);
	text_set(status->walker, sizeof(status->walker),
		s->layout       ? "vmstructs"
		: s->agct->call ? "agct"
				: "native");
}

static const char counter_names[][16] = {
#define COUNTER_NAME(name, text) text,
	COUNTERS(COUNTER_NAME)
#undef COUNTER_NAME
};

/* Sets the counters' names; those of breaks without the brackets. */
static void setup_counters(struct sampler *s)
{
	struct wire_status *status = s->shared.status;

	for (uint32_t i = 0; i < COUNTER_COUNT; i++) {
		struct wire_counter *counter = &status->counters[i];
		struct text text = text_into(counter->name, sizeof(counter->name));
		const char *name =
			i < COUNTER_BREAKS
				? counter_names[i]
				: walk_break_name((enum walk_break)(i - COUNTER_BREAKS + 1)) + 1;

		text_add_bytes(&text, name, strcspn(name, "]"));
	}
	atomic_store(&status->counters_used, COUNTER_COUNT);
}

/* --- other agents in this process ------------------------------------------------------------------- */

/*
 * An agent of another version, or on musl a second mapping of the same one, shares memory with its front end from
 * before it installs a handler until after its end. All versions recognize that memory by its name.
 */

struct others {
	const char *own; /* token of this agent's session */
	bool live;
};

static void others_line(void *ctx, const char *line, size_t bytes)
{
	const char *slash = memchr(line, '/', bytes);
	struct others *others = ctx;
	size_t left = slash ? (size_t)(line + bytes - slash) : 0;
	size_t prefix = strlen(OTHERS_NAME), token;

	if (left < prefix || memcmp(slash, OTHERS_NAME, prefix) != 0)
		return;
	for (token = 0; token < left - prefix && slash[prefix + token] != ' ';)
		token++;
	if (token != strlen(others->own) || memcmp(slash + prefix, others->own, token) != 0)
		others->live = true;
}

bool others_live(const struct sampler *s)
{
	struct others others = {s->open.token, false};
	char buffer[OTHERS_BUFFER];

	procfile_maps(buffer, sizeof(buffer), others_line, &others);
	return others.live;
}

/* True also for an agent in a front end's memory file, "/memfd:libjhot-...". */
static bool setup_is_agent(const struct module *m)
{
	const char *end = m->path + m->path_bytes, *name = end;

	while (name > m->path && name[-1] != '/' && name[-1] != ':')
		name--;
	return (size_t)(end - name) > strlen(SETUP_AGENT) &&
	       !memcmp(name, SETUP_AGENT, strlen(SETUP_AGENT));
}

/*
 * True for a handler that remains from an agent of another version, or on musl from another copy of the same one. Its
 * code stays mapped after its session has ended. Pending signals that it has sent are as harmless to our handler as
 * those of our own previous session. False while a session of that agent is alive: it keeps its signal.
 */
static bool setup_is_leftover(struct sampler *s, uint64_t handler)
{
	const struct module *m = modules_find(s->modules, handler);

	return m && setup_is_agent(m) && !others_live(s);
}

void setup_session(struct sampler *s)
{
	struct wire_status *status = s->shared.status;
	/* This limit is never infinite: UINT64_MAX means that it is unreadable. */
	uint64_t fds = raw_limit(RLIMIT_NOFILE);
	char name[32];

	setup_counters(s);
	cost_start(&s->cost);
	kept_readable(s);
	kept_begin(s);
	setup_walker(s);
	kept_layout(s);
	/* Resolved in advance: they are needed when no buffer is free to resolve them in. */
	for (int why = 1; why < WALK_BREAK_COUNT; why++) {
		const char *reason = walk_break_name((enum walk_break)why);

		s->unknown_frames[why] =
			WALK_PACK(WALK_BREAK, names_text(s->names, reason, strlen(reason)));
	}
	/* No perf_events in the program's descriptor table, where the program could close or count them. */
	engine_perf_budget(!s->files.own ? 0 : fds < UINT32_MAX ? (uint32_t)fds : 1024);
	s->current_place = jvm_current_place();
	epochs_open(s);
	jvm_gate_install(s);
	if (s->task.fd >= 0) {
		s->task_other = !task_name(s->task.fd, (int32_t)raw_gettid(), name, sizeof(name));
		scan_threads(s, true);
	}
	uint64_t collected = collect_signals(s);
	s->signo = sig_choose(s, collected, setup_is_leftover);
	s->signo_reserved = sig_choose_reserved(s, collected, setup_is_leftover);
	jvm_gate_suspect(s);
	headroom_count(s);
	events_warm_up(s);
	cycles_open(s);
	publish_agent_thread(s->publish, atomic_load(&s->publisher_tid), PUBLISHER_NAME);
	publish_agent_thread(s->publish, atomic_load(&s->files.tid), FILES_NAME);
	publish_all_modules(s->publish);
	calls_report(s);
	jvm_events_request((jvm_reports_starts() ? JVM_REPORTS_THREADS : 0) |
				   (s->agct->call ? JVM_REPORTS_CLASSES : 0),
		JVM_REPORTS_ALL, 0);
	jvm_vm_calls_start(s);
	atomic_store(&status->agent_state, WIRE_AGENT_READY);
	atomic_fetch_add(&status->publish_seq, 1);
	raw_futex_wake(&status->publish_seq);
}
