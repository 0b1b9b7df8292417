/* SPDX-License-Identifier: Apache-2.0 */
/* A library whose call frame information is in its separate debug file only, as distributions build musl. */
void split_callee(void *frame);
int split_function(int n);

void split_callee(void *frame)
{
	__asm__ volatile("" : : "r"(frame) : "memory");
}

int split_function(int n)
{
	char frame[600];

	frame[0] = (char)n;
	split_callee(frame);
	return frame[0];
}
