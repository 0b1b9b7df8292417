/* SPDX-License-Identifier: Apache-2.0 */
/* The folders are those that gdb and elfutils search. */
#include "symbols/elf.h"

#include "base/maps.h"

#include <elfutils/libdwelf.h>
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
};

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

/* The file if it is the one, -1 if not. */
static int elf_debug_try(const struct elf_debug_search *s, pid_t pid, const char *path)
{
	int fd = proc_open_in(pid, "root", path, O_RDONLY);
	Elf *elf = fd < 0 ? NULL : elf_file_begin(fd);
	bool found = elf && elf_debug_matches(s, elf, fd);

	elf_end(elf);
	if (fd >= 0 && !found)
		close(fd);
	return found ? fd : -1;
}

/* "ab/cdef..." */
static void elf_debug_id_path(
	const struct elf_debug_search *s, struct buf *out, const char *separator)
{
	const unsigned char *id = s->id;

	for (size_t i = 0; i < s->id_bytes; i++)
		buf_printf(out, "%s%02x", i == 1 ? separator : "", id[i]);
}

static int elf_debug_by_id(const struct elf_debug_search *s)
{
	const char *cache = getenv("DEBUGINFOD_CACHE_PATH"), *xdg = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	struct buf path = {0};
	int fd;

	buf_adds(&path, "/usr/lib/debug/.build-id/");
	elf_debug_id_path(s, &path, "/");
	buf_adds(&path, ".debug");
	fd = elf_debug_try(s, s->pid, path.data);
	if (fd < 0 && s->pid > 0)
		fd = elf_debug_try(s, 0, path.data);
	if (fd < 0 && (cache || xdg || home)) {
		buf_clear(&path);
		if (cache)
			buf_printf(&path, "%s/", cache);
		else
			buf_printf(&path, "%s%s/debuginfod_client/", xdg ? xdg : home,
				xdg ? "" : "/.cache");
		elf_debug_id_path(s, &path, "");
		buf_adds(&path, "/debuginfo");
		fd = elf_debug_try(s, 0, path.data);
	}
	buf_done(&path);
	return fd;
}

static int elf_debug_by_link(const struct elf_debug_search *s)
{
	static const struct {
		const char *before, *after;
	} places[] = {{"", "/"}, {"", "/.debug/"}, {"/usr/lib/debug", "/"}};
	const char *slash = strrchr(s->path, '/');
	int folder = slash ? (int)(slash - s->path) : 0, fd = -1;

	for (size_t i = 0; slash && i < sizeof(places) / sizeof(places[0]) && fd < 0; i++) {
		struct buf path = {0};

		buf_printf(&path, "%s%.*s%s%s", places[i].before, folder, s->path, places[i].after,
			s->link);
		if (strcmp(path.data, s->path))
			fd = elf_debug_try(s, s->pid, path.data);
		buf_done(&path);
	}
	return fd;
}

static int elf_debug_find(Elf *elf, pid_t pid, const char *path)
{
	struct elf_debug_search s = {.pid = pid, .path = path};
	ssize_t n = dwelf_elf_gnu_build_id(elf, &s.id);
	int fd = -1;

	s.id_bytes = n > 1 && n <= BUILD_ID_MAX ? (size_t)n : 0;
	s.link = dwelf_elf_gnu_debuglink(elf, &s.crc);
	if (s.id_bytes)
		fd = elf_debug_by_id(&s);
	if (fd < 0 && s.link && *s.link && !strchr(s.link, '/'))
		fd = elf_debug_by_link(&s);
	return fd;
}

int elf_debug_open(int fd, pid_t pid, const char *path)
{
	Elf *elf = elf_file_begin(fd);
	int found = elf ? elf_debug_find(elf, pid, path) : -1;

	elf_end(elf);
	return found;
}

/* .gnu_debugdata: an xz-packed ELF file with a .symtab. */
static void elf_debug_mini(Elf *elf, struct symtab *out)
{
	GElf_Shdr header;
	Elf_Scn *scn = elf_section(elf, ".gnu_debugdata", &header);
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	size_t size = 0;
	char *image = data && data->d_buf && data->d_size <= MINI_MAX
			      ? elf_file_unpack(data->d_buf, data->d_size, UNPACKED_MAX, &size)
			      : NULL;
	Elf *unpacked = image ? elf_memory(image, size) : NULL;

	if (unpacked && gelf_getclass(unpacked) == ELFCLASS64)
		elf_symbols_table(unpacked, SHT_SYMTAB, out);
	elf_end(unpacked);
	if (image)
		munmap(image, UNPACKED_MAX);
}

void elf_debug_read(Elf *elf, pid_t pid, const char *path, struct symtab *out)
{
	int fd = elf_debug_find(elf, pid, path);
	Elf *debug = fd < 0 ? NULL : elf_file_begin(fd);

	if (!debug || !elf_symbols_table(debug, SHT_SYMTAB, out))
		elf_debug_mini(elf, out);
	elf_end(debug);
	if (fd >= 0)
		close(fd);
}
