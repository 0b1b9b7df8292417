/* SPDX-License-Identifier: Apache-2.0 */
/* A library whose call frame information is in its separate debug file only, as distributions build musl. */
void split_callee(void *room);
int split_function(int n);

void split_callee(void *room)
{
	__asm__ volatile("" : : "r"(room) : "memory");
}

int split_function(int n)
{
	char room[600];

	room[0] = (char)n;
	split_callee(room);
	return room[0];
}
