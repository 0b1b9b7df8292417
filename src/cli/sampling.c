/* SPDX-License-Identifier: Apache-2.0 */
/* A session that fills a profile until its time is over or a signal ends it. */
#include "cli/sampling.h"

#include "base/buf.h"
#include "base/clock.h"
#include "cli/agent.h"
#include "cli/background.h"
#include "cli/line/units.h"
#include "cli/report.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STEP_MS  200
#define POLL_NS  (250 * NS_PER_MS)
#define SHOW_NS  NS_PER_S /* shorter waits are not reported */
#define TWICE_NS (200 * NS_PER_MS)

static volatile sig_atomic_t sampling_signal, sampling_stop, sampling_save;
static _Atomic uint64_t sampling_signal_ns; /* time of the last one */

/* Signals in quick succession count as one: timeout(1) sends its signal to the process, and then to the process group. */
static void on_signal(int signo)
{
	uint64_t now_ns = clock_mono_ns(), last_ns = atomic_exchange(&sampling_signal_ns, now_ns);

	if (now_ns - last_ns < TWICE_NS)
		return;
	if (sampling_signal) {
		signal(signo, SIG_DFL);
		raise(signo); /* when this handler returns */
	}
	sampling_signal = signo;
}

static void on_stop(int signo)
{
	sampling_stop = signo;
}

static void on_save(int signo)
{
	(void)signo;
	sampling_save = 1;
}

bool sampling_signalled(void)
{
	return sampling_signal;
}

bool sampling_interrupted(void)
{
	return sampling_signal == SIGINT;
}

bool sampling_save_requested(void)
{
	bool requested = sampling_save;

	sampling_save = 0;
	return requested;
}

void sampling_catch(int signo, void (*handler)(int), int flags)
{
	const struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
	struct sigaction old;

	if (!sigaction(signo, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(signo, &action, NULL);
}

void sampling_catch_ending(void)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		sampling_catch(ending[i], on_signal, 0);
}

/* The handler of SIGTSTP (^Z) only sets a flag; sampling_pause stops the process. */
static void catch_signals(bool saves)
{
	sampling_catch_ending();
	sampling_catch(SIGTSTP, on_stop, SA_RESTART);
	if (saves)
		sampling_catch(SIGUSR1, on_save, SA_RESTART);
	signal(SIGPIPE, SIG_IGN); /* reported as a write error instead */
}

int sampling_options(struct sampling *s, const struct args *args, struct err *err)
{
	const char *duration = args_get(args, OPT_DURATION);

	s->options.agent = cli_agent(args);
	s->options.take_over = args_has(args, OPT_TAKE_OVER);
	s->options.token = args_get(args, OPT_TOKEN);
	return duration ? units_duration(duration, &s->duration_ns, err) : 0;
}

int sampling_find(struct sampling *s, const struct args *args, struct err *err)
{
	const char *target = args->operands[0];

	if (!args_has(args, OPT_TOKEN))
		return hotspot_find_ready(target, &s->jvm, err);
	s->jvm = launch_jvm((pid_t)atoi(target));
	return 0;
}

int sampling_parse(struct sampling *s, const struct args *args, struct err *err)
{
	if (sampling_options(s, args, err) || sampling_find(s, args, err))
		return -1;
	return events_resolve(&s->events, s->jvm.pid, NULL, err);
}

int sampling_begin(struct sampling *s, struct err *err)
{
	struct progress progress;
	int rc = -1;

	if (s->command) {
		if (launch_begin(&s->launch, s->command, &s->options.agent, err))
			return -1;
		s->options.token = s->launch.token;
		s->jvm = s->launch.jvm;
		signal(SIGPIPE, SIG_IGN);
	} else {
		catch_signals(s->saves);
	}
	s->profile = profile_new();
	profile_set_history(s->profile, UINT32_MAX); /* files record every second */
	s->options.patience = progress_begin(&progress, &s->jvm, &sampling_signal);
	s->session = session_open(&s->jvm, &s->options, s->profile, err);
	if (s->command)
		launch_loaded(&s->launch);
	if (s->session) {
		s->jvm = *session_jvm(s->session);
		s->begin_ns = clock_mono_ns();
		rc = events_start(&s->events, s->session, err);
		session_patience(s->session, &(const struct patience){0});
	}
	if (!rc)
		s->share = share_open(
			&(const struct share_options){s->jvm, s->profile, s->meta}, NULL);
	progress_done(&progress);
	if (!rc)
		background_ready(&s->jvm);
	return rc;
}

void sampling_join(struct sampling *s, struct shared *from, struct profile *p)
{
	catch_signals(s->saves);
	s->joined = from;
	s->profile = p;
	s->begin_ns = clock_mono_ns();
}

const struct vitals *sampling_vitals(const struct sampling *s)
{
	return s->joined ? shared_vitals(s->joined) : session_vitals(s->session);
}

/* Stops the process on ^Z. The agent keeps the session but takes no samples; the pause extends the duration. */
static void sampling_pause(struct sampling *s)
{
	uint64_t stopped_ns = clock_mono_ns();

	if (s->session)
		session_park(s->session, true);
	sampling_stop = 0;
	kill(getpid(), SIGSTOP);
	if (s->session)
		session_park(s->session, false);
	s->begin_ns += clock_mono_ns() - stopped_ns;
}

int sampling_loop(struct sampling *s, struct err *err)
{
	bool terminal = isatty(STDERR_FILENO) && !s->command;
	uint64_t now_ns = clock_mono_ns(), due_ns = now_ns;
	int rc = 0;

	while (rc >= 0 && !sampling_signal &&
		(!s->duration_ns || now_ns - s->begin_ns < s->duration_ns)) {
		uint64_t left_ms = STEP_MS;

		if (sampling_stop) {
			sampling_pause(s);
			now_ns = clock_mono_ns();
		}
		if (s->duration_ns &&
			(s->duration_ns - (now_ns - s->begin_ns)) / NS_PER_MS < left_ms)
			left_ms = (s->duration_ns - (now_ns - s->begin_ns)) / NS_PER_MS + 1;
		if (s->joined) {
			rc = shared_read(s->joined, (int)left_ms, err);
		} else {
			session_wait(s->session, (int)left_ms);
			rc = session_drain(s->session, err);
		}
		now_ns = clock_mono_ns();
		if (now_ns < due_ns)
			continue;
		due_ns = now_ns + POLL_NS;
		if (s->share)
			share_step(s->share, session_vitals(s->session),
				session_duration_ns(s->session));
		background_limit_log();
		if (terminal) {
			const struct vitals *v = sampling_vitals(s);
			int64_t samples = 0;

			for (int i = 0; i < s->events.count; i++)
				samples += v->events[s->events.ids[i]].samples;
			fprintf(stderr, "\r\033[K%.1f",
				(double)(now_ns - s->begin_ns) / (double)NS_PER_S);
			if (s->duration_ns)
				fprintf(stderr, "/%g", (double)s->duration_ns / (double)NS_PER_S);
			fprintf(stderr, " s  %lld sample%s  %lld lost%s  (Ctrl-C stops and %s)",
				(long long)samples, plural((uint64_t)samples), (long long)v->lost,
				v->stalled ? "  JVM does not respond" : "", s->then);
			fflush(stderr);
		}
		if (s->poll && rc >= 0 && s->poll(s->ctx, sampling_vitals(s), err))
			rc = -1;
	}
	if (terminal)
		fputs("\r\033[K", stderr);
	return rc < 0 ? -1 : 0;
}

struct names_wait {
	struct sampling *s;
	uint64_t begin_ns;
	bool shown;
};

static bool names_go_on(void *ctx)
{
	struct names_wait *w = ctx;
	uint64_t waited_ns = clock_mono_ns() - w->begin_ns;
	bool terminal = isatty(STDERR_FILENO);

	if (sampling_signal)
		return false;
	if (waited_ns < SHOW_NS || (w->shown && !terminal))
		return true;
	fprintf(stderr, terminal ? "\r\033[K%s ... %d s  (Ctrl-C uses addresses instead)" : "%s\n",
		session_note(w->s->session), (int)(waited_ns / NS_PER_S));
	fflush(stderr);
	w->shown = true;
	return true;
}

void sampling_finish(struct sampling *s)
{
	struct names_wait w = {.s = s, .begin_ns = clock_mono_ns()};

	if (s->joined)
		return;
	sampling_signal = 0;
	session_patience(s->session, &(const struct patience){names_go_on, &w});
	session_finish(s->session);
	session_patience(s->session, &(const struct patience){0});
	if (s->share)
		share_finish(s->share, session_vitals(s->session), session_duration_ns(s->session));
	if (w.shown && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

void sampling_end(struct sampling *s)
{
	/* Interrupted before the session was open: die of the signal, now that everything is cleaned up. */
	if (!s->session && !s->joined && sampling_signal) {
		signal(sampling_signal, SIG_DFL);
		raise(sampling_signal);
	}
	share_close(s->share);
	session_close(s->session);
	shared_close(s->joined);
	profile_free(s->profile);
	s->share = NULL;
	s->session = NULL;
	s->joined = NULL;
	s->profile = NULL;
	if (s->command)
		s->exit_status = launch_wait(&s->launch);
}
