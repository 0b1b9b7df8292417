/* SPDX-License-Identifier: Apache-2.0 */
/* Text files of names: /proc/kallsyms (120,000 lines) and perf maps. */
#include "symbols/symtab.h"

#include "base/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 4096        /* longer lines are skipped */
#define READ_MAX   (64u << 20) /* of one file, however fast it grows */

struct lines {
	FILE *file;
	size_t read;
	char text[LINE_BYTES];
};

/* Reads the next line that is not too long; false at the end, or after READ_MAX bytes. */
static bool lines_next(struct lines *l)
{
	for (bool begins = true; l->read < READ_MAX && fgets(l->text, LINE_BYTES, l->file);) {
		size_t len = strlen(l->text);
		bool ends = len && l->text[len - 1] == '\n';

		l->read += ends ? len : LINE_BYTES;
		if (begins && (ends || len < LINE_BYTES - 1)) {
			l->text[len - ends] = '\0';
			return true;
		}
		begins = ends;
	}
	return false;
}

static bool kallsyms_is_code(char type)
{
	return strchr("tTwW", type) != NULL;
}

/* The effective user of a process, -1 if it cannot be read. */
static long user_of(pid_t pid)
{
	char path[PROC_PATH_BYTES], line[256];
	FILE *f = fopen(proc_path(path, pid, "status"), "re");
	long user = -1;

	while (f && user < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "Uid: %*d %ld", &user) != 1)
			user = -1;
	if (f)
		fclose(f);
	return user;
}

int perfmap_open(pid_t pid, pid_t nspid, struct stat *st, const char **note)
{
	int folder = pid > 0 ? proc_open_in(pid, "root", "/tmp", O_RDONLY | O_DIRECTORY) : -1;
	char name[32];

	if (folder < 0)
		return -1;
	snprintf(name, sizeof(name), "perf-%d.map", (int)nspid);
	int fd = rooted_in(folder, name, O_RDONLY);
	close(folder);
	if (fd == -ELOOP || (fd >= 0 && (fstat(fd, st) || st->st_mode & S_IWOTH ||
						(st->st_uid && st->st_uid != user_of(pid))))) {
		*note = "the perf map in /tmp was not read: others than the JVM's user can "
			"write it";
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

enum kallsyms_result kallsyms_read(FILE *file, struct symtab *out)
{
	struct lines l = {.file = file};
	bool names = false, addresses = false;

	while (!symtab_is_full(out) && lines_next(&l)) {
		char *rest;
		uint64_t address = strtoull(l.text, &rest, 16);

		if (rest == l.text || rest[0] != ' ' || !rest[1] || rest[2] != ' ')
			continue;
		char *name = rest + 3;
		name[strcspn(name, "\t\n ")] = '\0';
		names = true;
		addresses = addresses || address;
		if (address)
			symtab_add(out, address, 0, kallsyms_is_code(rest[1]) ? name : "",
				kallsyms_is_code(rest[1]) ? SYMTAB_GLOBAL : SYMTAB_BOUNDARY);
	}
	symtab_finish(out);
	if (!names)
		return KALLSYMS_NONE;
	return addresses ? KALLSYMS_OK : KALLSYMS_HIDDEN;
}

void perfmap_read(FILE *file, struct symtab *out)
{
	struct lines l = {.file = file};

	while (!symtab_is_full(out) && lines_next(&l)) {
		char *size_at, *name;
		uint64_t start = strtoull(l.text, &size_at, 16);
		uint64_t size = strtoull(size_at, &name, 16);

		if (size_at == l.text || name == size_at || *name != ' ' || !size)
			continue;
		name++;
		name[strcspn(name, "\r\n")] = '\0';
		if (*name)
			symtab_add(out, start, size, name, SYMTAB_GLOBAL);
	}
	symtab_finish(out);
}
