/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A minimal agent for the attach tests. Its options are "RESULT FILE": it creates FILE, which proves that it was
 * loaded, and returns RESULT.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int Agent_OnAttach(void *vm, char *options, void *reserved);

int Agent_OnAttach(void *vm, char *options, void *reserved)
{
	const char *space = options ? strchr(options, ' ') : NULL;

	(void)vm, (void)reserved;
	if (space) {
		int fd = open(space + 1, O_CREAT | O_WRONLY | O_APPEND, 0666);

		if (fd < 0 || write(fd, "loaded\n", 7) != 7)
			return 99;
		close(fd);
	}
	return options ? atoi(options) : 0;
}
