/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the files of a recording, and removes the oldest ones. */
#include "cli/recorder/keep.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "cli/line/units.h"

#include <dirent.h>
#include <fcntl.h>
#include <regex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEEP_FILES_MAX 1000000u

static int keep_parse_part(struct keep *k, const char *part, struct err *err)
{
	struct err unused = {0};
	enum units_kind kind;
	uint64_t value;

	if (part[0] && part[strspn(part, "0123456789")] == '\0')
		return units_count(part, "--keep", KEEP_FILES_MAX, &k->files, err);
	/* "m" is minutes, not mebibytes: "mb" is accepted for those. */
	if (!units_duration(part, &value, &unused)) {
		k->age_ns = value;
		return 0;
	}
	if (!units_interval(part, &value, &kind, &unused) && kind == UNITS_BYTES) {
		k->bytes = value;
		return 0;
	}
	err_set(err, ERR_USAGE, "--keep takes an age, a size or a number of files, not \"%s\".",
		part);
	err_hint(err, "--keep 24h,2G,1000     at most a day, 2 GiB and 1,000 files");
	return -1;
}

int keep_parse(struct keep *k, const char *text, struct err *err)
{
	char *copy = xstrdup(text), *rest = copy, *part;
	int rc = 0;

	*k = (struct keep){0};
	while (!rc && (part = strsep(&rest, ",")))
		rc = keep_parse_part(k, part, err);
	free(copy);
	return rc;
}

struct kept {
	char *name;
	uint64_t modified_ns, bytes;
};

struct kept_list {
	struct kept *files;
	uint32_t count, cap;
	uint64_t bytes;
};

static int kept_compare(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	if (x->modified_ns != y->modified_ns)
		return x->modified_ns < y->modified_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Lists the files in the folder of `path`. Returns the folder, NULL with an error. Call kept_done afterwards, also on failure. */
static DIR *kept_list(struct kept_list *list, const char *path, const char *regex, struct err *err)
{
	regex_t compiled;

	*list = (struct kept_list){0};
	int folder = file_open_folder(path, err);
	if (folder < 0)
		return NULL;
	DIR *dir = fdopendir(folder);
	if (!dir) {
		close(folder);
		err_set_errno(err, ERR_OUTPUT, "Cannot list the folder of %s", path);
		return NULL;
	}
	if (regcomp(&compiled, regex, REG_EXTENDED | REG_NOSUB)) {
		closedir(dir);
		err_set(err, ERR_FAILED, "Cannot list the files of %s.", path);
		return NULL;
	}
	const struct dirent *entry;
	struct stat st;
	while ((entry = readdir(dir))) {
		if (regexec(&compiled, entry->d_name, 0, NULL, 0) ||
			fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
			!S_ISREG(st.st_mode) || st.st_uid != geteuid())
			continue;
		list->files = xgrow(list->files, list->count, &list->cap, sizeof(*list->files));
		list->files[list->count++] = (struct kept){.name = xstrdup(entry->d_name),
			.modified_ns = (uint64_t)st.st_mtim.tv_sec * NS_PER_S +
				       (uint64_t)st.st_mtim.tv_nsec,
			.bytes = (uint64_t)st.st_blocks * 512};
		list->bytes += (uint64_t)st.st_blocks * 512;
	}
	if (list->count)
		qsort(list->files, list->count, sizeof(*list->files), kept_compare);
	regfree(&compiled);
	return dir;
}

static void kept_done(struct kept_list *list, DIR *dir)
{
	for (uint32_t i = 0; i < list->count; i++)
		free(list->files[i].name);
	free(list->files);
	if (dir)
		closedir(dir);
}

int keep_each(const char *path, const char *regex, void (*fn)(void *ctx, const char *path),
	void *ctx, struct err *err)
{
	const char *slash = strrchr(path, '/');
	struct kept_list list;
	DIR *dir = kept_list(&list, path, regex, err);
	struct buf file = {0};

	for (uint32_t i = 0; i < list.count; i++) {
		buf_clear(&file);
		buf_printf(&file, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path,
			list.files[i].name);
		fn(ctx, buf_str(&file));
	}
	buf_done(&file);
	kept_done(&list, dir);
	return dir ? 0 : -1;
}

int keep_apply(const struct keep *k, const char *path, const char *regex, unsigned more,
	uint64_t space, struct err *err)
{
	uint64_t now_ns = clock_wall_ns();
	struct kept_list list;
	int removed = 0;

	if (!k->age_ns && !k->bytes && !k->files)
		return 0;
	DIR *dir = kept_list(&list, path, regex, err);
	if (!dir)
		removed = -1;
	uint32_t left = list.count;
	for (uint32_t i = 0; i + !more < list.count; i++) {
		const struct kept *f = &list.files[i];
		bool old =
			k->age_ns && now_ns > f->modified_ns && now_ns - f->modified_ns > k->age_ns;
		bool large = k->bytes && list.bytes + space > k->bytes;
		bool many = k->files && left + more > k->files;

		if (!old && !large && !many)
			break;
		if (unlinkat(dirfd(dir), f->name, 0)) {
			err_set_errno(err, ERR_OUTPUT, "Cannot remove %s", f->name);
			removed = -1;
			break;
		}
		left--;
		list.bytes -= f->bytes;
		removed++;
	}
	kept_done(&list, dir);
	return removed;
}
