/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer's entry point. $FUZZ_TARGET names the target. */
#include "tests/fuzz/targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t most, unsigned seed);

#define REPEATS 8 /* one in this number of mutations */

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
	fuzz_run(target, data, bytes);
	return 0;
}

/* What takes time out of proportion is most often much of the same: now and then a part is repeated as often as it fits. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t most, unsigned seed)
{
	size_t from, part, tail;

	if (bytes < 2 || (unsigned)rand_r(&seed) % REPEATS)
		return LLVMFuzzerMutate(data, bytes, most);
	from = (size_t)rand_r(&seed) % bytes;
	part = 1 + (size_t)rand_r(&seed) % (bytes - from < 64 ? bytes - from : 64);
	tail = bytes - from - part;
	while (bytes + part <= most && (unsigned)rand_r(&seed) % 4096) {
		memmove(data + from + 2 * part, data + from + part, tail);
		memcpy(data + from + part, data + from, part);
		tail += part;
		bytes += part;
	}
	return bytes;
}
