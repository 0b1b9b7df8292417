/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer's entry: the target is named by $FUZZ_TARGET. */
#include "tests/fuzz/targets.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static const struct fuzz_target *target;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = getenv("FUZZ_TARGET");

	target = name ? fuzz_target_find(name) : NULL;
	if (target)
		return 0;
	fputs("FUZZ_TARGET has to be one of:", stderr);
	for (const struct fuzz_target *t = fuzz_targets; t->name; t++)
		fprintf(stderr, " %s", t->name);
	fputc('\n', stderr);
	exit(2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	target->run(data, bytes);
	return 0;
}
