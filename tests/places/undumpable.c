/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into a JVM: it makes itself undumpable, as programs that hold secrets do. */
#include <sys/prctl.h>

__attribute__((constructor)) static void undumpable(void)
{
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
