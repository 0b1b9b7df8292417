/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults guarded, HotSpot's layout read, a signal chosen, the threads listed, the naming thread
 * started.
 */
#include "sampler/setup.h"

#include "sampler/events.h"
#include "sampler/jvm.h"
#include "sampler/modules.h"
#include "sampler/publish.h"
#include "sampler/raw.h"
#include "sampler/scan.h"
#include "sampler/sig.h"
#include "sampler/text.h"

#include "walk/guard.h"

#include <string.h>
#include <sys/resource.h>

#define SETUP_FDS_SHARE \
	4 /* perf may use this fraction of the descriptors that the target may open */

static void setup_forced(struct sampler *s)
{
	struct text note =
		text_into(s->shared.status->walker_note, sizeof(s->shared.status->walker_note));

	s->layout = NULL;
	text_add(&note, "asked for by the option walker=agct");
}

static void setup_walker(struct sampler *s)
{
	struct wire_status *status = s->shared.status;
	struct walk_tables tables = {.symbol = jvm_symbol};
	struct text walker = text_into(status->walker, sizeof(status->walker));
	bool full;

	modules_refresh(s->modules, &full);
	modules_range(s->modules, jvm_inside(), &tables.libjvm_start, &tables.libjvm_end);
	if (walk_layout_read(s->layout_memory, &s->mem, &tables, status->walker_note,
		    sizeof(status->walker_note)) == 0)
		s->layout = s->layout_memory;
	if (walk_threads_readable(s->layout_memory))
		s->thread_layout = s->layout_memory;
	if (s->force_agct)
		setup_forced(s);
	if (!s->layout)
		jvm_agct_open(s->agct);
	text_add(&walker, s->layout ? "vmstructs" : s->agct->call ? "agct" : "native");
}

/* setup_reasons: names of broken walks are needed where there is no buffer to resolve them in. */
static void setup_reasons(struct sampler *s)
{
	for (int why = 1; why < WALK_BREAK_COUNT; why++) {
		const char *name = walk_break_name((enum walk_break)why);

		s->unknown_frames[why] =
			WALK_PACK(WALK_BREAK, names_text(s->names, name, strlen(name)));
	}
}

static const char *const counter_names[] = {
#define COUNTER_NAME(name, text) text,
	COUNTERS(COUNTER_NAME)
#undef COUNTER_NAME
};

/* setup_counters: their names; those of breaks without the brackets. */
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

static uint32_t setup_fds(void)
{
	struct rlimit limit = {1024, 1024};

	raw(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit);
	return limit.rlim_cur / SETUP_FDS_SHARE < THREADS_MAX
		       ? (uint32_t)(limit.rlim_cur / SETUP_FDS_SHARE)
		       : THREADS_MAX;
}

static void setup_threads(struct sampler *s)
{
	s->task_fd = (int)raw(
		SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (s->task_fd >= 0)
		scan_threads(s, s->task_fd, ++s->scans, 0, true);
}

void setup_session(struct sampler *s)
{
	struct wire_status *status = s->shared.status;

	setup_counters(s);
	cost_start(&s->cost);
	sig_fault_ensure();
	setup_walker(s);
	setup_reasons(s);
	engine_perf_budget(setup_fds());
	s->signo = sig_choose();
	atomic_store(&sig_current, s);
	jvm_gate_put(s);
	setup_threads(s);
	jvm_gate_suspect(s);
	events_warm_up(s);
	publish_agent_thread(s->publish, atomic_load(&s->publisher_tid), "jhot publisher");
	publish_all_modules(s->publish);
	jvm_names_start(s);
	atomic_store(&status->agent_state, WIRE_AGENT_READY);
	atomic_fetch_add(&status->publish_seq, 1);
	raw_futex_wake(&status->publish_seq);
}
