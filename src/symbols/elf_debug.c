/* SPDX-License-Identifier: Apache-2.0 */
/* The folders are those that gdb and elfutils search; libdwfl unpacks .gnu_debugdata. */
#include "symbols/elf.h"

#include "base/maps.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define BUILD_ID_MAX 64
#define MINI_MAX     (4u << 20)   /* of packed bytes; libc's are 100 kB */
#define UNPACKED_MAX (64u << 20)  /* and unpacked 400 kB */
#define CRC_MAX      (512u << 20) /* bytes of a file whose checksum is worth its second */

struct elf_debug_search {
	pid_t pid;
	const char *path;
	const void *id; /* the build-id; id_bytes 0 = there is none */
	size_t id_bytes;
	const char *link; /* the debuglink's file name, or NULL */
	uint32_t crc;
	/* what to do with the file that was found; 0: it will not do, look on */
	uint32_t (*use)(void *ctx, Elf *elf, int fd);
	void *ctx;
};

static uint32_t elf_debug_use_symbols(void *ctx, Elf *elf, int fd)
{
	return elf_symbols_table(elf, SHT_SYMTAB, ctx);
}

static uint32_t elf_debug_use_file(void *ctx, Elf *elf, int fd)
{
	*(int *)ctx = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return 1;
}

/* false: the file is too large, grows while it is read, or cannot be read. */
static bool elf_debug_crc(int fd, uint32_t *out)
{
	unsigned char bytes[65536];
	uLong crc = 0;
	struct stat st;
	off_t at = 0;
	ssize_t n;

	if (fstat(fd, &st) || st.st_size > CRC_MAX)
		return false;
	for (; at <= CRC_MAX && (n = pread(fd, bytes, sizeof(bytes), at)) > 0; at += n)
		crc = crc32(crc, bytes, (uInt)n);
	*out = (uint32_t)crc;
	return at == st.st_size;
}

static bool elf_debug_matches(const struct elf_debug_search *s, Elf *elf, int fd)
{
	const void *id;
	ssize_t n = dwelf_elf_gnu_build_id(elf, &id);
	uint32_t crc;

	if (s->id_bytes)
		return n == (ssize_t)s->id_bytes && !memcmp(id, s->id, s->id_bytes);
	return elf_debug_crc(fd, &crc) && crc == s->crc;
}

static uint32_t elf_debug_try(const struct elf_debug_search *s, pid_t pid, const char *path)
{
	int fd = proc_open_in(pid, "root", path, O_RDONLY);
	uint32_t count = 0;
	Elf *elf;

	if (fd < 0)
		return 0;
	elf = elf_file_begin(fd);
	if (elf && elf_debug_matches(s, elf, fd))
		count = s->use(s->ctx, elf, fd);
	elf_end(elf);
	close(fd);
	return count;
}

/* "ab/cdef..." */
static void elf_debug_id_path(
	const struct elf_debug_search *s, struct buf *out, const char *separator)
{
	const unsigned char *id = s->id;

	for (size_t i = 0; i < s->id_bytes; i++)
		buf_printf(out, "%s%02x", i == 1 ? separator : "", id[i]);
}

static uint32_t elf_debug_by_id(const struct elf_debug_search *s)
{
	const char *cache = getenv("DEBUGINFOD_CACHE_PATH"), *xdg = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	struct buf path = {0};
	uint32_t count;

	buf_adds(&path, "/usr/lib/debug/.build-id/");
	elf_debug_id_path(s, &path, "/");
	buf_adds(&path, ".debug");
	count = elf_debug_try(s, s->pid, path.data);
	if (!count && s->pid > 0)
		count = elf_debug_try(s, 0, path.data);
	if (!count && (cache || xdg || home)) {
		buf_clear(&path);
		if (cache)
			buf_printf(&path, "%s/", cache);
		else
			buf_printf(&path, "%s%s/debuginfod_client/", xdg ? xdg : home,
				xdg ? "" : "/.cache");
		elf_debug_id_path(s, &path, "");
		buf_adds(&path, "/debuginfo");
		count = elf_debug_try(s, 0, path.data);
	}
	buf_done(&path);
	return count;
}

static uint32_t elf_debug_by_link(const struct elf_debug_search *s)
{
	static const struct {
		const char *before, *after;
	} places[] = {{"", "/"}, {"", "/.debug/"}, {"/usr/lib/debug", "/"}};
	const char *slash = strrchr(s->path, '/');
	int folder = slash ? (int)(slash - s->path) : 0;
	uint32_t count = 0;

	for (size_t i = 0; slash && i < sizeof(places) / sizeof(places[0]) && !count; i++) {
		struct buf path = {0};

		buf_printf(&path, "%s%.*s%s%s", places[i].before, folder, s->path, places[i].after,
			s->link);
		if (strcmp(path.data, s->path))
			count = elf_debug_try(s, s->pid, path.data);
		buf_done(&path);
	}
	return count;
}

/* --- .gnu_debugdata: an xz-packed ELF file with a .symtab -------------------------------------------- */

static int elf_debug_memory_file(const void *bytes, size_t size)
{
	int fd = memfd_create("symbols", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, bytes, size) != (ssize_t)size) {
		close(fd);
		return -1;
	}
	return fd;
}

static uint32_t elf_debug_mini(Elf *elf, struct symtab *out)
{
	static const Dwfl_Callbacks callbacks = {
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	GElf_Shdr header;
	Elf_Scn *scn = elf_section(elf, ".gnu_debugdata", &header);
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	int fd = data && data->d_buf && data->d_size <= MINI_MAX &&
				 elf_file_xz_fits(data->d_buf, data->d_size, UNPACKED_MAX)
			 ? elf_debug_memory_file(data->d_buf, data->d_size)
			 : -1;
	Dwfl *dwfl = fd >= 0 ? dwfl_begin(&callbacks) : NULL;
	Dwfl_Module *module = dwfl ? dwfl_report_offline(dwfl, "mini", "mini", fd) : NULL;
	GElf_Addr bias;
	Elf *unpacked = module ? dwfl_module_getelf(module, &bias) : NULL;
	uint32_t count = 0;

	if (unpacked && gelf_getclass(unpacked) == ELFCLASS64)
		count = elf_symbols_table(unpacked, SHT_SYMTAB, out);
	if (fd >= 0 && !module)
		close(fd); /* else it is libdwfl's */
	dwfl_end(dwfl);
	return count;
}

/* 0: there is no such file, or none that will do. */
static uint32_t elf_debug_search(struct elf_debug_search *s, Elf *elf)
{
	GElf_Word crc = 0;
	ssize_t n = dwelf_elf_gnu_build_id(elf, &s->id);
	uint32_t count = 0;

	s->id_bytes = n > 1 && n <= BUILD_ID_MAX ? (size_t)n : 0;
	s->link = dwelf_elf_gnu_debuglink(elf, &crc);
	s->crc = crc;
	if (s->id_bytes)
		count = elf_debug_by_id(s);
	if (!count && s->link && *s->link && !strchr(s->link, '/'))
		count = elf_debug_by_link(s);
	return count;
}

uint32_t elf_debug_read(Elf *elf, pid_t pid, const char *path, struct symtab *out)
{
	struct elf_debug_search s = {
		.pid = pid, .path = path, .use = elf_debug_use_symbols, .ctx = out};
	uint32_t count = elf_debug_search(&s, elf);

	return count ? count : elf_debug_mini(elf, out);
}

int elf_debug_open(int fd, pid_t pid, const char *path)
{
	int found = -1;
	struct elf_debug_search s = {
		.pid = pid, .path = path, .use = elf_debug_use_file, .ctx = &found};
	Elf *elf;

	elf = elf_file_begin(fd);
	if (elf)
		elf_debug_search(&s, elf);
	elf_end(elf);
	return found;
}
