/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session: names of native frames while another thread reads their files: an address before, the name afterwards.
 * Nothing blocks.
 */
#include "session/record/reader.h"
#include "symbols/child/child.h"
#include "tests/session/fake_agent.h"
#include "tests/tap.h"

#include <dirent.h>
#include <dlfcn.h>

static struct profile *profile;
static struct symbols *symbols;
static struct frames *frames;

static const char *name_of(uint64_t wire)
{
	const struct profile_frame *f = profile_get_frame(profile, frames_get(frames, wire));

	return profile_get_method(profile, f->method)->name;
}

static void announce(uint32_t id, const char *path)
{
	frames_module(frames, id, &(struct proc_map){.path = path});
}

static int threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int count = -2; /* . and .. */

	while (tasks && readdir(tasks))
		count++;
	closedir(tasks);
	return count;
}

int main(int argc, char **argv)
{
	_Alignas(8) char bytes[sizeof(struct wire_trace) + sizeof(uint64_t)] = {0};
	struct wire_trace *trace = (struct wire_trace *)bytes;
	struct proc_map whole = {.path = "", .end = UINT64_MAX};
	uint64_t offset, wire;
	char address[32];
	Dl_info info;

	if (elf_child_main(argc, argv, NULL))
		return 0;
	symbols = symbols_new(0, 0);
	if (dladdr((void *)(uintptr_t)qsort, &info))
		whole.path = info.dli_fname;
	offset = symbols_function(symbols, symbols_module_add(symbols, &whole), &whole, "qsort");
	if (!offset)
		tap_skip_all("this libc has no qsort in its file");
	symbols_free(symbols);
	wire = WIRE_NATIVE_FRAME(1, offset);
	snprintf(address, sizeof(address), "0x%llx", (unsigned long long)offset);
	trace->frame_count = 1;
	trace->frames[0] = wire;

	profile = profile_new();
	symbols = symbols_new(getpid(), getpid());
	symbols_start_thread(symbols);
	frames = frames_new(profile, symbols);
	announce(1, info.dli_fname);
	ok(!frames_ready(frames, trace), "a module whose file was just requested is not ready");
	frames_free(frames);
	symbols_free(symbols);
	is_int(threads(), 1,
		"freeing the symbols while a file is being read ends the loader's thread");

	symbols = symbols_new(getpid(), getpid());
	symbols_start_thread(symbols);
	frames = frames_new(profile, symbols);
	announce(1, info.dli_fname);
	is_str(name_of(wire), address, "before its file is read a frame is named by its offset");
	while (!frames_ready(frames, trace))
		symbols_wait(symbols, 1000);
	is_str(name_of(wire), "qsort", "after its file was read a frame has its name");
	is_str(name_of(WIRE_NATIVE_FRAME(9, 0x10)), "",
		"a frame of an unannounced module has no name");
	trace->frames[0] = WIRE_NATIVE_FRAME(9, 0x10);
	ok(frames_ready(frames, trace), "a frame of an unannounced module is ready at once");
	frames_free(frames);
	symbols_free(symbols);
	profile_free(profile);
	return tap_done();
}
