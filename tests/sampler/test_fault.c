/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGSEGV and SIGBUS between the agent and the process: guarded loads fail quietly, everybody else's
 * faults arrive as if the agent were not there, whoever comes in between.
 */
#include "tests/tap.h"

#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"
#include "walk/load/guard.h"

#include <errno.h>
#include <setjmp.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf jump;
static volatile int handled, handled_plain, mid_handled;
static volatile siginfo_t seen;
static struct sigaction before_mid;

static volatile uintptr_t bad = 0x10;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	sigset_t mask;

	(void)context;
	handled++;
	seen = *info;
	sigprocmask(SIG_SETMASK, NULL, &mask);
	if (sig == SIGSEGV && sigismember(&mask, SIGUSR1))
		handled += 100;
	siglongjmp(jump, 1);
}

static void on_plain(int sig)
{
	(void)sig;
	handled_plain++;
	siglongjmp(jump, 1);
}

/* A library that comes late, counts, and hands on what it does not know. */
static void on_mid(int sig, siginfo_t *info, void *context)
{
	mid_handled++;
	before_mid.sa_sigaction(sig, info, context);
}

static bool load_fails(void)
{
	static const struct walk_mem mem = GUARD_MEM;
	uint64_t out;

	return !guard_load(&mem, bad, &out, sizeof(out));
}

static bool load_works(void)
{
	static const struct walk_mem mem = GUARD_MEM;
	uint64_t in = 77, out = 0;

	return guard_load(&mem, (uint64_t)(uintptr_t)&in, &out, sizeof(out)) && out == 77;
}

/* fault: a real one, as HotSpot's null checks are. */
static void fault(void)
{
	if (!sigsetjmp(jump, 1))
		*(volatile int *)bad = 1;
}

static void *handler_now(int sig)
{
	struct raw_sigaction now;

	raw_sigaction_get(sig, &now);
	return now.handler;
}

static void install(int sig, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

	sigaddset(&action.sa_mask, SIGUSR1);
	sigaction(sig, &action, NULL);
}

static void test_chain(void)
{
	install(SIGSEGV, on_fault);
	install(SIGBUS, on_fault);
	is_int(sig_fault_ensure(), 0, "ours is installed");
	ok(handler_now(SIGSEGV) != (void *)on_fault, "on top");
	ok(load_works() && load_fails() && handled == 0,
		"guarded loads work and fail, unseen by others");
	fault();
	ok(handled % 100 == 1 && seen.si_addr == (void *)bad && seen.si_code == SEGV_MAPERR,
		"another's fault arrives with its siginfo");
	ok(handled > 100, "under the mask that its handler asked for");
	handled = 0;
	if (!sigsetjmp(jump, 1))
		raise(SIGSEGV);
	ok(handled % 100 == 1, "a signal that was sent arrives, too");
	sig_fault_leave();
	ok(handler_now(SIGSEGV) == (void *)on_fault && handler_now(SIGBUS) == (void *)on_fault,
		"both are handed back");
}

static void test_plain_handler(void)
{
	signal(SIGSEGV, on_plain);
	sig_fault_ensure();
	fault();
	is_int(handled_plain, 1, "a handler without siginfo is called, too");
	ok(load_fails(), "and does not disturb");
	sig_fault_leave();
}

static void test_in_between(void)
{
	handled = 0;
	install(SIGSEGV, on_fault);
	sig_fault_ensure();
	sigaction(SIGSEGV, NULL, &before_mid);
	install(SIGSEGV, on_mid);
	sig_fault_ensure();
	ok(load_fails() && mid_handled == 0, "ours comes on top of who came later");
	fault();
	ok(mid_handled == 1 && handled % 100 == 1, "a fault goes through all of them, once");
	sig_fault_leave();
	ok(handler_now(SIGSEGV) == (void *)on_mid, "what was on top of ours is on top again");
	fault();
	ok(mid_handled == 2 && handled % 100 == 2, "what is left of ours passes on");
	for (int i = 0; i < 10; i++) {
		sig_fault_ensure();
		sig_fault_leave();
	}
	sig_fault_ensure();
	fault();
	ok(mid_handled == 3 && load_fails(), "also after many sessions");
	sig_fault_leave();
}

/* Saved and put back in such an order that they call each other. */
static void test_circle(void)
{
	handled = mid_handled = 0;
	install(SIGSEGV, on_fault);
	sig_fault_ensure();
	sigaction(SIGSEGV, NULL, &before_mid);
	install(SIGSEGV, on_mid);
	sig_fault_ensure();
	sigaction(SIGSEGV, NULL, &before_mid); /* which calls on_mid */
	install(SIGSEGV, on_mid);
	is_int(sig_fault_ensure(), 0, "ours is on top of a handler that calls ours");
	fault();
	ok(mid_handled == 1 && handled % 100 == 1, "a fault goes round once, and to who was first");
	mid_handled = 0;
	fault();
	ok(mid_handled == 1 && handled % 100 == 2, "so does the next");
	sig_fault_leave();
}

/* A library that puts back what it has kept, again and again. */
static void test_put_back(void)
{
	struct sigaction kept;
	int failed = 0;

	handled = 0;
	install(SIGSEGV, on_fault);
	sigaction(SIGSEGV, NULL, &kept);
	for (int i = 0; i < 100; i++) {
		failed += sig_fault_ensure() != 0 || !sig_fault_ours();
		failed += !load_fails();
		sigaction(SIGSEGV, &kept, NULL);
		failed += sig_fault_ours();
	}
	is_int(failed, 0, "ours comes back as often as another is put back");
	fault();
	ok(handled % 100 == 1, "which is called as before");
	sig_fault_ensure();
	fault();
	ok(handled % 100 == 2, "by ours, too");
	sig_fault_leave();
}

/* Each with a mask of its own. The last test: there is no space for more. */
static void test_many(void)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	int result = 0, count = 0;

	handled = 0;
	for (; count < 40 && result == 0; count++) {
		sigaddset(&action.sa_mask, SIGRTMIN + count % 20);
		sigaction(SIGSEGV, &action, NULL);
		result = sig_fault_ensure();
	}
	is_int(result, -EBUSY, "there is an end to how many are covered, and it is told");
	ok(!sig_fault_ours() && handler_now(SIGSEGV) == (void *)on_fault, "the last stays there");
	fault();
	ok(handled == 1, "and is called");
	sig_fault_leave();
	ok(handler_now(SIGSEGV) == (void *)on_fault, "what is not ours is not taken away");
}

/* dies_by: how a child ends that does this with ours installed over that disposition. */
static int dies_by(void (*disposition)(int), bool send)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGSEGV, disposition);
		sig_fault_ensure();
		if (send)
			kill(getpid(), SIGSEGV);
		else
			*(volatile int *)bad = 1;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

int main(void)
{
	test_chain();
	test_plain_handler();
	test_in_between();
	test_circle();
	test_put_back();
	is_int(dies_by(SIG_DFL, false), SIGSEGV, "a fault without any handler ends the process");
	is_int(dies_by(SIG_DFL, true), SIGSEGV, "so does one that was sent");
	is_int(dies_by(SIG_IGN, false), SIGSEGV, "a fault cannot be ignored");
	is_int(dies_by(SIG_IGN, true), 0, "a signal that was sent can");
	test_many();
	return tap_done();
}
