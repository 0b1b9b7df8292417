/* SPDX-License-Identifier: Apache-2.0 */
/* session: finding the agent's memfd, and every kind of invalid header. */
#include "base/clean.h"
#include "session/mapping.h"
#include "tests/session/fake_agent.h"
#include "tests/tap.h"

struct lie {
	const char *what;
	size_t offset; /* of the field in the header */
	unsigned bytes;
	uint64_t value;
};

#define LIE(field, value)                                                 \
	{                                                                 \
#field " = " #value, offsetof(struct wire_header, field), \
			sizeof(((struct wire_header *)0)->field), value   \
	}

static const struct lie lies[] = {
	LIE(magic, 0),
	LIE(magic, 0x4a484f54),
	LIE(major, 0),
	LIE(major, WIRE_MAJOR + 1),
	LIE(header_bytes, 0),
	LIE(header_bytes, sizeof(struct wire_header) - 8),
	LIE(map_bytes, 0),
	LIE(map_bytes, 4096),
	LIE(map_bytes, UINT64_MAX),
	LIE(map_bytes, 1ull << 40),
	LIE(control_off, 0),
	LIE(control_off, 4097),
	LIE(control_off, UINT32_MAX),
	LIE(control_bytes, 0),
	LIE(control_bytes, sizeof(struct wire_control) - 8),
	LIE(control_bytes, UINT32_MAX),
	LIE(control_bytes, 2 * WIRE_PAGE),
	LIE(status_off, 0),
	LIE(status_off, WIRE_PAGE),
	LIE(status_off, UINT32_MAX - 7),
	LIE(status_bytes, 8),
	LIE(status_bytes, UINT32_MAX),
	LIE(cursors_off, 3 * WIRE_PAGE + 8),
	LIE(cursors_bytes, 64),
	LIE(ring_off, 4 * WIRE_PAGE + 4),
	LIE(ring_off, 0),
	LIE(ring_off, UINT32_MAX & ~7u),
	LIE(ring_bytes, 0),
	LIE(ring_bytes, 4096),
	LIE(ring_bytes, 3 * WIRE_RECORD_MAX),
	LIE(ring_bytes, 1u << 31),
	LIE(staging_off, 8),
	LIE(staging_off, UINT32_MAX & ~7u),
	LIE(staging_bytes, UINT32_MAX),
};

static void test_lies(void)
{
	struct wire_header good = fake_header("t");
	struct err err = {0};

	is_int(mapping_check(&good, good.map_bytes, &err), 0, "an honest header is taken");
	is_int(mapping_check(&good, good.map_bytes + 4096, &err), 0, "so is one of a larger file");
	is_int(mapping_check(&good, good.map_bytes - 1, &err), -1,
		"not one that is larger than its file");
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct wire_header h = good;

		memcpy((char *)&h + lies[i].offset, &lies[i].value, lies[i].bytes);
		memset(&err, 0, sizeof(err));
		ok(mapping_check(&h, good.map_bytes, &err) == -1 && err.what[0], "refused: %s",
			lies[i].what);
	}
}

/* Headers of random bytes and of honest ones with random damage: the answer never leads outside. */
static void test_random(void)
{
	unsigned seed = 7;
	int taken = 0;
	bool inside = true;

	for (int round = 0; round < 20000; round++) {
		struct wire_header h = fake_header("t");
		unsigned char *bytes = (unsigned char *)&h;
		uint64_t size = h.map_bytes;

		for (int i = 0; i < 3; i++)
			bytes[(size_t)rand_r(&seed) % 96] ^=
				(unsigned char)(1 << rand_r(&seed) % 8);
		if (mapping_check(&h, size, NULL))
			continue;
		taken++;
		inside = inside && (uint64_t)h.control_off + sizeof(struct wire_control) <= size &&
			 (uint64_t)h.status_off + sizeof(struct wire_status) <= size &&
			 (uint64_t)h.cursors_off + sizeof(struct wire_cursors) <= size &&
			 (uint64_t)h.ring_off + h.ring_bytes <= size &&
			 (uint64_t)h.staging_off + h.staging_bytes <= size &&
			 !(h.ring_bytes & (h.ring_bytes - 1));
	}
	ok(inside, "what is taken lies inside the file");
	ok(taken > 100 && taken < 15000, "some damage does not matter, most does");
	diag("%d of 20000 damaged headers were taken", taken);
}

static void test_find(void)
{
	struct fake_agent first, second;
	struct mapping m;
	struct err err = {0};

	is_int(mapping_find(&m, getpid(), NULL, &err), 0, "none is found where there is none");
	fake_agent_open(&first, "first");
	fake_agent_open(&second, "second");
	is_int(mapping_find(&m, getpid(), "first", &err), 1, "found by its token");
	is_str(m.header.token, "first", "the right one");
	atomic_store(&m.control->beat, 77);
	is_int(atomic_load(&first.control->beat), 77, "it is the same memory");
	mapping_close(&m);
	is_int(mapping_find(&m, getpid(), "firs", &err), 0, "not by the beginning of its token");
	is_int(mapping_find(&m, getpid(), NULL, &err), 1, "found without a token");
	is_str(m.header.token, "second", "the youngest");
	mapping_close(&m);
	((struct wire_header *)second.base)->major = 99;
	is_int(mapping_find(&m, getpid(), "second", &err), -1,
		"one of another version is an error");
	ok(strstr(err.what, "version 99") != NULL, "that names the versions");
	fake_agent_close(&first);
	fake_agent_close(&second);
	is_int(mapping_find(&m, 0x3fffffff, NULL, &err), 0, "a process that is gone has none");
}

static void test_unsealed(void)
{
	int fd = memfd_create("jhot-unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct wire_header h = fake_header("unsealed");
	struct mapping m;
	struct err err = {0};

	if (ftruncate(fd, (off_t)h.map_bytes) || pwrite(fd, &h, sizeof(h), 0) != sizeof(h))
		diag("the file could not be made");
	is_int(mapping_open_fd(&m, fd, &err), -1, "memory that may shrink under us is not mapped");
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
	is_int(mapping_open_fd(&m, fd, &err), 0, "sealed it is");
	mapping_close(&m);
	close(fd);
}

static void test_text(void)
{
	char out[8];

	clean_shared(out, sizeof(out), "abc\0def", 7);
	is_str(out, "abc", "a text ends at its NUL");
	clean_shared(out, sizeof(out), "abcdefghij", 10);
	is_str(out, "abcdefg", "or where the space ends");
	clean_shared(out, sizeof(out), "a\033[2J\xff", 6);
	is_str(out, "a?[2J?", "and can do no harm to a terminal");
}

int main(void)
{
	test_lies();
	test_random();
	test_find();
	test_unsealed();
	test_text();
	return tap_done();
}
