/* SPDX-License-Identifier: Apache-2.0 */
/* Parsers of attach: /proc, performance counters, the JVM's replies, line tables. */
#include "attach/jvm/cmdline.h"
#include "attach/jvm/hsperf.h"
#include "attach/jvm/line_table.h"
#include "attach/proc.h"
#include "attach/protocol.h"
#include "tests/fuzz/targets.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- /proc ------------------------------------------------------------------------------------------- */

static const char *const proc_files[] = {"status", "stat", "maps", "cmdline", "environ"};
#define PROC_FILES (sizeof(proc_files) / sizeof(proc_files[0]))
#define FAKE_PID   1

static char proc_folder[64];

static void proc_remove(void)
{
	char path[128];

	for (size_t i = 0; i < PROC_FILES; i++) {
		snprintf(path, sizeof(path), "%s/%d/%s", proc_folder, FAKE_PID, proc_files[i]);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/%d", proc_folder, FAKE_PID);
	rmdir(path);
	rmdir(proc_folder);
}

static void proc_make(void)
{
	char path[128];

	if (proc_folder[0])
		return;
	snprintf(proc_folder, sizeof(proc_folder), "/tmp/jhot-fuzz-XXXXXX");
	if (!mkdtemp(proc_folder))
		abort();
	snprintf(path, sizeof(path), "%s/%d", proc_folder, FAKE_PID);
	if (mkdir(path, 0700))
		abort();
	atexit(proc_remove);
}

static void proc_write(const char *file, const uint8_t *data, size_t bytes)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%d/%s", proc_folder, FAKE_PID, file);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes)
		abort();
	close(fd);
}

static bool look_at_map(void *ctx, const struct proc_map *map)
{
	*(size_t *)ctx += strlen(map->path) + strlen(map->perms);
	return true;
}

static void ask_cmdline(const struct buf *text)
{
	char out[64];

	cmdline_name(text, "", out, sizeof(out));
	cmdline_join(text, out, sizeof(out));
	cmdline_name(text, buf_str(text), out, sizeof(out));
	cmdline_has(text, "-XX:+DisableAttachMechanism");
	cmdline_is_java(text);
	environ_has(text, "-XX:+DisableAttachMechanism");
}

/* The first byte chooses the file. */
size_t fuzz_proc(const uint8_t *data, size_t bytes)
{
	const char *before = proc_root, *file;
	struct proc_status status;
	struct proc_cpu cpu;
	struct buf text = {0};
	size_t seen = 0;

	if (!bytes)
		return bytes;
	proc_make();
	file = proc_files[data[0] % PROC_FILES];
	proc_write(file, data + 1, bytes - 1);
	proc_root = proc_folder;
	proc_status(FAKE_PID, &status);
	proc_cpu(FAKE_PID, &cpu);
	proc_maps(FAKE_PID, look_at_map, &seen);
	if (!proc_read(FAKE_PID, file, &text))
		ask_cmdline(&text);
	proc_root = before;
	buf_done(&text);
	return bytes;
}

/* --- the rest ---------------------------------------------------------------------------------------- */

size_t fuzz_hsperf(const uint8_t *data, size_t bytes)
{
	char path[64], text[40];
	struct hsperf *h = hsperf_open_fd(fuzz_file(data, bytes, path), NULL);

	for (int i = -1; h && i < hsperf_count(h); i++) {
		hsperf_long(h, i);
		if (i >= 0)
			hsperf_find(h, hsperf_name(h, i));
		hsperf_string(h, i, text, sizeof(text));
	}
	hsperf_close(h);
	return bytes;
}

size_t fuzz_reply(const uint8_t *data, size_t bytes)
{
	char *reply = xmalloc(bytes + 1);
	int result;

	memcpy(reply, data, bytes);
	reply[bytes] = '\0';
	reply_text(reply, bytes, NULL);
	reply_load(reply, bytes, &result, NULL);
	reply_is_starting(reply);
	free(reply);
	return bytes;
}

/* The first byte: which bytes are left out. */
size_t fuzz_lines(const uint8_t *data, size_t bytes)
{
	if (!bytes)
		return bytes;
	for (unsigned bci = 0; bci < 1u << 16; bci = bci * 2 + 1)
		line_table_find(data + 1, (uint32_t)bytes - 1, data[0] & 1, (uint16_t)bci);
	return bytes;
}
