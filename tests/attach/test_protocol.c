/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attach protocol against a process that plays a JVM that behaves correctly, incorrectly, or does not answer.
 *
 * The current folder plays the JVM's temporary folder. The mock JVM catches SIGQUIT in a thread named like HotSpot's,
 * looks for the trigger file as HotSpot does, opens its socket and then behaves as the case says.
 */
#include "attach/protocol.h"

#include "base/clock.h"

#include "tests/attach/actors.h"
#include "tests/attach/fake.h"
#include "tests/tap.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#define LATE_MS 600

/* Modes of the mock JVM; its reply is the player's argument `answer`. */
enum mode {
	ANSWER,      /* in two pieces */
	READ_ONLY,   /* reads the request and stays silent */
	HANG_UP,     /* closes at once */
	NO_SOCKET,   /* handles the signal but opens no socket */
	DIE,         /* exits on SIGQUIT */
	LATE,        /* checks for the trigger LATE_MS after SIGQUIT, then as HANG_UP */
	DEFAULT_ACT, /* does not catch SIGQUIT: would be killed by it */
	OWN_HANDLER, /* catches SIGQUIT with the program's own handler, as with -Xrs: no Signal Dispatcher */
	OWN_NAMES, /* the same, and a thread of the program has the dispatcher's name */
	COLLECTS,  /* as HANG_UP, but another thread of the program collects SIGQUIT with sigwait */
};

static const char *const dispatcher_names[] = {
	[ANSWER] = "Signal Dispatch",
	[READ_ONLY] = "Signal Dispatch",
	[HANG_UP] = "Signal Dispatch",
	[NO_SOCKET] = "Signal Dispatch",
	[DIE] = "Signal Dispatch",
	[LATE] = "Signal Dispatch",
	[DEFAULT_ACT] = "Signal Dispatch",
	[OWN_HANDLER] = "worker",
	[OWN_NAMES] = ACTORS_PRETENDER,
	[COLLECTS] = "Signal Dispatch",
};

static const char expected[] = "1\0load\0/a.so\0true\0opts";
static int ready[2], verdict[2]; /* pipes from the player */

static volatile sig_atomic_t quit;

static void on_quit(int sig)
{
	(void)sig;
	quit++;
}

static void own_name(char *out, size_t bytes, const char *what)
{
	snprintf(out, bytes, "%s%d", what, (int)getpid());
}

/* Reads the request; true if it has the expected bytes. */
static bool receive_request(int sock)
{
	char got[sizeof(expected)];
	size_t len = 0;

	while (len < sizeof(got)) {
		ssize_t n = read(sock, got + len, sizeof(got) - len);

		if (n <= 0)
			return false;
		len += (size_t)n;
	}
	return !memcmp(got, expected, sizeof(expected));
}

static void serve_one(int listener, enum mode mode, const char *answer)
{
	int sock = accept(listener, NULL, NULL);
	size_t half = strlen(answer) / 2;

	if (mode != HANG_UP && mode != LATE && mode != COLLECTS && !receive_request(sock))
		_exit(3);
	if (mode == ANSWER && (write(sock, answer, half) < 0 ||
				      write(sock, answer + half, strlen(answer) - half) < 0))
		_exit(4);
	if (mode == READ_ONLY)
		pause();
	close(sock);
}

_Noreturn static void player(enum mode mode, const char *answer)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct sigaction act = {.sa_handler = on_quit};
	sigset_t block = actors_quit();
	char trigger[64], tmp[sizeof(addr.sun_path) + 4];
	int listener;

	sigprocmask(SIG_BLOCK, &block, NULL);
	if (mode != DEFAULT_ACT)
		sigaction(SIGQUIT, &act, NULL);
	actors_start(ready[1], dispatcher_names[mode], mode == COLLECTS);
	while (!quit)
		usleep(500);
	own_name(trigger, sizeof(trigger), ".attach_pid");
	if (mode == LATE)
		usleep(LATE_MS * 1000);
	if (write(verdict[1],
		    quit > 1                ? "2"
		    : access(trigger, F_OK) ? "-"
					    : "t",
		    1) != 1 ||
		mode == DIE)
		_exit(6);
	if (mode == NO_SOCKET)
		for (;;)
			pause();
	own_name(addr.sun_path, sizeof(addr.sun_path), ".java_pid");
	snprintf(tmp, sizeof(tmp), "%s.tmp", addr.sun_path);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&addr, sizeof(addr)) || listen(listener, 5))
		_exit(7);
	for (;;)
		serve_one(listener, mode, answer);
}

struct play {
	pid_t pid;
	struct hotspot jvm;
	struct protocol p;
	int caller[2];
	struct err err;
	struct buf reply;
};

static void play_begin(struct play *play, enum mode mode, const char *answer)
{
	struct proc_cpu cpu;
	char c;

	memset(play, 0, sizeof(*play));
	if (pipe(ready) || pipe(verdict))
		fake_bail("pipe");
	play->pid = fork();
	if (play->pid == 0)
		player(mode, answer);
	close(ready[1]);
	close(verdict[1]);
	if (pipe(play->caller)) /* created after the fork, so that the test's end closes it */
		fake_bail("pipe");
	for (int i = 0; i < ACTORS(mode == COLLECTS); i++)
		if (read(ready[0], &c, 1) != 1)
			fake_bail("player");
	play->jvm.pid = play->jvm.nspid = play->pid;
	play->jvm.euid = geteuid();
	if (proc_cpu(play->pid, &cpu))
		fake_bail("stat");
	play->jvm.start_ticks = cpu.start_ticks;
	snprintf(play->jvm.temp, sizeof(play->jvm.temp), "/tmp");
	play->p = (struct protocol){&play->jvm, -EACCES, -1, play->caller[0], 5000, 5000};
}

/* Kills the player. Returns what it saw when signalled: 't' a trigger file, '-' none, '2' several signals, 0 no signal. */
static char signal_seen(const struct play *play)
{
	char c = 0;

	kill(play->pid, SIGKILL);
	if (read(verdict[0], &c, 1) != 1)
		return 0;
	return c;
}

/* The same, but waits until the player has checked for the trigger file, and does not kill it. */
static char signal_await(void)
{
	char c = 0;

	return read(verdict[0], &c, 1) == 1 ? c : 0;
}

static bool trigger_exists(const struct play *play)
{
	char name[64];

	snprintf(name, sizeof(name), ".attach_pid%d", (int)play->pid);
	return !access(name, F_OK);
}

/* Waits for the process that jhot left behind to remove the trigger. */
static bool trigger_removed(const struct play *play)
{
	for (int turns = 0; turns < 500 && trigger_exists(play); turns++)
		usleep(10000);
	return !trigger_exists(play);
}

static void play_end(struct play *play)
{
	char name[64];

	kill(play->pid, SIGKILL);
	waitpid(play->pid, NULL, 0);
	snprintf(name, sizeof(name), ".java_pid%d", (int)play->pid);
	unlink(name);
	close(ready[0]), close(verdict[0]);
	close(play->caller[0]), close(play->caller[1]);
	buf_done(&play->reply);
}

/* Connects, sends the request and receives the reply. */
static int converse(struct play *play)
{
	const char *const args[3] = {"/a.so", "true", "opts"};
	int sock = protocol_connect(&play->p, &play->err), rc;

	if (sock < 0)
		return -1;
	rc = protocol_send(sock, "load", args, &play->err);
	if (!rc)
		rc = protocol_receive(&play->p, sock, &play->reply, &play->err);
	close(sock);
	return rc;
}

/* Only connects; true if that fails. */
static bool connect_fails(struct play *play)
{
	int sock = protocol_connect(&play->p, &play->err);

	if (sock >= 0)
		close(sock);
	return sock < 0;
}

static void unlink_trigger(const struct play *play)
{
	char name[64];

	snprintf(name, sizeof(name), ".attach_pid%d", (int)play->pid);
	unlink(name);
}

/* Creates a trigger as another jhot would have, `seconds` ago. */
static void leave_trigger(const struct play *play, time_t seconds)
{
	struct timespec times[2] = {{time(NULL) - seconds, 0}, {time(NULL) - seconds, 0}};
	char name[64];
	int fd;

	snprintf(name, sizeof(name), ".attach_pid%d", (int)play->pid);
	fd = open(name, O_CREAT | O_WRONLY, 0600);
	if (fd < 0 || futimens(fd, times))
		fake_bail(name);
	close(fd);
}

static void test_answers(void)
{
	struct play play;
	int result = -1;

	play_begin(&play, ANSWER, "0\nreturn code: 0\n");
	is_int(converse(&play), 0, "a JVM that answers is attached to");
	is_str(buf_str(&play.reply), "0\nreturn code: 0\n",
		"a reply sent in two pieces arrives complete");
	ok(!reply_load(buf_str(&play.reply), play.reply.len, &result, &play.err) && result == 0,
		"the reply is parsed as a success");
	ok(!trigger_exists(&play), "the trigger file is removed after attaching");
	buf_clear(&play.reply);
	leave_trigger(&play, 0);
	is_int(converse(&play), 0, "a second request uses the existing socket");
	ok(!trigger_exists(&play), "a stale trigger file is removed if the socket exists");
	is_int(signal_seen(&play), 't', "the JVM receives one SIGQUIT and finds the trigger file");
	play_end(&play);

	play_begin(&play, HANG_UP, "");
	converse(&play);
	ok(reply_load(buf_str(&play.reply), play.reply.len, &result, &play.err) == -1,
		"a connection closed without a reply is an error: %s", play.err.what);
	play_end(&play);
}

static void test_silence(void)
{
	struct play play;

	play_begin(&play, READ_ONLY, "");
	play.p.reply_ms = 100;
	ok(converse(&play) && strstr(play.err.what, "did not answer"),
		"a JVM that does not reply is reported: %s", play.err.what);
	play_end(&play);

	play_begin(&play, NO_SOCKET, "");
	play.p.listen_ms = 100;
	ok(converse(&play) && strstr(play.err.what, "did not open its attach socket"),
		"a JVM that opens no socket is reported: %s", play.err.what);
	ok(trigger_exists(&play), "the trigger file stays while the JVM may still check for it");
	is_int(signal_seen(&play), 't', "the JVM received SIGQUIT once, with the trigger file");
	waitpid(play.pid, NULL, 0);
	ok(trigger_removed(&play), "the trigger file is removed after the JVM exited");
	play_end(&play);
}

/* A signal may be handled after jhot gave up: HotSpot prints all stacks unless it finds the trigger. */
static void test_given_up(void)
{
	struct play play;

	play_begin(&play, HANG_UP, "");
	play.p.listen_ms = 100;
	kill(play.pid, SIGSTOP);
	ok(converse(&play) && strstr(play.err.what, "did not open"),
		"attaching to a stopped JVM times out: %s", play.err.what);
	ok(converse(&play) && strstr(play.err.what, "earlier SIGQUIT"),
		"a second attempt does not signal the stopped JVM again: %s", play.err.what);
	kill(play.pid, SIGCONT);
	is_int(signal_await(), 't', "after SIGCONT the JVM gets one signal, with the trigger file");
	ok(trigger_removed(&play), "stopped JVM: the trigger file is removed afterwards");
	play_end(&play);

	play_begin(&play, LATE, "");
	play.p.listen_ms = 100;
	ok(converse(&play) && strstr(play.err.what, "did not open"),
		"attaching to a slow JVM times out: %s", play.err.what);
	ok(converse(&play) && strstr(play.err.what, "earlier SIGQUIT"),
		"a second attempt does not signal the slow JVM again: %s", play.err.what);
	is_int(signal_await(), 't', "the slow JVM finds the trigger file and a single signal");
	ok(trigger_removed(&play), "slow JVM: the trigger file is removed afterwards");
	play_end(&play);
}

static void test_ends(void)
{
	struct play play;

	play_begin(&play, DIE, "");
	play.p.pidfd = (int)syscall(SYS_pidfd_open, play.pid, 0);
	if (play.p.pidfd < 0) /* before Linux 5.3 its exit shows only as a timeout */
		play.p.listen_ms = 100;
	ok(converse(&play) && (play.err.kind == ERR_GONE || play.p.pidfd < 0),
		"a JVM that exits while attached to is reported: %s", play.err.what);
	close(play.p.pidfd);
	ok(trigger_removed(&play), "the trigger file is removed after the JVM has exited");
	play_end(&play);

	play_begin(&play, LATE, "");
	close(play.caller[1]);
	play.caller[1] = -1;
	ok(converse(&play) && strstr(play.err.what, "jhot itself"),
		"attaching is interrupted when jhot ends between signal and check: %s",
		play.err.what);
	is_int(signal_await(), 't', "the trigger file stays until the JVM has checked for it");
	ok(trigger_removed(&play), "the trigger file is removed after the JVM has checked for it");
	play_end(&play);
}

static void expect_no_signal(enum mode mode, const char *what)
{
	struct play play;

	play_begin(&play, mode, "");
	ok(converse(&play) && strstr(play.err.what, "does not handle SIGQUIT"),
		"%s: attaching is refused: %s", what, play.err.what);
	ok(!kill(play.pid, 0) && !trigger_exists(&play),
		"a process that is refused is alive, and no trigger file exists");
	is_int(signal_seen(&play), 0, "a process that is refused received no signal");
	play_end(&play);
}

static void test_no_signal(void)
{
	struct play play;
	char name[64], folder[] = "cwd";

	expect_no_signal(DEFAULT_ACT, "SIGQUIT not handled");
	expect_no_signal(OWN_HANDLER, "SIGQUIT handled by the program");
	expect_no_signal(OWN_NAMES, "SIGQUIT handled by the program, a thread has HotSpot's name");

	play_begin(&play, COLLECTS, "");
	ok(!connect_fails(&play),
		"attaching works if a thread of the program waits for SIGQUIT with sigwait: %s",
		play.err.what);
	is_int(signal_seen(&play), 't', "the VM thread receives it, not the thread in sigwait");
	play_end(&play);

	play_begin(&play, ANSWER, "");
	play.jvm.euid++; /* the JVM would not accept a trigger of another owner and print a thread dump */
	ok(converse(&play) && strstr(play.err.what, "Cannot create the file"),
		"a trigger file that cannot belong to the JVM's user is an error: %s",
		play.err.what);
	ok(!trigger_exists(&play), "wrong owner: no trigger file is left");
	is_int(signal_seen(&play), 0, "wrong owner: no signal is sent");
	play_end(&play);

	play_begin(&play, ANSWER, "");
	play.jvm.start_ticks++; /* the pid was reused, and there is no pidfd to detect that */
	ok(converse(&play) && strstr(play.err.what, "changed while"),
		"a pid that was reused is refused: %s", play.err.what);
	ok(!trigger_exists(&play), "reused pid: no trigger file is left");
	is_int(signal_seen(&play), 0, "reused pid: no signal is sent");
	play_end(&play);

	play_begin(&play, ANSWER, "0\n");
	leave_trigger(&play, 60);
	ok(!converse(&play) && !trigger_exists(&play), "a stale trigger file is used and removed");
	is_int(signal_seen(&play), 't', "stale trigger: the JVM is signalled once");
	play_end(&play);

	play_begin(&play, ANSWER, "0\n");
	snprintf(name, sizeof(name), ".attach_pid%d", (int)play.pid);
	if (symlink("elsewhere", name))
		fake_bail("symlink");
	ok(converse(&play) != 0 && access("elsewhere", F_OK),
		"no trigger file is created through a symbolic link");
	is_int(signal_seen(&play), 0, "symbolic link: no signal is sent");
	unlink(name);
	play_end(&play);

	/* The JVM checks its working folder first, and only that if there is an entry of the trigger's name. */
	play_begin(&play, ANSWER, "0\n");
	snprintf(name, sizeof(name), "%s/.attach_pid%d", folder, (int)play.pid);
	if (mkdir(folder, 0700) || mkdir(name, 0700))
		fake_bail(name);
	play.p.cwd = open(folder, O_PATH | O_DIRECTORY);
	ok(converse(&play) && strstr(play.err.what, "prevents attaching"),
		"a folder of the trigger's name prevents attaching: %s", play.err.what);
	is_int(signal_seen(&play), 0, "folder of the trigger's name: no signal is sent");
	close(play.p.cwd);
	rmdir(name);
	rmdir(folder);
	play_end(&play);
}

/* A second signal would make the JVM print all its stacks. */
static void test_concurrent(void)
{
	uint64_t start_ns;
	struct play play;
	pid_t other;

	play_begin(&play, ANSWER, "0\n");
	leave_trigger(&play, 0);
	other = fork();
	if (other == 0) {
		usleep(300000);
		kill(play.pid, SIGQUIT);
		_exit(0);
	}
	start_ns = clock_mono_ns();
	ok(!converse(&play), "attaching succeeds when another tool wakes the JVM");
	ok(clock_mono_ns() - start_ns > 250 * NS_PER_MS,
		"attaching waits for the other tool's signal");
	waitpid(other, NULL, 0);
	play_end(&play);

	play_begin(&play, ANSWER, "0\n");
	leave_trigger(&play, 0);
	play.p.listen_ms = 300;
	ok(converse(&play) && strstr(play.err.what, "Another tool") && trigger_exists(&play),
		"a JVM that another tool may have signalled is not signalled, and its trigger is "
		"kept: %s",
		play.err.what);
	is_int(signal_seen(&play), 0, "concurrent tool: no signal is sent");
	unlink_trigger(&play);
	play_end(&play);
}

/* Returns 'c' if the listener received at least a byte, otherwise 'n'. Does not block. */
static char data_received(int listener)
{
	int sock;
	char c, got = 'n';

	fcntl(listener, F_SETFL, O_NONBLOCK);
	while ((sock = accept(listener, NULL, NULL)) >= 0) {
		if (recv(sock, &c, 1, MSG_DONTWAIT) == 1)
			got = 'c';
		close(sock);
	}
	return got;
}

/* Another process of the JVM's user listens under the JVM's socket name. */
static void test_impostor(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct play play;
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);

	play_begin(&play, ANSWER, "0\nreturn code: 0\n");
	snprintf(addr.sun_path, sizeof(addr.sun_path), ".java_pid%d", (int)play.pid);
	if (listener < 0 || bind(listener, (struct sockaddr *)&addr, sizeof(addr)) ||
		listen(listener, 5))
		fake_bail("bind");
	ok(converse(&play) && strstr(play.err.what, "sent it nothing"),
		"a socket of another process is refused: %s", play.err.what);
	is_int(data_received(listener), 'n', "the impostor receives no data");
	is_int(signal_seen(&play), 0,
		"impostor: no signal is sent, as the JVM may have its listener already");
	ok(!trigger_exists(&play), "impostor: no trigger file is left");
	close(listener);
	play_end(&play);
}

static void test_full(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), first = socket(AF_UNIX, SOCK_STREAM, 0);
	struct play play;

	play_begin(&play, ANSWER, "");
	snprintf(addr.sun_path, sizeof(addr.sun_path), ".java_pid%d", (int)play.pid);
	if (listener < 0 || bind(listener, (struct sockaddr *)&addr, sizeof(addr)) ||
		listen(listener, 0) || connect(first, (struct sockaddr *)&addr, sizeof(addr)))
		fake_bail("connect");
	play.p.listen_ms = 100;
	ok(converse(&play) && strstr(play.err.what, "did not accept the connection"),
		"a socket with a full backlog is reported: %s", play.err.what);
	is_int(signal_seen(&play), 0, "full backlog: no signal is sent");
	close(first);
	close(listener);
	play_end(&play);
}

/* The JVM listens, but this process cannot open a descriptor to connect. */
static void test_no_descriptor(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), rc;
	struct rlimit limit, none;
	struct play play;

	play_begin(&play, ANSWER, "");
	snprintf(addr.sun_path, sizeof(addr.sun_path), ".java_pid%d", (int)play.pid);
	if (bind(listener, (struct sockaddr *)&addr, sizeof(addr)) || listen(listener, 5) ||
		getrlimit(RLIMIT_NOFILE, &limit))
		fake_bail("bind");
	none = (struct rlimit){0, limit.rlim_max};
	setrlimit(RLIMIT_NOFILE, &none);
	rc = converse(&play);
	setrlimit(RLIMIT_NOFILE, &limit);
	ok(rc && strstr(play.err.what, "cannot be reached"),
		"running out of descriptors is reported: %s", play.err.what);
	is_int(signal_seen(&play), 0,
		"no descriptor: no signal is sent, which would print the JVM's stacks");
	close(listener);
	play_end(&play);
}

static void test_long_argument(void)
{
	char longer[1026];
	const char *const args[3] = {"/a.so", "true", longer};
	struct err err = {0};
	int ends[2];

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		fake_bail("socketpair");
	ok(protocol_send(ends[0], "load", args, &err) && strstr(err.what, "1025 bytes"),
		"an argument longer than the protocol allows is refused: %.60s", err.what);
	longer[1024] = '\0';
	ok(!protocol_send(ends[0], "load", args, &err), "an argument of 1,024 bytes is sent");
	close(ends[1]);
	ok(protocol_send(ends[0], "load", args, &err) == -1, "sending to a closed socket fails: %s",
		err.what);
	close(ends[0]);
}

int main(void)
{
	fake_begin();
	proc_root = "/proc";
	if (chdir(fake_root))
		fake_bail("chdir");
	test_answers();
	test_silence();
	test_given_up();
	test_ends();
	test_no_signal();
	test_concurrent();
	test_impostor();
	test_full();
	test_no_descriptor();
	test_long_argument();
	fake_end();
	return tap_done();
}
