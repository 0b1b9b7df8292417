/* SPDX-License-Identifier: Apache-2.0 */
/* From a module to the block that goes to the agent. */
#include "session/unwind/compile.h"

#include "base/clock.h"
#include "symbols/cfi.h"
#include "symbols/elf.h"
#include "symbols/unwind_pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEEPS_FP_PERCENT 60 /* libjvm 88, the JDK's other libraries about 80, libc 17, libz 0 */
#define SLICE_NS         (20 * NS_PER_MS) /* between two looks at whether to stop */

struct making {
	struct unwind_job *job;
	int fd, debug_fd;
};

/* Its debug file is looked for only when it says nothing itself (musl). */
static struct cfi *open_file(struct making *k, const struct proc_map *m)
{
	struct cfi *c;

	k->fd = proc_open_mapped(k->job->pid, m);
	if (k->fd < 0) {
		errno = -k->fd;
		err_set_errno(&k->job->why, ERR_INPUT, "The file cannot be opened");
		return NULL;
	}
	if (!elf_file_is(k->fd))
		return NULL;
	c = cfi_open(k->fd, -1, &k->job->why);
	if (!c)
		k->debug_fd = elf_debug_open(k->fd, k->job->pid, m->path);
	return c || k->debug_fd < 0 ? c : cfi_open(k->fd, k->debug_fd, &k->job->why);
}

static bool rows_keep_fp(const struct cfi_row *rows, size_t count)
{
	uint64_t all = 0, with = 0;

	for (size_t i = 0; i + 1 < count; i++) {
		uint64_t bytes = rows[i + 1].offset - rows[i].offset;

		all += rows[i].rule.cfa == CFI_CFA_NONE ? 0 : bytes;
		with += rows[i].rule.cfa == CFI_CFA_FP ? bytes : 0;
	}
	return with * 100 > all * KEEPS_FP_PERCENT;
}

/* Opened; NULL with what became of it. */
static struct cfi *open_module(struct making *k)
{
	const struct proc_map *m = &k->job->at;
	bool vdso = !strcmp(m->path, "[vdso]"), is_file = m->path[0] == '/';
	struct cfi *c = vdso      ? cfi_open_memory(k->job->pid, m, &k->job->why)
			: is_file ? open_file(k, m)
				  : NULL;

	if (!c && (m->path[0] == '[' ? vdso : k->fd < 0 || elf_file_is(k->fd)))
		k->job->made = UNWIND_WITHOUT;
	return c;
}

static void make_rows(struct making *k, struct cfi *c, const atomic_bool *stop)
{
	struct unwind_job *j = k->job;
	const struct cfi_row *rows;
	size_t count;
	int r = 0;

	while (!atomic_load(stop) && !(r = cfi_compile(c, SLICE_NS, &j->why)))
		;
	rows = cfi_rows(c, &count);
	j->made = UNWIND_WITHOUT;
	if (r <= 0 || unwind_pack(rows, count, &j->block, &j->why))
		return;
	j->keeps_fp = rows_keep_fp(rows, count);
	j->made = UNWIND_ROWS;
}

static void make(struct load *l, const atomic_bool *stop)
{
	struct making k = {(struct unwind_job *)l, -1, -1};
	struct cfi *c = open_module(&k);

	if (c)
		make_rows(&k, c, stop);
	cfi_close(c);
	if (k.fd >= 0)
		close(k.fd);
	if (k.debug_fd >= 0)
		close(k.debug_fd);
}

struct unwind_job *unwind_job_new(pid_t pid, const struct proc_map *at)
{
	struct unwind_job *j = xcalloc(1, sizeof(*j));

	j->load.run = make;
	j->pid = pid;
	j->at = *at;
	j->at.path = xstrdup(at->path);
	j->made = UNWIND_NOTHING;
	return j;
}

void unwind_job_free(struct unwind_job *j)
{
	if (!j)
		return;
	buf_done(&j->block);
	free((char *)(uintptr_t)j->at.path);
	free(j);
}
