/* SPDX-License-Identifier: Apache-2.0 */
/* The children of `jhot top --all`, which JVMs they watch, and the rows that show them. */
#include "cli/live/fleet.h"

#include "attach/jvm/hotspot.h"
#include "attach/proc.h"
#include "base/buf.h"
#include "base/clean.h"
#include "base/clock.h"
#include "cli/live/remote.h"
#include "findings/findings.h"
#include "profile/table/flat.h"
#include "tui/screen/name.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX      64
#define HISTORY_S      600u
#define ERRORS_MAX     (64u << 10)
#define SCAN_NS        (2 * NS_PER_S)
#define SCAN_IDLE_NS   (30 * NS_PER_S) /* even if there is no new process */
#define SCAN_AGAIN_NS  (10 * NS_PER_S) /* a new process may take this long to become a JVM */
#define RETRY_FIRST_NS (2 * NS_PER_S)
#define RETRY_MOST_NS  (60 * NS_PER_S)
#define LATE_NS        (3 * NS_PER_S)  /* a waiting recorder attaches first */
#define ENDED_NS       (10 * NS_PER_S) /* a JVM that has ended keeps its row for this long */
#define QUIT_MS        3000
#define QUIT_AGAIN_MS  1000 /* a second SIGTERM: do not wait for names */
#define QUIT_STEP_MS   20
#define HOT_S          10u             /* window of the hottest method */
#define FINDINGS_S     60u             /* window of the rules */
#define EVALUATE_S     5u              /* between evaluations of the rules */
#define OK_S           10u             /* from this second on, no finding means "ok" */
#define BUSY_NS        (15 * NS_PER_S) /* the longest wait for that second */
#define HOT_WIDTH      60

enum instance_state { INSTANCE_WAITING, INSTANCE_STARTING, INSTANCE_RUNNING, INSTANCE_ENDED };

struct instance {
	int id; /* of its row, unique */
	enum instance_state state;
	const char *remote; /* HOST:NAME; NULL: a JVM of this host */
	struct hotspot jvm; /* on this host */
	bool seen;          /* the last scan has found it */
	bool refused;       /* it cannot be attached, according to that scan */

	pid_t child; /* 0: none */
	int errors;  /* memfd: its stderr; -1: none */
	struct fleet_stream *stream;
	uint64_t begun_ns, ended_ns;
	uint64_t pause_ns, retry_ns; /* the pause before the next child, and when that starts */
	char why[240];               /* why there is no stream */

	struct findings *findings;
	unsigned found;     /* findings of the last evaluation */
	uint32_t evaluated; /* second of that evaluation */
	uint32_t counted;   /* second of hot and hot_pct */
	char hot[128];
	int hot_pct; /* -1: no samples */
};

struct fleet {
	const struct args *args;
	char *names;
	struct instance **list; /* in the order of the rows */
	uint32_t count, cap;
	int last_id;

	struct hotspot_scan *scan; /* the current one; NULL: none */
	struct proc_newcomers processes;
	bool scanned;
	uint64_t scanned_ns; /* the last scan */
	uint64_t changed_ns; /* the last time at which a process was new */
	struct app_jvm *rows;
};

/* --- streams ----------------------------------------------------------------------------------------- */

void fleet_release(struct fleet_stream *s)
{
	if (!s || --s->users)
		return;
	shared_close(s->shared);
	profile_free(s->profile);
	free(s);
}

static void stream_read(struct fleet_stream *s)
{
	int rc;

	if (s->ended.kind)
		return;
	rc = shared_read(s->shared, 0, &s->ended);
	if (rc > 0 && !s->begun) {
		s->begun = true;
		profile_set_history(s->profile, HISTORY_S);
	}
}

/* --- children ---------------------------------------------------------------------------------------- */

struct words {
	char *list[WORDS_MAX];
	int count;
};

static void word_add(void *ctx, const char *word)
{
	struct words *w = ctx;

	if (w->count < WORDS_MAX - 1)
		w->list[w->count++] = xstrdup(word);
}

/* In the child. Its own session: Ctrl-C does not reach it, and ssh cannot ask for a password on the screen. */
static void child_exec(const struct words *w, int out, int errors)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	setsid();
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(errors, STDERR_FILENO);
	execv("/proc/self/exe", w->list);
	_exit(127);
}

static void instance_begin(struct fleet *f, struct instance *i)
{
	struct words words = {0};
	char pid[16];
	int ends[2];

	snprintf(pid, sizeof(pid), "%d", (int)i->jvm.pid);
	word_add(&words, "jhot");
	word_add(&words, "relay");
	remote_options(f->args, word_add, &words);
	word_add(&words, "--");
	word_add(&words, i->remote ? i->remote : pid);
	i->begun_ns = clock_mono_ns();
	i->errors = memfd_create("jhot-relay", MFD_CLOEXEC);
	if (i->errors >= 0 && !pipe2(ends, O_CLOEXEC)) {
		i->child = fork();
		if (!i->child)
			child_exec(&words, ends[1], i->errors);
		close(ends[1]);
		i->stream = xcalloc(1, sizeof(*i->stream));
		i->stream->profile = profile_new();
		i->stream->shared = shared_open_fd(ends[0], i->stream->profile);
		i->stream->users = 1;
		i->stream->pid = i->remote || i->jvm.other_pid_ns ? 0 : i->jvm.pid;
		i->state = INSTANCE_STARTING;
	}
	if (i->child <= 0) {
		snprintf(i->why, sizeof(i->why), "Cannot create a process: %s", strerror(errno));
		i->child = 0;
		i->retry_ns = i->begun_ns + RETRY_FIRST_NS;
	}
	for (int k = 0; k < words.count; k++)
		free(words.list[k]);
}

static void instance_drop(struct instance *i)
{
	fleet_release(i->stream);
	findings_free(i->findings);
	i->stream = NULL;
	i->findings = NULL;
	i->found = 0;
	i->evaluated = i->counted = 0;
	i->hot_pct = -1;
}

/* The error that the child has printed, as one line without headings and hints. */
static void read_why(struct instance *i)
{
	struct buf text = {0};
	char *advice, *title, *heading;
	size_t n = 0;

	lseek(i->errors, 0, SEEK_SET);
	buf_read_all(&text, i->errors, ERRORS_MAX);
	advice = text.len ? strstr(text.data, ERR_HEADING_HINT) : NULL;
	if (advice)
		*advice = '\0';
	for (title = text.data; title && (title = strstr(title, ERR_TITLE)) &&
				(heading = strstr(title, ERR_HEADING_WHAT));)
		memset(title, ' ', (size_t)(heading - title) + strlen(ERR_HEADING_WHAT));
	for (const char *at = buf_str(&text); *at && n + 1 < sizeof(i->why); at++)
		if ((unsigned char)*at > ' ')
			i->why[n++] = *at;
		else if (n && i->why[n - 1] != ' ')
			i->why[n++] = ' ';
	i->why[n] = '\0';
	clean_own(i->why);
	buf_done(&text);
}

/* The child has ended, with this status of waitpid. */
static void instance_ended(struct instance *i, int status)
{
	bool failed =
		!WIFEXITED(status) || (WEXITSTATUS(status) && WEXITSTATUS(status) != ERR_GONE);

	i->why[0] = '\0';
	if (failed)
		read_why(i);
	if (!*i->why)
		snprintf(i->why, sizeof(i->why), "%s",
			failed ? "jhot relay has failed." : "The session has ended.");
	i->pause_ns = failed ? 2 * i->pause_ns : 0;
	if (i->pause_ns < RETRY_FIRST_NS)
		i->pause_ns = RETRY_FIRST_NS;
	if (i->pause_ns > RETRY_MOST_NS)
		i->pause_ns = RETRY_MOST_NS;
	i->ended_ns = clock_mono_ns();
	i->retry_ns = i->ended_ns + i->pause_ns;
	i->state = i->remote || i->seen ? INSTANCE_WAITING : INSTANCE_ENDED;
	i->child = 0;
	close(i->errors);
	i->errors = -1;
	instance_drop(i);
}

static void instance_step(struct fleet *f, struct instance *i, uint64_t now_ns)
{
	int status;

	if (i->stream) {
		stream_read(i->stream);
		if (i->stream->begun)
			i->state = INSTANCE_RUNNING;
	}
	if (i->child && waitpid(i->child, &status, WNOHANG) == i->child) {
		if (i->stream) /* samples from before its end */
			stream_read(i->stream);
		instance_ended(i, status);
	}
	if (i->state == INSTANCE_WAITING && !i->refused && !i->child && now_ns >= i->retry_ns)
		instance_begin(f, i);
}

static void instance_free(struct instance *i)
{
	instance_drop(i);
	if (i->errors >= 0)
		close(i->errors);
	free(i);
}

/* --- finding JVMs ------------------------------------------------------------------------------------ */

static struct instance *instance_new(struct fleet *f)
{
	struct instance *i = xcalloc(1, sizeof(*i));

	i->id = ++f->last_id;
	i->errors = -1;
	i->hot_pct = -1;
	f->list = xgrow(f->list, f->count, &f->cap, sizeof(*f->list));
	f->list[f->count++] = i;
	return i;
}

static bool is_wanted(const struct fleet *f, const struct hotspot *jvm)
{
	for (int k = 0; k < f->args->operand_count; k++) {
		const char *operand = f->args->operands[k];

		if (hotspot_is_pid(operand) ? atoi(operand) == jvm->pid
					    : !remote_is(operand) && hotspot_has_name(jvm, operand))
			return true;
	}
	return false;
}

static struct instance *instance_find(const struct fleet *f, const struct hotspot *jvm)
{
	for (uint32_t k = 0; k < f->count; k++)
		if (!f->list[k]->remote && f->list[k]->jvm.pid == jvm->pid &&
			f->list[k]->jvm.start_ticks == jvm->start_ticks)
			return f->list[k];
	return NULL;
}

/* Adds the JVMs that the scan has found, and ends the rows of those that it has not. */
static void apply_scan(struct fleet *f)
{
	uint64_t now_ns = clock_mono_ns();
	struct hotspot_list found;

	for (uint32_t k = 0; k < f->count; k++)
		f->list[k]->seen = false;
	hotspot_scan_copy(f->scan, &found);
	for (int k = 0; k < found.count; k++) {
		const struct hotspot *jvm = &found.jvms[k];
		struct instance *i;

		if (!is_wanted(f, jvm))
			continue;
		if (jvm->starting)
			f->changed_ns = now_ns;
		i = instance_find(f, jvm);
		if (!i) {
			i = instance_new(f);
			i->retry_ns = f->scanned ? now_ns + LATE_NS : 0;
		}
		i->jvm = *jvm;
		i->seen = true;
		i->refused = jvm->verdict > HOTSPOT_UNKNOWN;
		if (i->refused && !i->child)
			snprintf(i->why, sizeof(i->why), "%s", jvm->why);
	}
	hotspot_list_done(&found);
	for (uint32_t k = 0; k < f->count; k++) {
		struct instance *i = f->list[k];

		if (i->remote || i->seen || i->state == INSTANCE_ENDED || i->child)
			continue;
		i->state = INSTANCE_ENDED;
		i->ended_ns = now_ns;
	}
}

/* Forgets JVMs that ended some time ago. */
static void forget_ended(struct fleet *f, uint64_t now_ns)
{
	uint32_t kept = 0;

	for (uint32_t k = 0; k < f->count; k++) {
		struct instance *i = f->list[k];

		if (i->state == INSTANCE_ENDED && now_ns > i->ended_ns + ENDED_NS)
			instance_free(i);
		else
			f->list[kept++] = i;
	}
	f->count = kept;
}

static bool scan_is_due(struct fleet *f, uint64_t now_ns)
{
	if (!f->scanned)
		return true;
	if (now_ns - f->scanned_ns < SCAN_NS)
		return false;
	if (proc_has_newcomers(&f->processes))
		f->changed_ns = now_ns;
	for (uint32_t k = 0; k < f->count; k++)
		if (!f->list[k]->remote && !f->list[k]->child)
			return true;
	return f->scanned_ns < f->changed_ns + SCAN_AGAIN_NS ||
	       now_ns - f->scanned_ns >= SCAN_IDLE_NS;
}

static void scan_step(struct fleet *f, uint64_t now_ns)
{
	int over;

	if (!f->scan && scan_is_due(f, now_ns))
		f->scan = hotspot_scan_begin(NULL);
	over = f->scan ? hotspot_scan_step(f->scan, 0, NULL) : 0;
	if (!over)
		return;
	if (over > 0)
		apply_scan(f);
	hotspot_scan_end(f->scan);
	f->scan = NULL;
	f->scanned = true;
	f->scanned_ns = clock_mono_ns();
}

/* --- rows ------------------------------------------------------------------------------------------- */

/* The method with the most self time, of cpu or else of the first event that has samples. */
static void find_hottest(struct instance *i, const struct profile *p, uint32_t now)
{
	struct profile_query q = profile_whole(EVENT_CPU);
	const struct flat_row *hottest = NULL;
	struct flat *flat;

	i->hot_pct = -1;
	i->hot[0] = '\0';
	q.by_weight = true;
	q.without_idle = true;
	q.from = now > HOT_S ? now - HOT_S : 0;
	q.to = now + 1;
	while (q.event + 1 < EVENT_USER_FIRST && !profile_sum(p, &q).count)
		q.event++;
	flat = flat_new(p, &q);
	for (uint32_t k = 0; k < flat->count; k++)
		if (!hottest || flat_compare(&flat->rows[k], hottest) < 0)
			hottest = &flat->rows[k];
	if (hottest && hottest->self) {
		i->hot_pct = (int)(flat_percent(hottest->self, flat->sum) + 0.5);
		name_fit(i->hot, sizeof(i->hot), profile_get_method(p, hottest->method), HOT_WIDTH,
			NAME_CLASS, "~");
	}
	flat_free(flat);
}

static void evaluate(
	struct instance *i, const struct profile *p, const struct vitals *v, uint32_t now)
{
	if (!i->findings)
		i->findings = findings_new();
	findings_vitals(i->findings, v);
	if (now < i->evaluated + EVALUATE_S)
		return;
	i->evaluated = now;
	i->found =
		findings_evaluate(i->findings, p, now > FINDINGS_S ? now - FINDINGS_S : 0, now + 1);
}

static void row_verdict(const struct instance *i, struct app_jvm *row)
{
	static const char *const states[] = {[INSTANCE_WAITING] = "waiting",
		[INSTANCE_STARTING] = "attaching",
		[INSTANCE_ENDED] = "ended"};
	const struct finding *worst = i->found ? findings_get(i->findings, 0) : NULL;

	if (i->state != INSTANCE_RUNNING) {
		snprintf(row->verdict, sizeof(row->verdict), "%s",
			i->refused ? "refused" : states[i->state]);
		snprintf(row->why, sizeof(row->why), "%s", i->why);
		return;
	}
	snprintf(row->verdict, sizeof(row->verdict), "%s",
		worst                  ? worst->rule->title
		: i->evaluated >= OK_S ? "ok"
				       : "-");
	if (worst)
		snprintf(row->why, sizeof(row->why), "%s", worst->what);
}

static void row_live(struct instance *i, struct app_jvm *row)
{
	const struct vitals *v = shared_vitals(i->stream->shared);
	uint32_t now = profile_info(i->stream->profile).now;

	if (now != i->counted) {
		i->counted = now;
		find_hottest(i, i->stream->profile, now);
		evaluate(i, i->stream->profile, v, now);
	}
	row->pid = v->pid;
	row->cpu_pct = v->cpu_pct;
	row->heap_used = v->heap_used;
	row->heap_max = v->heap_max;
	row->gc_pct_x10 = v->gc_pct_x10;
	row->hot_pct = i->hot_pct;
	snprintf(row->hot, sizeof(row->hot), "%s", i->hot);
	snprintf(row->jdk, sizeof(row->jdk), "%s", v->jdk);
}

int fleet_rows(
	struct fleet *f, const struct fleet_stream *shown, const struct app_jvm **out, bool *busy)
{
	uint64_t now_ns = clock_mono_ns();

	*busy = !f->scanned;
	f->rows = xreallocarray(f->rows, f->count, sizeof(*f->rows));
	for (uint32_t k = 0; k < f->count; k++) {
		struct instance *i = f->list[k];
		struct app_jvm *row = &f->rows[k];

		*row = (struct app_jvm){.id = i->id,
			.pid = i->jvm.pid,
			.cpu_pct = -1,
			.heap_used = -1,
			.heap_max = -1,
			.gc_pct_x10 = -1,
			.hot_pct = -1,
			.can_attach = i->state == INSTANCE_RUNNING,
			.shown = shown && i->stream == shown};
		snprintf(row->name, sizeof(row->name), "%s", i->remote ? i->remote : i->jvm.name);
		snprintf(row->user, sizeof(row->user), "%s", i->jvm.user);
		snprintf(row->jdk, sizeof(row->jdk), "%s", i->jvm.jdk);
		if (i->state == INSTANCE_RUNNING)
			row_live(i, row);
		row_verdict(i, row);
		*busy |= i->child && now_ns - i->begun_ns < BUSY_NS &&
			 (i->state == INSTANCE_STARTING || i->evaluated < OK_S);
	}
	*out = f->rows;
	return (int)f->count;
}

/* --- the fleet --------------------------------------------------------------------------------------- */

struct fleet *fleet_new(const struct args *args, struct err *err)
{
	struct fleet *f = xcalloc(1, sizeof(*f));
	struct buf names = {0};

	f->args = args;
	for (int k = 0; k < args->operand_count; k++) {
		buf_printf(&names, "%s%s", k ? " " : "", args->operands[k]);
		if (remote_is(args->operands[k]))
			instance_new(f)->remote = args->operands[k];
	}
	f->names = buf_steal(&names);
	if (args->operand_count)
		return f;
	err_set(err, ERR_USAGE, "--all needs a NAME: that of the JVMs to show.");
	fleet_free(f);
	return NULL;
}

const char *fleet_names(const struct fleet *f)
{
	return f->names;
}

void fleet_step(struct fleet *f)
{
	uint64_t now_ns = clock_mono_ns();

	scan_step(f, now_ns);
	for (uint32_t k = 0; k < f->count; k++)
		instance_step(f, f->list[k], now_ns);
	forget_ended(f, now_ns);
}

struct fleet_stream *fleet_use(struct fleet *f, int id, struct err *err)
{
	for (uint32_t k = 0; k < f->count; k++) {
		struct instance *i = f->list[k];

		if (i->id != id)
			continue;
		if (i->state == INSTANCE_RUNNING) {
			i->stream->users++;
			return i->stream;
		}
		err_set(err, ERR_ATTACH, "%s", *i->why ? i->why : "It is still being attached.");
		return NULL;
	}
	err_set(err, ERR_GONE, "The JVM has ended.");
	return NULL;
}

static bool any_child(const struct fleet *f)
{
	for (uint32_t k = 0; k < f->count; k++)
		if (f->list[k]->child)
			return true;
	return false;
}

static void end_children(struct fleet *f)
{
	for (uint32_t k = 0; k < f->count; k++)
		instance_drop(f->list[k]); /* closes the pipes */
	for (int ms = 0; ms < QUIT_MS && any_child(f); ms += QUIT_STEP_MS) {
		for (uint32_t k = 0; k < f->count; k++) {
			pid_t *child = &f->list[k]->child;

			if (*child && (!ms || ms == QUIT_AGAIN_MS))
				kill(*child, SIGTERM);
			if (*child && waitpid(*child, NULL, WNOHANG) == *child)
				*child = 0;
		}
		poll(NULL, 0, any_child(f) ? QUIT_STEP_MS : 0);
	}
}

void fleet_free(struct fleet *f)
{
	if (!f)
		return;
	end_children(f);
	for (uint32_t k = 0; k < f->count; k++)
		instance_free(f->list[k]);
	hotspot_scan_end(f->scan);
	proc_newcomers_done(&f->processes);
	free(f->list);
	free(f->rows);
	free(f->names);
	free(f);
}
