/* SPDX-License-Identifier: Apache-2.0 */
/* A live JVM as seen from another process: memory, symbols, threads. */
#include "target.h"

#include "dump/remote.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CACHE_NAMES 8192u

struct map {
	uint64_t start, end, offset;
	char path[256];
};

struct module {
	char path[256];
	uint8_t *image;
	size_t bytes;
};

struct target {
	pid_t pid;
	struct remote *remote;
	struct {
		uint64_t pc;
		char text[512];
	} * names; /* names of native pcs, cached because symbol tables are long */
	struct map *maps;
	int map_count;
	struct module modules[64];
	int module_count;
	uint64_t libjvm_base, libjvm_start, libjvm_end;
	struct module *libjvm;
};

const struct walk_mem *target_mem(struct target *t)
{
	return remote_mem(t->remote);
}

void target_forget(struct target *t)
{
	remote_forget(t->remote);
}

/* --- maps and symbols -------------------------------------------------------------------------------- */

static void maps_read(struct target *t)
{
	char path[64], line[512];

	snprintf(path, sizeof(path), "/proc/%d/maps", t->pid);

	FILE *f = fopen(path, "re");

	t->map_count = 0;
	while (f && fgets(line, sizeof(line), f)) {
		struct map m = {0};

		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %255[^\n]", &m.start, &m.end, &m.offset,
			    m.path) < 3)
			continue;
		t->maps = realloc(t->maps, sizeof(m) * (size_t)(t->map_count + 1));
		t->maps[t->map_count++] = m;
	}
	if (f)
		fclose(f);
}

static struct module *module_get(struct target *t, const char *path)
{
	for (int i = 0; i < t->module_count; i++)
		if (!strcmp(t->modules[i].path, path))
			return &t->modules[i];
	if (t->module_count == 64)
		return NULL;

	struct module *m = &t->modules[t->module_count++];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	snprintf(m->path, sizeof(m->path), "%s", path);
	if (fd >= 0 && !fstat(fd, &st) && st.st_size > (off_t)sizeof(Elf64_Ehdr)) {
		m->bytes = (size_t)st.st_size;
		m->image = mmap(NULL, m->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
		if (m->image == MAP_FAILED || memcmp(m->image, ELFMAG, SELFMAG))
			m->image = NULL;
	}
	if (fd >= 0)
		close(fd);
	return m;
}

typedef bool symbol_fn(void *ctx, const Elf64_Sym *sym, const char *name);

static void symbols_each(const struct module *m, symbol_fn *fn, void *ctx)
{
	if (!m || !m->image)
		return;

	const Elf64_Ehdr *e = (const void *)m->image;
	const Elf64_Shdr *sections = (const void *)(m->image + e->e_shoff);

	for (int i = 0; i < e->e_shnum; i++) {
		const Elf64_Shdr *s = &sections[i];

		if (s->sh_type != SHT_DYNSYM && s->sh_type != SHT_SYMTAB)
			continue;

		const Elf64_Sym *sym = (const void *)(m->image + s->sh_offset);
		const char *names = (const char *)m->image + sections[s->sh_link].sh_offset;

		for (size_t k = 0; k < s->sh_size / sizeof(*sym); k++)
			if (sym[k].st_shndx != SHN_UNDEF &&
				fn(ctx, &sym[k], names + sym[k].st_name))
				return;
	}
}

struct lookup {
	const char *want;
	uint64_t value;
};

static bool by_name(void *ctx, const Elf64_Sym *sym, const char *name)
{
	struct lookup *l = ctx;

	if (strcmp(name, l->want))
		return false;
	l->value = sym->st_value;
	return true;
}

static uint64_t target_symbol(void *ctx, const char *name)
{
	struct target *t = ctx;
	struct lookup l = {name, 0};

	symbols_each(t->libjvm, by_name, &l);
	return l.value ? t->libjvm_base + l.value : 0;
}

struct nearest {
	uint64_t at, best;
	const char *name;
};

static bool by_address(void *ctx, const Elf64_Sym *sym, const char *name)
{
	struct nearest *n = ctx;

	if (ELF64_ST_TYPE(sym->st_info) == STT_FUNC && sym->st_value <= n->at &&
		n->at < sym->st_value + (sym->st_size ? sym->st_size : 1) &&
		sym->st_value >= n->best) {
		n->best = sym->st_value;
		n->name = name;
	}
	return false;
}

static void describe(struct target *t, uint64_t pc, char *out, size_t bytes)
{
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < t->map_count; i++) {
			const struct map *m = &t->maps[i];

			if (pc < m->start || pc >= m->end)
				continue;

			const char *base = strrchr(m->path, '/');
			uint64_t offset = pc - m->start + m->offset;
			struct nearest n = {offset, 0, NULL};

			if (base)
				symbols_each(module_get(t, m->path), by_address, &n);
			snprintf(out, bytes, "%s+0x%lx%s%s", base ? base + 1 : m->path, offset,
				n.name ? " " : "", n.name ? n.name : "");
			return;
		}
		maps_read(t);
	}
	snprintf(out, bytes, "0x%lx", pc);
}

void target_describe(struct target *t, uint64_t pc, char *out, size_t bytes)
{
	uint32_t i = (uint32_t)((pc * 0x9e3779b97f4a7c15ull) >> 32) % CACHE_NAMES;

	if (t->names[i].pc != pc) {
		describe(t, pc, t->names[i].text, sizeof(t->names[i].text));
		t->names[i].pc = pc;
	}
	snprintf(out, bytes, "%s", t->names[i].text);
}

void target_stack(struct target *t, uint64_t sp, uint64_t *lo, uint64_t *hi)
{
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < t->map_count; i++) {
			if (sp >= t->maps[i].start && sp < t->maps[i].end) {
				*lo = t->maps[i].start;
				*hi = t->maps[i].end;
				return;
			}
		}
		maps_read(t);
	}
	*lo = *hi = 0;
}

int target_layout_by(struct target *t, const struct walk_mem *mem, struct walk_layout *layout,
	char *note, size_t note_bytes)
{
	struct walk_tables tables = {.symbol = target_symbol,
		.ctx = t,
		.libjvm_start = t->libjvm_start,
		.libjvm_end = t->libjvm_end};

	return walk_layout_read(layout, mem, &tables, note, note_bytes);
}

int target_layout(struct target *t, struct walk_layout *layout, char *note, size_t note_bytes)
{
	return target_layout_by(t, target_mem(t), layout, note, note_bytes);
}

struct target *target_open(pid_t pid)
{
	struct target *t = calloc(1, sizeof(*t));

	t->pid = pid;
	t->names = calloc(CACHE_NAMES, sizeof(*t->names));
	maps_read(t);
	for (int i = 0; i < t->map_count; i++) {
		const char *base = strrchr(t->maps[i].path, '/');

		if (!base || strcmp(base, "/libjvm.so"))
			continue;
		if (!t->libjvm) {
			t->libjvm = module_get(t, t->maps[i].path);
			t->libjvm_start = t->libjvm_base = t->maps[i].start;
		}
		t->libjvm_end = t->maps[i].end;
	}
	if (t->libjvm)
		t->remote = remote_open(pid, t->libjvm_start, NULL);
	if (t->remote)
		return t;
	target_close(t);
	return NULL;
}

void target_close(struct target *t)
{
	for (int i = 0; i < t->module_count; i++)
		if (t->modules[i].image)
			munmap(t->modules[i].image, t->modules[i].bytes);
	free(t->maps);
	remote_close(t->remote);
	free(t->names);
	free(t);
}

/* --- threads ----------------------------------------------------------------------------------------- */

int target_threads(struct target *t, pid_t *tids, int max)
{
	char path[64];
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", t->pid);

	DIR *d = opendir(path);
	struct dirent *e;

	while (d && n < max && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]))
			tids[n++] = atoi(e->d_name);
	if (d)
		closedir(d);
	return n;
}

bool target_running(struct target *t, pid_t tid)
{
	char path[64], line[512] = "";

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", t->pid, tid);

	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (read(fd, line, sizeof(line) - 1) < 0)
		line[0] = '\0';
	close(fd);

	const char *close_paren = strrchr(line, ')');

	return close_paren && close_paren[1] == ' ' && close_paren[2] == 'R';
}

bool target_stop(struct target *t, pid_t tid, struct walk_regs *regs)
{
	int status;

	if (ptrace(PTRACE_SEIZE, tid, 0, 0))
		return false;
	if (ptrace(PTRACE_INTERRUPT, tid, 0, 0))
		return false;
	for (;;) {
		if (waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
			return false;
		if (status >> 16 == PTRACE_EVENT_STOP)
			break;
		/* A signal of the JVM arrived first: pass it on. */
		ptrace(PTRACE_CONT, tid, 0, (void *)(uintptr_t)WSTOPSIG(status));
	}
	target_forget(t);
	if (remote_regs(tid, regs))
		return true;
	target_resume(t, tid);
	return false;
}

void target_resume(struct target *t, pid_t tid)
{
	(void)t;
	ptrace(PTRACE_DETACH, tid, 0, 0);
}
