/* SPDX-License-Identifier: Apache-2.0 */
/* session: finding the agent's memfd, and every kind of invalid header. */
#include "base/clean.h"
#include "session/mapping.h"
#include "tests/session/fake_agent.h"
#include "tests/tap.h"

struct bad_field {
	const char *what;
	size_t offset; /* of the field in the header */
	unsigned bytes;
	uint64_t value;
};

#define BAD(field, value)                                                 \
	{                                                                 \
#field " = " #value, offsetof(struct wire_header, field), \
			sizeof(((struct wire_header *)0)->field), value   \
	}

static const struct bad_field bad_fields[] = {
	BAD(magic, 0),
	BAD(magic, 0x4a484f54),
	BAD(major, 0),
	BAD(major, WIRE_MAJOR + 1),
	BAD(header_bytes, 0),
	BAD(header_bytes, sizeof(struct wire_header) - 8),
	BAD(map_bytes, 0),
	BAD(map_bytes, 4096),
	BAD(map_bytes, UINT64_MAX),
	BAD(map_bytes, 1ull << 40),
	BAD(control_off, 0),
	BAD(control_off, 4097),
	BAD(control_off, UINT32_MAX),
	BAD(control_bytes, 0),
	BAD(control_bytes, sizeof(struct wire_control) - 8),
	BAD(control_bytes, UINT32_MAX),
	BAD(control_bytes, 2 * WIRE_PAGE),
	BAD(status_off, 0),
	BAD(status_off, WIRE_PAGE),
	BAD(status_off, UINT32_MAX - 7),
	BAD(status_bytes, 8),
	BAD(status_bytes, UINT32_MAX),
	BAD(cursors_off, 3 * WIRE_PAGE + 8),
	BAD(cursors_bytes, 64),
	BAD(ring_off, 4 * WIRE_PAGE + 4),
	BAD(ring_off, 0),
	BAD(ring_off, UINT32_MAX & ~7u),
	BAD(ring_bytes, 0),
	BAD(ring_bytes, 4096),
	BAD(ring_bytes, 3 * WIRE_RECORD_MAX),
	BAD(ring_bytes, 1u << 31),
	BAD(staging_off, 8),
	BAD(staging_off, UINT32_MAX & ~7u),
	BAD(staging_bytes, UINT32_MAX),
};

static void test_bad_fields(void)
{
	struct wire_header good = fake_header("t");
	struct err err = {0};

	is_int(mapping_check(&good, good.map_bytes, &err), 0, "a valid header is accepted");
	is_int(mapping_check(&good, good.map_bytes + 4096, &err), 0,
		"a valid header in a larger file is accepted");
	is_int(mapping_check(&good, good.map_bytes - 1, &err), -1,
		"a header with a map larger than its file is refused");
	for (size_t i = 0; i < sizeof(bad_fields) / sizeof(bad_fields[0]); i++) {
		struct wire_header h = good;

		memcpy((char *)&h + bad_fields[i].offset, &bad_fields[i].value,
			bad_fields[i].bytes);
		memset(&err, 0, sizeof(err));
		ok(mapping_check(&h, good.map_bytes, &err) == -1 && err.what[0],
			"a header with %s is refused", bad_fields[i].what);
	}
}

/* Random bit flips in valid headers: an accepted header never points outside the file. */
static void test_random(void)
{
	unsigned seed = 7;
	int accepted = 0;
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
		accepted++;
		inside = inside && (uint64_t)h.control_off + sizeof(struct wire_control) <= size &&
			 (uint64_t)h.status_off + sizeof(struct wire_status) <= size &&
			 (uint64_t)h.cursors_off + sizeof(struct wire_cursors) <= size &&
			 (uint64_t)h.ring_off + h.ring_bytes <= size &&
			 (uint64_t)h.staging_off + h.staging_bytes <= size &&
			 !(h.ring_bytes & (h.ring_bytes - 1));
	}
	ok(inside, "the areas of every accepted header are inside the file");
	ok(accepted > 100 && accepted < 15000,
		"some damaged headers are accepted, most are refused");
	diag("%d of 20000 damaged headers were accepted", accepted);
}

static void test_find(void)
{
	struct fake_agent first, second;
	struct mapping m;
	struct err err = {0};

	is_int(mapping_find(&m, getpid(), NULL, &err), 0, "without an agent no mapping is found");
	fake_agent_open(&first, "first");
	fake_agent_open(&second, "second");
	is_int(mapping_find(&m, getpid(), "first", &err), 1, "an agent is found by its token");
	is_str(m.header.token, "first", "an agent found by its token has it in its header");
	atomic_store(&m.control->beat, 77);
	is_int(atomic_load(&first.control->beat), 77, "the mapping shares memory with the agent");
	mapping_close(&m);
	is_int(mapping_find(&m, getpid(), "firs", &err), 0, "a prefix of a token does not match");
	is_int(mapping_find(&m, getpid(), NULL, &err), 1, "without a token an agent is found");
	is_str(m.header.token, "second", "without a token the newest agent is found");
	mapping_close(&m);
	((struct wire_header *)second.base)->major = 99;
	is_int(mapping_find(&m, getpid(), "second", &err), -1,
		"an agent of another version is an error");
	ok(strstr(err.what, "version 99") != NULL, "the error names the version");
	fake_agent_close(&first);
	fake_agent_close(&second);
	is_int(mapping_find(&m, 0x3fffffff, NULL, &err), 0,
		"in a process that does not exist no mapping is found");
}

static void test_unsealed(void)
{
	int fd = memfd_create("jhot-unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct wire_header h = fake_header("unsealed");
	struct mapping m;
	struct err err = {0};

	if (ftruncate(fd, (off_t)h.map_bytes) || pwrite(fd, &h, sizeof(h), 0) != sizeof(h))
		diag("the file could not be created");
	is_int(mapping_open_fd(&m, fd, &err), -1, "a file without F_SEAL_SHRINK is not mapped");
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
	is_int(mapping_open_fd(&m, fd, &err), 0, "a file with F_SEAL_SHRINK is mapped");
	mapping_close(&m);
	close(fd);
}

static void test_text(void)
{
	char out[8];

	clean_shared(out, sizeof(out), "abc\0def", 7);
	is_str(out, "abc", "a text ends at its NUL");
	clean_shared(out, sizeof(out), "abcdefghij", 10);
	is_str(out, "abcdefg", "a text without a NUL ends at its limit");
	clean_shared(out, sizeof(out), "a\033[2J\xff", 6);
	is_str(out, "a?[2J?", "control characters and invalid bytes are replaced");
}

int main(void)
{
	test_bad_fields();
	test_random();
	test_find();
	test_unsealed();
	test_text();
	return tap_done();
}
