/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native code in a JVM that exhausts a limit of its process: java -agentpath:libcrowd.so=FILE
 *
 * Waits until FILE exists, executes the command in it, and removes it: "maps N" exhausts the mappings (vm.max_map_count) but
 * for N, "lock" locks all memory that is mapped from then on.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096ul
#define MOST 2000000ul /* pages, each of which becomes a mapping of its own */

/* Creates mappings until the limit is reached, then removes `left` of them. */
static void exhaust_maps(unsigned long left)
{
	char *base = mmap(
		NULL, MOST * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	unsigned long at = 0;

	while (base != MAP_FAILED && at < MOST && !mprotect(base + at * PAGE, PAGE, PROT_READ))
		at += 2;
	for (; at >= 2 && left >= 2; left -= 2) {
		at -= 2;
		mprotect(base + at * PAGE, PAGE, PROT_NONE);
	}
}

static void *wait_for_file(void *file)
{
	struct timespec pause = {0, 10000000};
	unsigned long maps = 0;
	char what[16] = "";
	FILE *in;

	while (!(in = fopen(file, "r")))
		nanosleep(&pause, NULL);
	if (fscanf(in, "%15s %lu", what, &maps) == 2)
		exhaust_maps(maps);
	else if (!strcmp(what, "lock") &&
		 (mlockall(MCL_FUTURE | MCL_ONFAULT) ||
			 mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
				 MAP_FAILED))
		perror("crowd");
	fclose(in);
	unlink(file);
	return NULL;
}

int Agent_OnLoad(void *vm, char *file, void *reserved);
int Agent_OnLoad(void *vm, char *file, void *reserved)
{
	pthread_t thread;

	(void)vm;
	(void)reserved;
	return pthread_create(&thread, NULL, wait_for_file, strdup(file));
}
