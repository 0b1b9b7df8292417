/* SPDX-License-Identifier: Apache-2.0 */
/* share: what clients receive is the server's profile, whatever they and other processes do. */
#include "base/clock.h"
#include "share/share.h"
#include "tests/recording/kinds.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS 30u

static struct hotspot jvm;
static struct vitals vitals;

static struct share *serve(const struct profile *p)
{
	const struct share_options o = {.jvm = jvm, .profile = p, .meta = meta};
	struct err err = {0};
	struct share *s = share_open(&o, &err);

	if (!s)
		diag("%s", err.what);
	return s;
}

static void step(struct share *s)
{
	vitals.time_ns += NS_PER_S;
	share_step(s, &vitals, 5 * NS_PER_S);
}

/* Reads until nothing more comes, while the server works. Returns the last result of shared_read. */
static int read_all(struct share *s, struct shared *c, struct err *err)
{
	int rc = 1, idle = 0;

	while (rc >= 0 && idle < 3) {
		if (s)
			step(s);
		rc = shared_read(c, 0, err);
		idle = rc ? 0 : idle + 1;
	}
	return rc;
}

static void grow(struct profile *p, uint32_t s)
{
	profile_advance(p, s);
	second_of(p, s);
	some_waits(p, s);
	changes(p, s);
}

static struct profile *begun(uint32_t seconds)
{
	struct profile *p = profile_new();

	profile_set_start(p, 1700000000 * NS_PER_S);
	name_threads(p);
	for (uint32_t s = 0; s < seconds; s++)
		grow(p, s);
	return p;
}

/* A client that joins in the middle has all of it at the end; so has one that asks for a copy. */
static void test_same(void)
{
	struct profile *p = begun(SECONDS / 2), *watched = profile_new(), *copied = profile_new();
	struct share *s = serve(p);
	struct err err = {0};
	struct shared *w, *c;

	ok(s != NULL, "a session can be shared");
	w = shared_open(&jvm, SHARE_WATCH, watched, &err);
	ok(w != NULL, "another process can watch it %s", err.what);
	is_int(read_all(s, w, &err), 0, "watching does not end by itself");
	ok(profile_info(watched).now >= SECONDS / 2 - 4,
		"what was sampled before is there (second %u)", profile_info(watched).now);
	is_str(shared_vitals(w)->name, "Cart", "the vitals name the program");
	is_int(shared_server(w), getpid(), "the server's process is known");
	for (uint32_t n = SECONDS / 2; n < SECONDS; n++) {
		grow(p, n);
		step(s);
		if (n % 3 == 0)
			shared_read(w, 0, &err);
	}
	c = shared_open(&jvm, SHARE_COPY, copied, &err);
	is_int(read_all(s, c, &err), -1, "a copy has an end");
	ok(shared_complete(c), "a copy is complete");
	is_str(recording_host(shared_recording(c)), "box", "a copy has the host's name");
	same(same_text(p, false), same_text(copied, false), "copy");
	ok(!shared_complete(w), "a session that goes on is not complete");
	share_finish(s, &vitals, 7 * NS_PER_S);
	is_int(read_all(NULL, w, &err), -1, "watching ends with the session");
	ok(err.kind == ERR_GONE && shared_complete(w),
		"the client has everything, and an error that says so: %s", err.what);
	is_int(recording_duration_ns(shared_recording(w)) / NS_PER_S, 7,
		"the duration is that of the session");
	same(same_text(p, false), same_text(watched, false), "watching");
	share_close(s);
	ok(!shared_open(&jvm, SHARE_COPY, copied, &err) && err.kind == ERR_NO_TARGET,
		"after the end of the server, nothing can be connected to");
	shared_close(w);
	shared_close(c);
	profile_free(watched);
	profile_free(copied);
	profile_free(p);
}

static int connect_raw(void)
{
	struct sockaddr_un at;
	socklen_t bytes = share_address(&jvm, &at);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (struct sockaddr *)&at, bytes))
		diag("connect failed");
	return fd;
}

/* True once the server has closed the connection. */
static bool is_closed(struct share *s, int fd)
{
	char byte;

	for (int i = 0; i < 10; i++) {
		step(s);
		if (recv(fd, &byte, 1, MSG_DONTWAIT) == 0)
			return true;
	}
	return false;
}

/* Clients that do not follow the protocol, or do not read. */
static void test_bad_clients(void)
{
	struct profile *p = begun(SECONDS), *q = profile_new();
	struct share *s = serve(p);
	struct share_hello hello = {SHARE_MAGIC, SHARE_VERSION, SHARE_WATCH};
	struct share_hello future = {SHARE_MAGIC, SHARE_VERSION + 1, SHARE_WATCH};
	struct shared *slow, *c;
	struct err err = {0};
	int garbage = connect_raw(), version = connect_raw(), part = connect_raw(), silent[6];
	uint64_t begin_ns;

	ok(send(garbage, "GET / HTTP/1.1\r\n\r\n", 18, 0) == 18 && is_closed(s, garbage),
		"a client of another protocol is dropped");
	ok(send(version, &future, sizeof(future), 0) == sizeof(future) && is_closed(s, version),
		"a client of another version is dropped");
	ok(send(part, &hello, 5, 0) == 5 && is_closed(s, part),
		"a client that sends half a request is dropped");
	close(garbage);
	close(version);
	close(part);

	slow = shared_open(&jvm, SHARE_WATCH, q, &err);
	begin_ns = clock_mono_ns();
	for (uint32_t n = SECONDS; n < SECONDS + 300; n++) {
		grow(p, n);
		step(s);
	}
	diag("300 seconds with a client that does not read: %.0f ms",
		(double)(clock_mono_ns() - begin_ns) / 1e6);
	is_int(read_all(s, slow, &err), 0, "a client that did not read for a while goes on");
	ok(profile_info(q).now >= SECONDS + 300 - 4, "that client catches up (second %u of %u)",
		profile_info(q).now, profile_info(p).now);

	for (int i = 0; i < 6; i++)
		silent[i] = connect_raw();
	step(s);
	c = shared_open(&jvm, SHARE_COPY, profile_new(), &err);
	is_int(read_all(s, c, &err), -1, "a copy can be read beside six silent clients");
	ok(shared_complete(c), "that copy is complete");
	for (int i = 0; i < 6; i++)
		close(silent[i]);
	shared_close(slow);
	step(s);
	begin_ns = clock_mono_ns();
	silent[0] = connect_raw();
	share_finish(s, &vitals, NS_PER_S);
	ok(clock_mono_ns() - begin_ns < 5 * NS_PER_S, "the end does not wait for silent clients");
	close(silent[0]);
	share_close(s);
	shared_close(c);
	profile_free(q);
	profile_free(p);
}

/* A server that is not ours: what it sends is not trusted. */
static void test_bad_server(void)
{
	static const struct {
		const char *what;
		size_t bytes;
		unsigned char data[24];
	} rows[] = {
		{"a length of 4 GiB", 4, {0xff, 0xff, 0xff, 0xff}},
		{"something that is no recording", 20, {16, 0, 0, 0, 'n', 'o', 'n', 'e'}},
		{"an empty message", 4, {0, 0, 0, 0}},
	};
	struct sockaddr_un at;
	socklen_t bytes = share_address(&jvm, &at);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), peer;
		struct profile *p = profile_new();
		struct err err = {0};
		struct shared *c;

		if (bind(fd, (struct sockaddr *)&at, bytes) || listen(fd, 1))
			diag("the name is in use");
		c = shared_open(&jvm, SHARE_WATCH, p, &err);
		peer = accept(fd, NULL, NULL);
		if (send(peer, rows[i].data, rows[i].bytes, 0) < 0)
			diag("not sent");
		close(peer);
		ok(shared_read(c, 1000, &err) < 0 && *err.what, "%s is an error: %s", rows[i].what,
			err.what);
		shared_close(c);
		profile_free(p);
		close(fd);
	}
}

/* Another user may not read, unless the JVM is his own. */
static void test_users(void)
{
	struct profile *p = begun(SECONDS);
	struct share *s;
	struct err err = {0};
	int status[2] = {0};

	if (geteuid() != 0) {
		tap_skip("other users", "not root");
		profile_free(p);
		return;
	}
	for (int own = 0; own < 2; own++) {
		pid_t child;

		jvm.euid = own ? 12345 : 54321;
		s = serve(p);
		child = fork();
		if (!child) {
			struct profile *q = profile_new();
			struct shared *c;
			int rc = 0;

			if (setresuid(12345, 12345, 12345))
				_exit(9);
			c = shared_open(&jvm, SHARE_COPY, q, &err);
			while (c && !rc)
				rc = shared_read(c, 5000, &err);
			_exit(c && shared_complete(c) ? 1 : 2);
		}
		for (int i = 0; i < 200 && waitpid(child, &status[own], WNOHANG) != child; i++) {
			step(s);
			usleep(20000);
		}
		share_close(s);
	}
	is_int(WEXITSTATUS(status[0]), 2, "another user gets nothing");
	is_int(WEXITSTATUS(status[1]), 1, "the user of the JVM gets a copy");
	jvm.euid = geteuid();
	profile_free(p);
}

int main(void)
{
	vitals = some_vitals();
	jvm.nspid = getpid();
	jvm.start_ticks = 4711;
	jvm.euid = geteuid();
	test_same();
	test_bad_clients();
	test_bad_server();
	test_users();
	return tap_done();
}
