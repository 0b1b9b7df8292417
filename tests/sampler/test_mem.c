/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads through the kernel while other code closes descriptors and sandboxes forbid system calls. No signal handler is
 * installed.
 */
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"

#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t known = 0x123456789abcdef0;

static bool can_read(void)
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

	ok(!can_read(), "nothing is read before a method is chosen");
	ok(sig_mem_choose() && can_read(), "process_vm_readv can_read a word");
	ok(!sig_copy((uint64_t)(uintptr_t)hole, &out, 8) && !sig_copy(0, &out, 8) &&
			!sig_copy(UINT64_MAX - 3, &out, 8),
		"process_vm_readv of an unmapped address fails");
	raw_forbidden[SYS_process_vm_readv] = EPERM;
	ok(!can_read() && !sig_mem_choose() && !can_read(),
		"nothing is read if process_vm_readv is forbidden");
	munmap(hole, 4096);
}

static void test_file(void)
{
	static const char text[] = "of the program";
	char path[] = "/tmp/jhot-test-mem-XXXXXX", out[sizeof(text)] = "";
	int file = mkstemp(path), fd = mem_open();
	bool checked = false;

	ok(sig_mem_by_file(fd) && sig_mem_choose() && can_read(),
		"/proc/self/mem can_read a word if process_vm_readv is forbidden");
	ok(!sig_copy(0, out, 8), "/proc/self/mem at an unmapped address fails");
	ok(write(file, text, sizeof(text)) == (ssize_t)sizeof(text) && dup2(file, fd) == fd,
		"the program reuses the descriptor for a file of its own");
	ok(!sig_copy(0, out, 1) && !can_read(), "the program's file is not read as memory");
	ok(!sig_copy_more((uint64_t)(uintptr_t)&known, out, 8, &checked) && !checked,
		"the program's file is not read on a later attempt");
	ok(!sig_mem_choose() && !sig_mem_by_file(fd), "the reused descriptor is detected");
	fd = mem_open();
	ok(sig_mem_by_file(fd) && can_read(), "a new descriptor of /proc/self/mem can_read a word");
	close(fd);
	ok(!can_read() && !sig_mem_by_file(fd),
		"a closed descriptor is detected, and nothing is read");
	fd = mem_open();
	raw_forbidden[SYS_pread64] = EPERM;
	ok(!sig_mem_by_file(fd) && !can_read(), "nothing is read if pread64 is forbidden, too");
	raw_forbidden[SYS_process_vm_readv] = 0;
	ok(sig_mem_choose() && can_read(), "process_vm_readv is used again once it is allowed");
	sig_mem_close();
	ok(!can_read(), "nothing is read after sig_mem_close");
	unlink(path);
}

int main(void)
{
	test_call();
	test_file();
	return tap_done();
}
