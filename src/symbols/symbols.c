/* SPDX-License-Identifier: Apache-2.0 */
/* The three kinds of code that are not Java: mapped files, the kernel, and what others generate. */
#include "symbols/symbols.h"

#include "base/buf.h"
#include "base/clock.h"
#include "symbols/kallsyms.h"
#include "symbols/module.h"
#include "symbols/target_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODULES_MAX     65536
#define PERFMAP_BYTES   (64u << 20)
#define PERFMAP_LOOK_NS (2 * NS_PER_S)
#define KERNEL_NAME     "[kernel]"
#define RAW_NAME        "[anon]"

struct symbols {
	pid_t pid, nspid;
	struct module **modules;
	int module_count, module_cap;

	bool kernel_read;
	struct symtab kernel;
	const char *kernel_note;

	struct symtab perfmap;
	uint64_t perfmap_looked_ns;
	struct timespec perfmap_mtime;
	off_t perfmap_bytes;

	struct buf note;
};

struct symbols *symbols_new(pid_t pid, pid_t nspid)
{
	struct symbols *s = xcalloc(1, sizeof(*s));

	s->pid = pid;
	s->nspid = nspid;
	s->kernel_note = "";
	return s;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	for (int i = 0; i < s->module_count; i++)
		module_free(s->modules[i]);
	free(s->modules);
	symtab_done(&s->perfmap);
	symtab_done(&s->kernel);
	buf_done(&s->note);
	free(s);
}

/* A file that is mapped twice, or again elsewhere, is read once: names go by file offsets. */
static int symbols_find_module(const struct symbols *s, const struct symbols_module *m)
{
	for (int i = 0; i < s->module_count; i++) {
		const struct symbols_module *have = &s->modules[i]->where;

		if (have->inode == m->inode && have->dev_major == m->dev_major &&
			have->dev_minor == m->dev_minor && !strcmp(have->path, m->path))
			return i;
	}
	return -1;
}

int symbols_module_add(struct symbols *s, const struct symbols_module *m)
{
	int known = m->inode ? symbols_find_module(s, m) : -1;

	if (known >= 0) {
		s->modules[known]->where.start = m->start; /* where it is mapped now */
		s->modules[known]->where.end = m->end;
		return known;
	}
	if (s->module_count >= MODULES_MAX)
		return -1;
	if (s->module_count == s->module_cap) {
		s->module_cap = s->module_cap ? s->module_cap * 2 : 64;
		s->modules = xreallocarray(s->modules, (size_t)s->module_cap, sizeof(*s->modules));
	}
	s->modules[s->module_count] = module_new(m);
	return s->module_count++;
}

void symbols_native(struct symbols *s, int module, uint64_t offset, struct symbol *out)
{
	if (module >= 0 && module < s->module_count)
		module_name(s->modules[module], s->pid, offset, out);
	else
		*out = (struct symbol){.name = "", .module = RAW_NAME, .start = offset};
}

bool symbols_function(struct symbols *s, int module, const char *name, uint64_t *offset)
{
	return module >= 0 && module < s->module_count &&
	       module_function(s->modules[module], s->pid, name, offset);
}

static void symbols_read_kernel(struct symbols *s)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	enum kallsyms_result result = f ? kallsyms_read(f, &s->kernel) : KALLSYMS_NONE;

	s->kernel_read = true;
	if (f)
		fclose(f);
	if (result == KALLSYMS_HIDDEN)
		s->kernel_note = "kernel names are hidden (sysctl kernel.kptr_restrict)";
	else if (result == KALLSYMS_NONE)
		s->kernel_note = "/proc/kallsyms gives no kernel names";
}

void symbols_kernel(struct symbols *s, uint64_t address, struct symbol *out)
{
	const struct symtab_entry *e;

	if (!s->kernel_read)
		symbols_read_kernel(s);
	*out = (struct symbol){.name = "", .module = KERNEL_NAME, .start = address};
	e = symtab_find(&s->kernel, address);
	if (!e || e->rank == SYMTAB_MARK)
		return;
	out->name = symtab_name(&s->kernel, e);
	out->start = e->start;
}

/* --- code of other JITs ------------------------------------------------------------------------------ */

static FILE *symbols_open_perfmap(struct symbols *s)
{
	char path[64];
	struct stat st;
	int fd;
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)(s->pid > 0 ? s->nspid : 0));
	fd = target_file_open(s->pid, path);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || st.st_size > PERFMAP_BYTES ||
		(st.st_size == s->perfmap_bytes && st.st_mtim.tv_sec == s->perfmap_mtime.tv_sec &&
			st.st_mtim.tv_nsec == s->perfmap_mtime.tv_nsec)) {
		close(fd);
		return NULL;
	}
	s->perfmap_bytes = st.st_size;
	s->perfmap_mtime = st.st_mtim;
	f = fdopen(fd, "r");
	if (!f)
		close(fd);
	return f;
}

/* The file grows as code is compiled: look again now and then, when a name is missing. */
static bool symbols_refresh_perfmap(struct symbols *s)
{
	uint64_t now_ns = clock_mono_ns();
	FILE *f;

	if (s->perfmap_looked_ns && now_ns - s->perfmap_looked_ns < PERFMAP_LOOK_NS)
		return false;
	s->perfmap_looked_ns = now_ns;
	f = symbols_open_perfmap(s);
	if (!f)
		return false;
	symtab_done(&s->perfmap);
	perfmap_read(f, &s->perfmap);
	fclose(f);
	return true;
}

void symbols_raw(struct symbols *s, uint64_t address, struct symbol *out)
{
	const struct symtab_entry *e = symtab_find(&s->perfmap, address);

	*out = (struct symbol){.name = "", .module = RAW_NAME, .start = address};
	if (!e && symbols_refresh_perfmap(s))
		e = symtab_find(&s->perfmap, address);
	if (!e)
		return;
	out->name = symtab_name(&s->perfmap, e);
	out->start = e->start;
}

const char *symbols_note(struct symbols *s)
{
	buf_clear(&s->note);
	buf_adds(&s->note, s->kernel_note);
	for (int i = 0; i < s->module_count; i++)
		if (s->modules[i]->note[0])
			buf_printf(&s->note, "%s%s", s->note.len ? "; " : "", s->modules[i]->note);
	return buf_str(&s->note);
}
