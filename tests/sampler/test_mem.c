/* SPDX-License-Identifier: Apache-2.0 */
/* Reads through the kernel while other code closes descriptors and sandboxes forbid system calls. No handler is installed. */
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"

#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t known = 0x123456789abcdef0;

static bool reads(void)
{
	uint64_t out = 0;

	return sig_copy((uint64_t)(uintptr_t)&known, &out, sizeof(out)) && out == known;
}

static int mem_open(void)
{
	return open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
}

static void test_call(void)
{
	char *hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t out;

	ok(!reads(), "nothing is read before a way is chosen");
	ok(sig_mem_choose() && reads(), "a word is read");
	ok(!sig_copy((uint64_t)(uintptr_t)hole, &out, 8) && !sig_copy(0, &out, 8) &&
			!sig_copy(UINT64_MAX - 3, &out, 8),
		"what is not there is not");
	raw_forbidden[SYS_process_vm_readv] = EPERM;
	ok(!reads() && !sig_mem_choose() && !reads(),
		"nothing is read where process_vm_readv is forbidden");
	munmap(hole, 4096);
}

static void test_file(void)
{
	static const char text[] = "of the program";
	char path[] = "/tmp/jhot-test-mem-XXXXXX", out[sizeof(text)] = "";
	int file = mkstemp(path), fd = mem_open();
	bool checked = false;

	ok(sig_mem_by_file(fd) && sig_mem_choose() && reads(), "but by /proc/self/mem");
	ok(!sig_copy(0, out, 8), "what is not there is not");
	ok(write(file, text, sizeof(text)) == (ssize_t)sizeof(text) && dup2(file, fd) == fd,
		"a file of the program's gets the descriptor's number");
	ok(!sig_copy(0, out, 1) && !reads(), "it is not read");
	ok(!sig_copy_more((uint64_t)(uintptr_t)&known, out, 8, &checked) && !checked,
		"nor the next time");
	ok(!sig_mem_choose() && !sig_mem_by_file(fd), "that is noticed");
	fd = mem_open();
	ok(sig_mem_by_file(fd) && reads(), "another descriptor is used");
	close(fd);
	ok(!reads() && !sig_mem_by_file(fd), "until that is closed");
	fd = mem_open();
	raw_forbidden[SYS_pread64] = EPERM;
	ok(!sig_mem_by_file(fd) && !reads(), "without pread nothing is read");
	raw_forbidden[SYS_process_vm_readv] = 0;
	ok(sig_mem_choose() && reads(), "until process_vm_readv is allowed again");
	sig_mem_close();
	ok(!reads(), "nor at the end");
	unlink(path);
}

int main(void)
{
	test_call();
	test_file();
	return tap_done();
}
