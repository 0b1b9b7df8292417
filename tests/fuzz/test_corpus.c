/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays the inputs that fuzzers started from and what they found: each file of tests/fuzz/corpus, whole and
 * truncated at several places. Nothing is compared: a crash, a sanitizer report, or CPU time out of proportion to the
 * bytes fails the test.
 */
#include "tests/fuzz/targets.h"
#include "tests/tap.h"

#include <dirent.h>
#include <limits.h>

#define FILE_MAX (1u << 20)
#define CUTS     16 /* lengths that each file is tried with */

static uint8_t *read_whole(const char *path, size_t *bytes)
{
	FILE *f = fopen(path, "re");
	uint8_t *data = f ? malloc(FILE_MAX) : NULL;

	*bytes = data ? fread(data, 1, FILE_MAX, f) : 0;
	if (f)
		fclose(f);
	return data;
}

/* In memory of just its length, so that a sanitizer sees a read behind it. */
static void run_exact(const struct fuzz_target *t, const uint8_t *data, size_t bytes)
{
	uint8_t *copy = malloc(bytes ? bytes : 1);

	if (!copy)
		abort();
	memcpy(copy, data, bytes);
	fuzz_run(t, copy, bytes);
	free(copy);
}

static int replay(const struct fuzz_target *t, const char *folder)
{
	struct dirent **names;
	int count = scandir(folder, &names, NULL, alphasort), files = 0;

	for (int i = 0; i < count; i++) {
		char path[PATH_MAX + 300];
		size_t bytes;
		uint8_t *data;

		snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
		if (names[i]->d_name[0] != '.' && (data = read_whole(path, &bytes))) {
			printf("# %s/%s\n", t->name, names[i]->d_name);
			fflush(stdout);
			run_exact(t, data, bytes);
			for (unsigned cut = 0; cut < CUTS; cut++)
				run_exact(t, data, bytes * cut / CUTS);
			free(data);
			files++;
		}
		free(names[i]);
	}
	if (count >= 0)
		free(names);
	return files;
}

int main(int argc, char **argv)
{
	const char *srcdir = getenv("srcdir");

	for (const struct fuzz_target *t = fuzz_targets; t->name; t++) {
		char folder[PATH_MAX];
		int files;

		snprintf(folder, sizeof(folder), "%s/tests/fuzz/corpus/%s", srcdir ? srcdir : ".",
			t->name);
		files = replay(t, folder);
		ok(files > 0, "%s: %d files, complete and truncated, are parsed without a fault",
			t->name, files);
	}
	return tap_done();
}
