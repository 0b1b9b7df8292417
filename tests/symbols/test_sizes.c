/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols: files that claim to be huge: compressed zeros, tables and checksums of a terabyte that does not exist,
 * endless names. Reading them is bounded.
 */
#include "symbols/elf.h"
#include "symbols/mapped.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define HUGE_BYTES ((off_t)1 << 40)

/* head -c 100000 /dev/zero | xz -9e --check=crc32 */
static const unsigned char zeros_xz[] = {0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x01, 0x69, 0x22,
	0xde, 0x36, 0x02, 0x00, 0x21, 0x01, 0x1c, 0x00, 0x00, 0x00, 0x10, 0xcf, 0x58, 0xcc, 0xe1,
	0x86, 0x9f, 0x00, 0x53, 0x5d, 0x00, 0x00, 0x6f, 0xfd, 0xff, 0xff, 0xa3, 0xb7, 0xff, 0x47,
	0x3e, 0x48, 0x15, 0x72, 0x39, 0x61, 0x51, 0xb8, 0x92, 0x28, 0xe6, 0xa3, 0x86, 0x07, 0xf9,
	0xee, 0xe4, 0x1e, 0x82, 0xd3, 0x2f, 0xc5, 0x3a, 0x3c, 0x01, 0x4b, 0xb1, 0x7e, 0xc9, 0x8a,
	0x8a, 0x4d, 0x2f, 0xa3, 0x0d, 0xd9, 0x7f, 0xa6, 0xe3, 0x8c, 0x23, 0x11, 0x53, 0xe0, 0x59,
	0x18, 0xc5, 0x75, 0x8a, 0xe2, 0x77, 0xf8, 0xb6, 0x94, 0x7f, 0x0c, 0x6a, 0xc0, 0xde, 0x74,
	0x49, 0x64, 0xe2, 0xe9, 0x5c, 0x53, 0xb2, 0x04, 0xd6, 0xb1, 0xf5, 0x97, 0x00, 0x00, 0x00,
	0x00, 0x7d, 0x95, 0x11, 0xd4, 0x00, 0x01, 0x6b, 0xa0, 0x8d, 0x06, 0x00, 0x00, 0x86, 0xa6,
	0xff, 0xca, 0x3e, 0x30, 0x0d, 0x8b, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x59, 0x5a};

static size_t unpacked(const unsigned char *packed, size_t bytes, size_t most)
{
	size_t size;
	void *out = elf_file_unpack(packed, bytes, most, &size);

	if (!out)
		return 0;
	munmap(out, most);
	return size;
}

static void test_packed(void)
{
	unsigned char copy[sizeof(zeros_xz)];
	size_t more = 0;

	is_int(unpacked(zeros_xz, sizeof(zeros_xz), 100000), 100000,
		"a stream of 100,000 zeros is unpacked into 100,000 bytes");
	is_int(unpacked(zeros_xz, sizeof(zeros_xz), 99999), 0,
		"a stream of 100,000 zeros is refused for 99,999 bytes");
	memcpy(copy, zeros_xz, sizeof(copy));
	copy[0]++;
	is_int(unpacked(copy, sizeof(copy), 100000), 0, "a stream without the xz magic is refused");
	for (size_t cut = 0; cut < sizeof(copy); cut++)
		more += unpacked(zeros_xz, cut, 100000);
	is_int(more, 0, "a truncated stream is refused");
}

/* --- sizes that are not there ------------------------------------------------------------------------ */

/* An ELF file of one segment and one section of this type and size, at offset 4096. */
static void write_elf(int fd, uint32_t type, uint64_t bytes)
{
	Elf64_Ehdr h = {.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_shoff = 512,
		.e_ehsize = sizeof(h),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 2};
	Elf64_Shdr s[2] = {{0}, {.sh_type = type,
					.sh_offset = 4096,
					.sh_size = bytes,
					.sh_entsize = sizeof(Elf64_Sym)}};

	memcpy(h.e_ident, ELFMAG, SELFMAG);
	h.e_ident[EI_CLASS] = ELFCLASS64;
	h.e_ident[EI_DATA] = ELFDATA2LSB;
	h.e_ident[EI_VERSION] = EV_CURRENT;
	if (pwrite(fd, &h, sizeof(h), 0) != sizeof(h) || pwrite(fd, s, sizeof(s), 512) != sizeof(s))
		perror("write");
}

static void test_tables(void)
{
	static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM, SHT_STRTAB, SHT_RELA, SHT_NOTE};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		int fd = memfd_create("huge", MFD_CLOEXEC);
		Elf *elf;

		write_elf(fd, types[i], 4096);
		if (ftruncate(fd, HUGE_BYTES))
			perror("ftruncate");
		elf = elf_file_begin(fd);
		ok(elf != NULL, "a file of a terabyte with a small table of type %u is read",
			types[i]);
		elf_end(elf);
		write_elf(fd, types[i], (uint64_t)HUGE_BYTES - 4096);
		ok(!elf_file_begin(fd), "a table of a terabyte is refused");
		close(fd);
	}
}

/* --- the checksum of a debug file -------------------------------------------------------------------- */

/* A library without build-id, so that its debug file is known by its checksum; in folder, as lib.so. */
static bool copy_library(const char *folder)
{
	static const unsigned char note[] = {4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0};
	static unsigned char bytes[1 << 20];
	const char *builddir = getenv("builddir");
	unsigned char *id;
	char path[4096];
	size_t size;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/symbols/split.so", builddir ? builddir : ".");
	f = fopen(path, "re");
	size = f ? fread(bytes, 1, sizeof(bytes), f) : 0;
	if (f)
		fclose(f);
	id = memmem(bytes, size, note, sizeof(note));
	if (id)
		id[8] = 99;
	snprintf(path, sizeof(path), "%s/lib.so", folder);
	f = fopen(path, "we");
	return size && f && fwrite(bytes, 1, size, f) == size && !fclose(f);
}

static int open_debug(int fd, const char *path)
{
	struct elf_child *child = elf_child_new();
	struct elf_facts facts;
	struct err err;
	int debug = -2;

	if (!elf_child_facts(child, fd, NULL, &facts, &err))
		debug = debug_file_open(child, 0, path, &facts, NULL);
	else
		diag("%s", err.what);
	elf_child_free(child);
	return debug;
}

static void test_checksum(void)
{
	char folder[] = "/tmp/jhot-test-XXXXXX", path[64], debug[64];
	int fd, huge;

	if (!mkdtemp(folder) || !copy_library(folder)) {
		ok(false, "the library is copied");
		return;
	}
	snprintf(path, sizeof(path), "%s/lib.so", folder);
	snprintf(debug, sizeof(debug), "%s/split.debug", folder);
	huge = open(debug, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	write_elf(huge, SHT_NOTE, 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	is_int(open_debug(fd, path), -1, "a debug file with another checksum is refused");
	if (!ftruncate(huge, HUGE_BYTES))
		is_int(open_debug(fd, path), -1,
			"a debug file of a terabyte is refused without computing its checksum");
	close(fd);
	close(huge);
	unlink(debug);
	unlink(path);
	rmdir(folder);
}

/* --- lists ------------------------------------------------------------------------------------------- */

static void test_lines(void)
{
	struct symtab table = {0};
	const struct symtab_entry *e;
	int fd = memfd_create("map", MFD_CLOEXEC);
	FILE *f = fdopen(fd, "w+");

	fputs("100 10 ", f);
	for (int i = 0; i < 100000; i++)
		putc('x', f);
	fputs("\n200 10 after\n", f);
	rewind(f);
	perfmap_read(f, &table);
	ok(!symtab_find(&table, 0x100), "a line that is too long yields no name");
	e = symtab_find(&table, 0x200);
	is_str(e ? symtab_name(&table, e) : "", "after", "the line after it yields its name");
	symtab_done(&table);
	if (ftruncate(fd, HUGE_BYTES))
		perror("ftruncate");
	rewind(f);
	perfmap_read(f, &table);
	is_int(table.count, 1, "a perf map of a terabyte is read only in part");
	symtab_done(&table);
	fclose(f);
}

static void test_names(void)
{
	static char name[10000];
	struct symtab table = {0};
	const atomic_bool stop = true;

	memset(name, 'x', sizeof(name) - 1);
	symtab_add(&table, 16, 16, name, SYMTAB_GLOBAL);
	symtab_finish(&table);
	is_int((int64_t)strlen(symtab_name(&table, symtab_find(&table, 20))), 4096,
		"a long name is truncated");
	symtab_done(&table);
	symtab_limit(&table, &stop);
	ok(symtab_is_full(&table), "a table whose stop flag is set is full");
	symtab_done(&table);
}

int main(int argc, char **argv)
{
	if (elf_child_main(argc, argv, NULL))
		return 0;
	test_packed();
	test_tables();
	test_checksum();
	test_lines();
	test_names();
	return tap_done();
}
