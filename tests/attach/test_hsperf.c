/* SPDX-License-Identifier: Apache-2.0 */
/* The hsperfdata reader: values from a valid file; corrupt files and random bytes are rejected safely. */
#include "attach/jvm/heap.h"
#include "attach/jvm/hsperf.h"
#include "attach/jvm/libjvm.h"

#include "tests/attach/fake.h"
#include "tests/tap.h"

#define FUZZ_ROUNDS 5000

static void good_file(struct buf *b)
{
	int64_t answer = 42;

	fake_perf_begin(b);
	fake_perf_add(b, "sun.gc.collector.0.invocations", 'J', &answer, sizeof(answer));
	fake_perf_string(b, "java.property.java.vm.name", "OpenJDK 64-Bit Server VM");
	fake_perf_string(b, "empty", "");
}

static struct hsperf *open_bytes(const struct buf *b, struct err *err)
{
	int fd;

	fake_bytes("perf", b->data, b->len);
	fd = open(fake_path("perf"), O_RDONLY);
	if (fd < 0)
		fake_bail("perf");
	return hsperf_open_fd(fd, err);
}

static void test_values(void)
{
	struct buf b = {0};
	struct err err = {0};
	struct hsperf *h;
	char text[64], small[8];
	int64_t changed = 43;

	good_file(&b);
	h = open_bytes(&b, &err);
	if (!ok(h != NULL, "a valid file is opened: %s", err.what))
		return;
	is_int(hsperf_count(h), 3, "all three entries are counted");
	is_int(hsperf_long(h, hsperf_find(h, "sun.gc.collector.0.invocations")), 42,
		"a long counter is read");
	ok(hsperf_string(h, hsperf_find(h, "java.property.java.vm.name"), text, sizeof(text)),
		"a string counter is read");
	is_str(text, "OpenJDK 64-Bit Server VM", "a string counter has its value");
	hsperf_string(h, hsperf_find(h, "java.property.java.vm.name"), small, sizeof(small));
	is_str(small, "OpenJDK", "a string is truncated to the buffer");
	ok(hsperf_string(h, hsperf_find(h, "empty"), text, sizeof(text)) && !text[0],
		"an empty string is read");
	is_int(hsperf_find(h, "no.such.counter"), -1, "an unknown name is not found");
	is_int(hsperf_long(h, -1), -1, "the value of an invalid index is -1");
	is_int(hsperf_long(h, 1), -1, "a string counter read as a long is -1");
	ok(!hsperf_string(h, 0, text, sizeof(text)), "a long counter read as a string fails");
	memcpy(b.data + 32 + ((20 + 31 + 7) & ~7), &changed, sizeof(changed));
	fake_bytes("perf", b.data, b.len);
	is_int(hsperf_long(h, 0), 43, "values are read from the mapping each time");
	if (truncate(fake_path("perf"), 10))
		fake_bail("truncate");
	is_int(hsperf_long(h, 0), -1,
		"reading a file that was truncated meanwhile yields -1 instead of a crash");
	hsperf_close(h);
	buf_done(&b);
}

static void poke(struct buf *b, size_t at, int32_t v)
{
	fake_put32(b, at, v);
}

static void test_refusals(void)
{
	static const struct {
		const char *name;
		size_t at;
		int32_t value;
		const char *says;
	} broken[] = {
		{"magic", 0, 0x12345678, "magic"},
		{"big-endian", 4, 0x01000200, "big-endian"},
		{"version", 4, 0x01000901, "version"},
		{"not accessible", 4, 0x00000201, "start"},
		{"negative count", 28, -1, "header"},
		{"absurd count", 28, 1 << 30, "header"},
		{"one entry too many", 28, 4, "truncated"},
		{"offset in the header", 24, 8, "header"},
		{"offset past the end", 24, 1 << 20, "truncated"},
		{"negative offset", 24, -32, "header"},
		{"entry of length 0", 32, 0, "corrupt"},
		{"negative entry", 32, -64, "corrupt"},
		{"endless entry", 32, INT32_MAX, "corrupt"},
		{"name before the entry", 36, -4, "corrupt"},
		{"name past the entry", 36, 4096, "corrupt"},
		{"data before the entry", 48, -8, "corrupt"},
		{"data past the entry", 48, 100000, "corrupt"},
	};

	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		struct buf b = {0};
		struct err err = {0};
		struct hsperf *h;

		good_file(&b);
		poke(&b, broken[i].at, broken[i].value);
		h = open_bytes(&b, &err);
		ok(!h && strstr(err.what, broken[i].says),
			"a file with a bad field is refused (%s): %s", broken[i].name, err.what);
		hsperf_close(h);
		buf_done(&b);
	}
}

static void test_cut_anywhere(void)
{
	struct buf b = {0};
	int opened = 0;

	good_file(&b);
	for (size_t len = b.len; len-- > 0;) {
		struct buf part = {0};
		struct err err = {0};
		struct hsperf *h;

		buf_add(&part, b.data, len);
		h = open_bytes(&part, &err);
		opened += h != NULL;
		hsperf_close(h);
		buf_done(&part);
	}
	is_int(opened, 0, "a file truncated at any byte is refused");
	buf_done(&b);
}

/* Any change of a good file: either refused, or every counter can be read. */
static void test_random_damage(void)
{
	struct buf good = {0};
	uint64_t random = 88172645463325252ull;
	int opened = 0;
	char text[64];

	good_file(&good);
	for (int round = 0; round < FUZZ_ROUNDS; round++) {
		struct buf b = {0};
		struct err err = {0};
		struct hsperf *h;

		buf_add(&b, good.data, good.len);
		for (int n = 0; n < 1 + round % 4; n++) {
			random ^= random << 13, random ^= random >> 7, random ^= random << 17;
			b.data[random % b.len] = (char)(random >> 32);
		}
		h = open_bytes(&b, &err);
		for (int i = 0; h && i < hsperf_count(h); i++) {
			hsperf_long(h, i);
			hsperf_string(h, i, text, sizeof(text));
			opened += strlen(hsperf_name(h, i)) < b.len;
		}
		hsperf_close(h);
		buf_done(&b);
	}
	ok(opened > FUZZ_ROUNDS / 10, "%d counters were read from %d randomly damaged files",
		opened, FUZZ_ROUNDS);
	buf_done(&good);
}

/* Opens the counters of process 70, whose pid in its own namespace is 7. */
static struct hsperf *open_70(struct err *err)
{
	struct libjvm lib;

	libjvm_find(70, &lib);
	return hsperf_open(70, 7, &lib, err);
}

static void test_finding(void)
{
	static const char map[] =
		"7f0000000000-7f0000008000 rw-s 00000000 fe:01 5 %s/hsperfdata_%s\n";
	struct buf b = {0};
	struct err err = {0};
	struct hsperf *h;
	char maps[256];

	good_file(&b);
	fake_bytes("70/root/tmp/hsperfdata_anybody/7", b.data, b.len);
	fake_file("70/maps", "");
	h = open_70(&err);
	ok(!h && strstr(err.what, "no hsperfdata"),
		"a file that the JVM has not mapped is ignored: %s", err.what);
	snprintf(maps, sizeof(maps), map, "/tmp", "anybody/8");
	fake_file("70/maps", maps);
	h = open_70(&err);
	ok(!h && strstr(err.what, "no hsperfdata"), "a mapped file of another pid is ignored: %s",
		err.what);
	fake_file("70/maps",
		"7f0000000000-7f0000008000 r--s 00000000 fe:01 5 /tmp/hsperfdata_anybody/7\n");
	h = open_70(&err);
	ok(!h, "a file that is mapped read-only is ignored: %s", err.what);
	snprintf(maps, sizeof(maps), map, "/tmp", "anybody/7");
	fake_file("70/maps", maps);
	h = open_70(&err);
	ok(h != NULL, "the mapped file of the pid in the process's namespace is opened");
	hsperf_close(h);
	fake_bytes("70/root/var/alt/hsperfdata_anybody/7", b.data, b.len);
	snprintf(maps, sizeof(maps), map, "/var/alt", "anybody/7");
	fake_file("70/maps", maps);
	unlink(fake_path("70/root/tmp/hsperfdata_anybody/7"));
	h = open_70(&err);
	ok(h != NULL, "the file is found in any temporary folder");
	hsperf_close(h);
	unlink(fake_path("70/root/var/alt/hsperfdata_anybody/7"));
	if (mkfifo(fake_path("70/root/var/alt/hsperfdata_anybody/7"), 0600))
		fake_bail("mkfifo");
	ok(!open_70(&err), "a fifo in place of the file is refused without blocking: %s", err.what);
	buf_done(&b);
}

static void counter(struct buf *b, const char *name, int64_t value)
{
	fake_perf_add(b, name, 'J', &value, sizeof(value));
}

/* Two generations with a maximum of 30 and 60; used: 20, in a survivor space of 5 two, and 50. */
static struct heap heap_of(const char *collector)
{
	struct buf b = {0};
	struct err err = {0};
	struct hsperf *h;
	struct heap heap;

	fake_perf_begin(&b);
	fake_perf_string(&b, "sun.gc.collector.0.name", collector);
	counter(&b, "sun.gc.generation.0.maxCapacity", 30);
	counter(&b, "sun.gc.generation.0.space.0.used", 20);
	counter(&b, "sun.gc.generation.0.space.1.used", 2);
	counter(&b, "sun.gc.generation.0.space.1.capacity", 5);
	counter(&b, "sun.gc.generation.0.space.2.capacity", 5);
	counter(&b, "sun.gc.generation.1.maxCapacity", 90);
	counter(&b, "sun.gc.generation.1.space.0.used", 50);
	h = open_bytes(&b, &err);
	heap = heap_read(h);
	hsperf_close(h);
	buf_done(&b);
	return heap;
}

static void test_heap(void)
{
	static const char option[] = "java\0-XX:+ExitOnOutOfMemoryError\0Main";
	struct heap heap = heap_of("Serial young collection pauses");

	is_int(heap.most, 120, "Serial: the maxima of both generations are added");
	is_int(heap.left, 40, "Serial: survivor spaces are not left for allocation");
	heap = heap_of("G1 young collection pauses");
	is_int(heap.most, 90, "G1: the maximum is that of either generation");
	is_int(heap.left, 18, "G1: what is used is subtracted from the maximum");
	ok(heap_has_option(option, sizeof(option)), "an option that ends a JVM is found");
	ok(heap_has_option("-XX:OnOutOfMemoryError=reboot", 29), "a command is found");
	ok(!heap_has_option("-XX:-ExitOnOutOfMemoryError", 27), "a disabled option is not found");
	ok(!heap_has_option(NULL, 0), "an unknown command line has no such option");
}

int main(void)
{
	fake_begin();
	test_values();
	test_heap();
	test_refusals();
	test_cut_anywhere();
	test_random_damage();
	test_finding();
	fake_end();
	return tap_done();
}
