/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict on mock processes: each case is a valid HotSpot JVM with one change, the expected verdict and words of
 * its reason.
 */
#include "attach/jvm/cmdline.h"
#include "attach/jvm/hotspot.h"

#include "tests/attach/fake.h"
#include "tests/tap.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#define QUIT_CAUGHT "0000000000000004"
#define LIBJVM      "/jdk/lib/server/libjvm.so"

struct fake_jvm {
	char state;
	int threads;
	bool other_uid, other_gid;
	const char *caught, *cmdline, *environ; /* words between '|' */
	const char *libjvm_content;             /* NULL: no libjvm mapped */
	const char *mapped_as;                  /* path in maps */
	bool maps_closed, fds_closed, socket;
	const char *capability; /* NULL: no hsperfdata */
	const char *vm_name;
	bool perf_starting;
	int age_s;
	const char *exe_content;
	const char *dispatcher, *vm_thread; /* the names of threads */
	const char *vm_args;                /* in its counters */
	const char *vm_blocked;             /* of the VM thread's SigBlk */
	bool listens;                       /* its attach listener's thread runs */
	const char *temp;                   /* its temporary folder */
};

static const struct fake_jvm good = {
	.state = 'S',
	.threads = 20,
	.caught = QUIT_CAUGHT,
	.cmdline = "/jdk/bin/java|-Xmx1g|-jar|/opt/shop/shop-api.jar|--port|80",
	.environ = "PATH=/bin",
	.libjvm_content = "....gHotSpotVMStructs....",
	.mapped_as = LIBJVM,
	.capability = "1100000000",
	.vm_name = "OpenJDK 64-Bit Server VM",
	.age_s = 1000,
	.exe_content = "ELF",
	.dispatcher = "Signal Dispatch",
	.vm_thread = "VM Thread",
	.vm_args = "-Xmx1g",
	.vm_blocked = "0",
	.temp = "/tmp",
};

static pid_t next_pid = 10000000; /* above any real pid */

static const char *in(pid_t pid, const char *file)
{
	static char path[4][256];
	static int turn;
	char *out = path[turn++ % 4];

	snprintf(out, sizeof(path[0]), "%d/%s", (int)pid, file);
	return out;
}

/* "a|b" -> "a\0b\0", as the kernel shows a command line */
static void add_words(struct buf *b, const char *words)
{
	for (const char *p = words; *p; p++)
		buf_addc(b, *p == '|' ? '\0' : *p);
	if (*words)
		buf_addc(b, '\0');
}

static void words_file(const char *path, const char *words)
{
	struct buf b = {0};

	add_words(&b, words);
	fake_bytes(path, b.data, b.len);
	buf_done(&b);
}

static void make_status(pid_t pid, const struct fake_jvm *j)
{
	unsigned uid = geteuid() + (j->other_uid ? 1 : 0), gid = getegid() + (j->other_gid ? 1 : 0);
	char text[512];

	snprintf(text, sizeof(text),
		"Name:\tjava\nState:\t%c "
		"(x)\nUid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\nNSpid:\t%d\nVmRSS:\t1024 kB\n"
		"Threads:\t%d\nSigCgt:\t%s\n",
		j->state, uid, uid, uid, uid, gid, gid, gid, gid, (int)pid, j->threads, j->caught);
	fake_file(in(pid, "status"), text);
	snprintf(text, sizeof(text),
		"%d (java) %c 1 2 3 4 5 6 7 8 9 10 250 50 13 14 15 16 17 18 %lld 20\n", (int)pid,
		j->state, (100000ll - j->age_s) * sysconf(_SC_CLK_TCK));
	fake_file(in(pid, "stat"), text);
}

static void make_thread(pid_t pid, int tid, const char *name, const char *blocked)
{
	char path[128], text[256];

	snprintf(path, sizeof(path), "%d/task/%d/comm", (int)pid, tid);
	snprintf(text, sizeof(text), "%s\n", name);
	fake_file(path, text);
	snprintf(path, sizeof(path), "%d/task/%d/status", (int)pid, tid);
	snprintf(text, sizeof(text), "Name:\t%s\nState:\tS (sleeping)\nSigBlk:\t%s\n", name,
		blocked);
	fake_file(path, text);
}

static void make_threads(pid_t pid, const struct fake_jvm *j)
{
	make_thread(pid, (int)pid, "java", "0");
	make_thread(pid, 102, j->vm_thread, j->vm_blocked);
	make_thread(pid, 103, j->dispatcher, QUIT_CAUGHT);
	if (j->listens)
		make_thread(pid, 104, "Attach Listener", QUIT_CAUGHT);
}

static void make_maps(pid_t pid, const struct fake_jvm *j)
{
	char text[512], path[128], perf[256] = "";

	if (j->capability)
		snprintf(perf, sizeof(perf),
			"7e0000000000-7e0000008000 rw-s 00000000 fe:01 7 %s/hsperfdata_web/%d\n",
			j->temp, (int)pid);
	snprintf(text, sizeof(text), "%s7f0000000000-7f0000001000 r-xp 00000000 fe:01 %d    %s\n",
		perf, (int)pid, j->libjvm_content ? j->mapped_as : "/lib/libc.so.6");
	if (j->maps_closed) /* a folder in its place makes it unreadable */
		fake_path(in(pid, "maps/x"));
	else
		fake_file(in(pid, "maps"), text);
	if (j->libjvm_content) {
		snprintf(path, sizeof(path), "%d/root%s", (int)pid, LIBJVM);
		fake_file(path, j->libjvm_content);
	}
	fake_file(in(pid, "root/jdk/release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"17.0.99\"\n");
	fake_file(in(pid, "launcher"), j->exe_content);
	if (symlink("launcher", fake_path(in(pid, "exe"))))
		fake_bail("symlink");
}

static void make_perf(pid_t pid, const struct fake_jvm *j)
{
	struct buf b = {0};
	char path[64];

	snprintf(path, sizeof(path), "%d/root%s/hsperfdata_web/%d", (int)pid, j->temp, (int)pid);
	fake_perf_begin(&b);
	if (j->perf_starting)
		b.data[7] = 0;
	fake_perf_string(&b, "sun.rt.jvmCapabilities", j->capability);
	fake_perf_string(&b, "java.rt.vmArgs", j->vm_args);
	fake_perf_string(&b, "java.rt.vmFlags", "");
	fake_perf_string(&b, "java.property.java.vm.name", j->vm_name);
	fake_perf_string(&b, "java.property.java.version", "21.0.4");
	fake_bytes(path, b.data, b.len);
	buf_done(&b);
}

static void make_socket(pid_t pid)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	char name[64];
	int s = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(name, sizeof(name), "%d/root/tmp/.java_pid%d", (int)pid, (int)pid);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", fake_path(name));
	if (s < 0 || bind(s, (struct sockaddr *)&addr, sizeof(addr)))
		fake_bail("bind");
	close(s);
}

static pid_t make(const struct fake_jvm *j)
{
	pid_t pid = next_pid++;

	make_status(pid, j);
	words_file(in(pid, "cmdline"), j->cmdline);
	words_file(in(pid, "environ"), j->environ);
	make_maps(pid, j);
	make_threads(pid, j);
	fake_path(in(pid, "root/tmp/x"));
	if (j->capability)
		make_perf(pid, j);
	if (j->socket)
		make_socket(pid);
	if (!j->fds_closed && symlink("/dev/null", fake_path(in(pid, "fd/0"))))
		fake_bail("symlink");
	return pid;
}

#define CASE(verdict, why, ...)                         \
	do {                                            \
		struct fake_jvm j = good;               \
		__VA_ARGS__;                            \
		expect(#__VA_ARGS__, &j, verdict, why); \
	} while (0)

static void expect(
	const char *name, const struct fake_jvm *j, enum hotspot_verdict verdict, const char *why)
{
	struct hotspot jvm;
	struct err err = {0};
	bool right;

	if (hotspot_check(make(j), &jvm, &err)) {
		ok(false, "%s: %s", name, err.what);
		return;
	}
	right = jvm.verdict == verdict && strstr(jvm.why, why) && (why[0] || !jvm.why[0]);
	ok(right, "with %s the verdict is \"%s\". %s", name, hotspot_verdict_names[jvm.verdict],
		jvm.why);
}

#define TEN(a)    a a a a a a a a a a
#define LONG_ARGS TEN(TEN("-Dlong=arg "))

/* A mock root is a folder other than "/", so a good JVM counts as one in another root. */
static void test_verdicts(void)
{
	CASE(HOTSPOT_OK_NS, "", j.age_s = 1000);
	CASE(HOTSPOT_NO, "ended already", j.state = 'Z');
	CASE(HOTSPOT_NO, "stopped", j.state = 'T');
	CASE(HOTSPOT_NO, "debugger", j.state = 't');
	CASE(HOTSPOT_NO, "not a Java process", j.libjvm_content = NULL; j.capability = NULL;
		j.cmdline = "sleep|9");
	CASE(HOTSPOT_NO, "native-image", j.libjvm_content = NULL; j.exe_content = "...svm_heap..");
	CASE(HOTSPOT_NO, "read its memory map", j.maps_closed = true; j.capability = NULL;
		j.cmdline = "sleep|9");
	CASE(HOTSPOT_NO, "read its memory map", j.maps_closed = true);
	CASE(HOTSPOT_NO, "not HotSpot's", j.libjvm_content = "J9VMStructs"; j.capability = NULL);
	CASE(HOTSPOT_NO, "Zing", j.vm_name = "Zing 64-Bit Tiered VM");
	CASE(HOTSPOT_NO, "OpenJ9", j.vm_name = "Eclipse OpenJ9 VM");
	CASE(HOTSPOT_NO, "attaching disabled", j.capability = "0100000000");
	CASE(HOTSPOT_NO, "attaching disabled", j.capability = NULL;
		j.cmdline = "java|-XX:+DisableAttachMechanism|Main");
	CASE(HOTSPOT_NO, "attaching disabled", j.capability = NULL;
		j.environ = "A=1|JAVA_TOOL_OPTIONS=-Xmx1g -XX:+DisableAttachMechanism");
	CASE(HOTSPOT_UNKNOWN, "hsperfdata", j.capability = NULL;
		j.cmdline = "java|-cp|-XX:+DisableAttachMechanism|Main");
	CASE(HOTSPOT_UNKNOWN, "hsperfdata", j.capability = NULL;
		j.environ = "X_JAVA_TOOL_OPTIONS=-XX:+DisableAttachMechanism");
	CASE(HOTSPOT_UNKNOWN, "hsperfdata", j.capability = NULL);
	CASE(HOTSPOT_OK_NS, "", j.capability = NULL; j.socket = true);
	CASE(HOTSPOT_NO, "does not handle SIGQUIT (-Xrs, or", j.caught = "0");
	CASE(HOTSPOT_NO, "it runs with -Xrs", j.caught = "0"; j.cmdline = "java|-Xrs|Main");
	CASE(HOTSPOT_NO, "it runs with -Xrs", j.caught = "0"; j.age_s = 1;
		j.cmdline = "java|-Xrs|Main");
	CASE(HOTSPOT_OK_NS, "", j.caught = "0"; j.socket = true; j.listens = true);
	/* a stale socket of another JVM with the same pid, in a /tmp shared between containers */
	CASE(HOTSPOT_NO, "listener is not running", j.caught = "0"; j.socket = true);
	/* SIGQUIT is handled by the embedding program; in the last two cases its threads have HotSpot's names */
	CASE(HOTSPOT_NO, "does not handle SIGQUIT", j.dispatcher = "worker");
	CASE(HOTSPOT_NO, "does not handle SIGQUIT", j.vm_blocked = QUIT_CAUGHT);
	CASE(HOTSPOT_OK_NS, "", j.dispatcher = "Signal ..atcher");
	/* early JDK 8 does not name its threads, so the options must be readable */
	CASE(HOTSPOT_OK_NS, "", j.dispatcher = j.vm_thread = "java");
	CASE(HOTSPOT_NO, "does not handle SIGQUIT", j.dispatcher = j.vm_thread = "java";
		j.capability = NULL);
	CASE(HOTSPOT_NO, "it runs with -Xrs", j.dispatcher = j.vm_thread = "java";
		j.vm_args = "-Xrs");
	CASE(HOTSPOT_NO, "does not handle SIGQUIT", j.dispatcher = j.vm_thread = "java";
		j.vm_args = LONG_ARGS);
	CASE(HOTSPOT_NO, "does not handle SIGQUIT", j.dispatcher = j.vm_thread = "java";
		j.vm_blocked = QUIT_CAUGHT);
	CASE(HOTSPOT_OK_NS, "", j.dispatcher = "worker"; j.socket = true; j.listens = true);
	CASE(HOTSPOT_NO, "still starting", j.caught = "0"; j.age_s = 1);
	CASE(HOTSPOT_NO, "still starting", j.perf_starting = true; j.age_s = 1);
	CASE(HOTSPOT_NO, "still starting", j.libjvm_content = NULL; j.capability = NULL;
		j.age_s = 0);
	CASE(HOTSPOT_NO, "descriptors", j.fds_closed = true);
	CASE(HOTSPOT_OK_NS, "", j.mapped_as = LIBJVM " (deleted)");
	CASE(HOTSPOT_UNKNOWN, "cannot be read", j.mapped_as = LIBJVM " (deleted)";
		j.capability = NULL);
}

/* The string by which a JVM that supports AltTempDir is recognized. */
#define KNOWS_ALT_TEMP "..gHotSpotVMStructs..AltTempDir.."

static void expect_temp(const struct fake_jvm *j, const char *temp, const char *what)
{
	struct hotspot jvm;
	struct err err = {0};

	hotspot_check(make(j), &jvm, &err);
	is_str(jvm.temp, temp, what);
}

static void test_temp(void)
{
	struct fake_jvm relocated = good, silent = good;

	relocated.temp = "/var/alt";
	expect_temp(
		&relocated, "/var/alt", "the temporary folder is the one that holds the counters");
	relocated.temp = "/var/hsperfdata_x";
	expect_temp(&relocated, "/var/hsperfdata_x",
		"a temporary folder named hsperfdata_x is recognized");
	silent.capability = NULL;
	silent.cmdline = "java|-XX:AltTempDir=/x|Main";
	expect_temp(
		&silent, "/tmp", "without counters, before JDK 28, the temporary folder is /tmp");
	silent.libjvm_content = KNOWS_ALT_TEMP;
	silent.cmdline = "java|Main";
	expect_temp(&silent, "/tmp",
		"without counters and without AltTempDir, it is /tmp in later JDKs, too");
	CASE(HOTSPOT_NO, "folder", j.libjvm_content = KNOWS_ALT_TEMP; j.capability = NULL;
		j.cmdline = "java|-XX:AltTempDir=/x|Main");
	CASE(HOTSPOT_NO, "folder", j.libjvm_content = KNOWS_ALT_TEMP; j.capability = NULL;
		j.environ = "A=1|JAVA_TOOL_OPTIONS=-XX:AltTempDir=/x");
	CASE(HOTSPOT_NO, "folder", j.libjvm_content = KNOWS_ALT_TEMP; j.capability = NULL;
		j.environ = "JDK_JAVA_OPTIONS=@more");
	CASE(HOTSPOT_NO, "folder", j.libjvm_content = KNOWS_ALT_TEMP; j.capability = NULL;
		j.cmdline = "java|@options|Main");
	CASE(HOTSPOT_NO, "folder", j.libjvm_content = KNOWS_ALT_TEMP; j.capability = NULL;
		j.cmdline = "launcher|Main");
}

static void test_other_users(void)
{
	if (geteuid() == 0) {
		CASE(HOTSPOT_OK_NS, "", j.other_gid = true);
		if (setegid(65534) || seteuid(65534))
			fake_bail("seteuid");
	}
	CASE(HOTSPOT_NEEDS_UID, "HotSpot lets only the same user", j.other_uid = true);
	CASE(HOTSPOT_NEEDS_UID, "HotSpot lets only", j.other_uid = true; j.maps_closed = true);
	CASE(HOTSPOT_NEEDS_UID, "same user and group", j.other_gid = true);
	CASE(HOTSPOT_NO, "read its memory map", j.other_uid = true; j.maps_closed = true;
		j.capability = NULL; j.cmdline = "sleep|9");
	if (getuid() == 0 && (seteuid(0) || setegid(0)))
		fake_bail("seteuid");
}

static void test_facts(void)
{
	struct hotspot jvm;
	struct err err = {0};
	struct fake_jvm j = good;
	pid_t pid = make(&j);

	hotspot_check(pid, &jvm, &err);
	is_str(jvm.name, "shop-api.jar", "a JVM started with -jar is named after the jar");
	is_str(jvm.args, "/jdk/bin/java -Xmx1g -jar /opt/shop/shop-api.jar --port 80",
		"args is the command line, joined with blanks");
	is_str(jvm.jdk, "21.0.4", "the JDK version comes from hsperfdata");
	is_str(jvm.vm, "OpenJDK 64-Bit Server VM", "the VM name comes from hsperfdata");
	is_str(jvm.libjvm, LIBJVM, "the path of libjvm comes from the maps");
	ok(jvm.is_java && jvm.is_hotspot && jvm.threads == 20 && jvm.rss_bytes == 1 << 20,
		"is_java, is_hotspot, thread count and resident size are filled in");
	ok(jvm.uptime_s == 1000 && jvm.cpu_ticks == 300, "uptime and CPU time come from stat");
	j.capability = NULL;
	hotspot_check(make(&j), &jvm, &err);
	is_str(jvm.jdk, "17.0.99",
		"without hsperfdata the version comes from the JDK's release file");
	fake_file(
		in(pid + 1000, "status"), "Name:\tGC Thread#0\nState:\tS\nTgid:\t7\nThreads:\t9\n");
	ok(hotspot_check(pid + 1000, &jvm, &err) == -1 && err.kind == ERR_NO_TARGET &&
			strstr(err.what, "a thread of process 7 (GC Thread#0)") &&
			!strcmp(err.hint, "jhot 7"),
		"a thread id is reported as such, with the process to use: %s", err.what);
	ok(hotspot_check(99, &jvm, &err) && err.kind == ERR_NO_TARGET,
		"a pid without a process is reported: %s", err.what);
	hotspot_check(pid, &jvm, &err);
	jvm.verdict = HOTSPOT_NEEDS_UID;
	snprintf(jvm.why, sizeof(jvm.why), "Because.");
	snprintf(jvm.hint, sizeof(jvm.hint), "one\ntwo");
	ok(hotspot_refusal(&jvm, &err) == -1 && err.kind == ERR_ATTACH &&
			strstr(err.what, "Because.") && !strcmp(err.hint, "one\ntwo"),
		"hotspot_refusal reports the reason and the advice: %s", err.what);
}

static void test_names(void)
{
	static const struct {
		const char *cmdline, *command, *name;
	} names[] = {
		{"java|-cp|a:b|-Xmx1g|org.acme.Main|-jar|x.jar", "", "org.acme.Main"},
		{"java|-m|mod/org.acme.Main", "", "org.acme.Main"},
		{"java|--module-path|x|--add-modules|ALL|-jar|dir with blank/app.jar",
			"dir with blank/app.jar arg", "app.jar"},
		{"java|@options|-Dx=y|Main", "", "Main"},
		{"java|@options", "org.acme.Hidden arg", "org.acme.Hidden"},
		{"java|-Dx=y|secret", "org.acme.Main secret", "org.acme.Main"},
		{"jwebserver|-b|127.0.0.1",
			"jdk.httpserver/sun.net.httpserver.simpleserver.JWebServer -b 127.0.0.1",
			"sun.net.httpserver.simpleserver.JWebServer"},
		{"javac|-encoding|UTF-8", "jdk.compiler/com.sun.tools.javac.Main -encoding UTF-8",
			"com.sun.tools.javac.Main"},
		{"launcher|secret", "", ""},
		{"java|-version", "", ""},
		{"java|-cp", "", ""},
		{"", "", ""},
	};
	struct fake_jvm embedded = good;
	struct hotspot jvm;
	struct err err = {0};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct buf b = {0};
		char name[64], what[256];

		add_words(&b, names[i].cmdline);
		cmdline_name(&b, names[i].command, name, sizeof(name));
		snprintf(what, sizeof(what),
			"the command line \"%s\", in counters \"%s\", gives the name \"%s\"",
			names[i].cmdline, names[i].command, names[i].name);
		is_str(name, names[i].name, what);
		buf_done(&b);
	}
	embedded.cmdline = "/opt/launcher|secret|7";
	hotspot_check(make(&embedded), &jvm, &err);
	is_str(jvm.name, "launcher", "an embedded JVM is named after its executable");
}

static void test_find(void)
{
	struct fake_jvm j = good;
	struct hotspot jvm;
	struct err err = {0};
	pid_t kafka;
	char pid[16];

	fake_end();
	fake_begin();
	fake_file("uptime", "100000.0 1\n");
	make(&j);
	make(&j);
	j.cmdline = "java|-Dconf=/etc/tomcat|kafka.Kafka";
	kafka = make(&j);
	j = good;
	j.libjvm_content = NULL;
	j.capability = NULL;
	j.cmdline = "sleep|shop";
	make(&j);
	ok(!hotspot_find("kafka", &jvm, &err) && jvm.pid == kafka,
		"a JVM is found by its class name: %s", err.what);
	ok(!hotspot_find("kafka.Kafka", &jvm, &err) && jvm.pid == kafka,
		"a JVM is found by its qualified class name");
	ok(hotspot_find("TOMCAT", &jvm, &err) && err.kind == ERR_NO_TARGET &&
			strstr(err.hint, "kafka.Kafka") && !strstr(err.hint, "shop"),
		"a word of the command line does not match, but the hint lists the JVM: %s",
		err.hint);
	ok(hotspot_find("Kaf", &jvm, &err) && hotspot_find("a", &jvm, &err) &&
			hotspot_find("kafka.", &jvm, &err) && hotspot_find("jar", &jvm, &err),
		"a prefix, a letter, a package or a suffix of the name does not match");
	snprintf(pid, sizeof(pid), "%d", (int)kafka);
	ok(!hotspot_find(pid, &jvm, &err) && jvm.pid == kafka, "a JVM is found by its pid");
	for (int i = 0; i < 2; i++)
		ok(hotspot_find(i ? "shop-api" : "Shop-API.jar", &jvm, &err) &&
				err.kind == ERR_NO_TARGET && strstr(err.what, "2 JVMs match") &&
				strstr(err.hint, "shop-api.jar\n") && !strstr(err.hint, "kafka"),
			"an ambiguous name is rejected with the candidates: %s", err.what);
	ok(hotspot_find("nosuch", &jvm, &err) && err.kind == ERR_NO_TARGET &&
			strstr(err.hint, "kafka"),
		"an unknown name is rejected with a list of JVMs: %s", err.what);
	fake_file(in(kafka + 1, "status"), "Name:\tsleep\nState:\tS\nVmRSS:\t8 kB\nThreads:\t1\n");
	ok(hotspot_find("sleep", &jvm, &err) && err.kind == ERR_ATTACH &&
			strstr(err.what, "not a Java process"),
		"a name that matches only a non-Java process is rejected: %s", err.what);
	snprintf(pid, sizeof(pid), "%d", (int)kafka + 1);
	ok(hotspot_find(pid, &jvm, &err) && err.kind == ERR_ATTACH,
		"the pid of a non-Java process is rejected");
	ok(hotspot_find("slee", &jvm, &err) && err.kind == ERR_NO_TARGET,
		"part of a non-Java process's name does not match");
	ok(hotspot_find("99999999999999999999", &jvm, &err) && err.kind == ERR_NO_TARGET,
		"a pid out of range is rejected");
	ok(hotspot_find("", &jvm, &err), "an empty name is rejected");
}

static const struct hotspot *row_of(const struct hotspot_list *list, pid_t pid)
{
	for (int i = 0; i < list->count; i++)
		if (list->jvms[i].pid == pid)
			return &list->jvms[i];
	return NULL;
}

/* Healthy JVMs before and after two that block: their command line is a fifo without a writer. */
static void test_silent(void)
{
	struct hotspot_list list;
	const struct hotspot *row;
	struct hotspot jvm;
	struct err err = {0};
	pid_t good_one, bad[2], last;

	fake_end();
	fake_begin();
	fake_file("uptime", "100000.0 1\n");
	good_one = make(&good);
	for (int i = 0; i < 2; i++) {
		bad[i] = make(&good);
		if (unlink(fake_path(in(bad[i], "cmdline"))) ||
			mkfifo(fake_path(in(bad[i], "cmdline")), 0600))
			fake_bail("mkfifo");
	}
	last = make(&good);
	alarm(120); /* kills this test if it hangs */
	is_int(hotspot_list(&list, &err), 0, "hotspot_list succeeds with two processes that block");
	is_int(list.count, 4, "all four processes are listed");
	for (int i = 0; i < 2; i++) {
		row = row_of(&list, i ? last : good_one);
		ok(row && row->verdict == HOTSPOT_OK_NS,
			"the JVM %s the blocking processes is listed as healthy",
			i ? "after" : "before");
		row = row_of(&list, bad[i]);
		ok(row && row->verdict == HOTSPOT_NO && strstr(row->why, "does not return") &&
				!strcmp(row->name, "java") && row->user[0],
			"the row of a process that blocks says so: %s", row ? row->why : "");
	}
	hotspot_list_done(&list);
	is_int(hotspot_check(bad[0], &jvm, &err), 0,
		"hotspot_check succeeds for a process that blocks");
	ok(jvm.verdict == HOTSPOT_NO && strstr(jvm.why, "does not return"),
		"the verdict of a process that blocks is that reads do not return: %s", jvm.why);
	ok(hotspot_find("shop-api", &jvm, &err) && strstr(err.what, "2 JVMs match"),
		"name lookup works despite processes that block");
	alarm(0);
}

static void test_scan_steps(void)
{
	struct hotspot_scan *l;
	struct hotspot_list list;
	struct err err = {0};
	int rc, steps = 0;

	fake_end();
	fake_begin();
	fake_file("uptime", "100000.0 1\n");
	for (int i = 0; i < 20; i++)
		make(&good);
	l = hotspot_scan_begin(&err);
	hotspot_scan_copy(l, &list);
	is_int(list.count, 0, "a scan lists nothing before its first step");
	hotspot_list_done(&list);
	while (!(rc = hotspot_scan_step(l, 0, &err)))
		steps++;
	hotspot_scan_copy(l, &list);
	ok(rc == 1 && list.count == 20, "a scan of 20 processes completes in %d steps of zero time",
		steps);
	hotspot_list_done(&list);
	hotspot_scan_end(l);
	l = hotspot_scan_begin(&err);
	hotspot_scan_step(l, 0, &err);
	hotspot_scan_end(l);
	ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD,
		"a scan that is ended early leaves no child process");
}

int main(void)
{
	fake_begin();
	if (chmod(fake_root, 0777))
		fake_bail("chmod");
	fake_file("uptime", "100000.0 1\n");
	test_verdicts();
	test_temp();
	test_other_users();
	test_facts();
	test_names();
	test_find();
	test_silent();
	test_scan_steps();
	fake_end();
	return tap_done();
}
