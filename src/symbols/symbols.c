/* SPDX-License-Identifier: Apache-2.0 */
/* The three kinds of code that are not Java: mapped files, the kernel, and what others generate. */
#include "symbols/symbols.h"

#include "base/buf.h"
#include "base/clock.h"
#include "symbols/loader.h"
#include "symbols/mapped.h"
#include "symbols/symtab.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODULES_MAX      65536
#define PERFMAP_BYTES    (64u << 20)
#define PERFMAP_LOOK_NS  (2 * NS_PER_S)
#define NAMES_MAX        (1u << 30) /* bytes of names; of modules beyond them none are read */
#define FUNCTION_WAIT_NS (10 * NS_PER_S)
/* Unwind rows come first, which the first stacks need; names are waited for, and on few cores the two threads share one. */
#define NAMES_NICE       5
#define FUNCTION_STEP_MS 100
#define KERNEL_NAME      "[kernel]"
#define RAW_NAME         "[anon]"

/* One mapped file and its names: read when first asked, maybe by the loader's thread; until then only module_ask is called. */
struct module {
	struct load load; /* the first member */
	pid_t pid;
	struct proc_map where; /* path is ours */
	struct proc_map asked; /* where it was when it was asked for */
	const char *name;      /* the end of path, or "[vdso]" */
	bool is_jvm;
	bool counted; /* it is loaded, and symbols know it */
	struct symtab table;
	struct elf_segment segments[ELF_SEGMENTS_MAX];
	uint32_t segment_count;
	char note[200]; /* why there are no names, "" if there are */
};

/* A file of the system or the target that is read as a whole, beside the modules. */
struct list {
	struct load load; /* the first member */
	struct symbols *symbols;
	struct symtab table;
	const char *note;
	bool changed; /* a perf map was there, and not the one of last time */
};

struct symbols {
	pid_t pid, nspid;
	struct loader *loader;
	size_t bytes; /* of the modules that are loaded */
	struct module **modules;
	int module_count;
	uint32_t module_cap;

	struct list kernel;
	bool kernel_asked; /* there was a frame of the kernel's: that its names are hidden matters */

	struct symtab perfmap; /* what is searched */
	struct list *perfmap_next;
	const char *perfmap_note; /* of the last one, NULL: none */
	uint64_t perfmap_looked_ns;
	struct timespec perfmap_mtime;
	off_t perfmap_bytes;

	struct buf note;
};

/* --- a mapped file ----------------------------------------------------------------------------------- */

/* A sentence as a part of the note. */
static void module_note(struct module *m, const char *sentence)
{
	size_t len = strlen(sentence);

	snprintf(m->note, sizeof(m->note), "%.*s",
		(int)(len && sentence[len - 1] == '.' ? len - 1 : len), sentence);
}

static void module_read(struct module *m, struct elf_child *child, const struct mapped_file *file,
	const atomic_bool *stop)
{
	struct err err = {0};

	m->segment_count = file->facts.segment_count;
	memcpy(m->segments, file->facts.segments, sizeof(m->segments));
	if (elf_child_names(child, file->fd, file->debug_fd, stop, &m->table, &err)) {
		err_prefix(&err, "%s has no names: ", m->name);
		module_note(m, err.what);
	} else if (m->table.full) {
		snprintf(m->note, sizeof(m->note), "%s has more names than are read", m->name);
	}
}

static void module_load(struct load *l, struct elf_child *child, const atomic_bool *stop)
{
	struct module *m = (struct module *)l;
	struct mapped_file file;
	struct err err = {0};

	switch (mapped_open(child, m->pid, &m->asked, stop, &file, &err)) {
	case MAPPED_OPEN:
		module_read(m, child, &file, stop);
		mapped_close(&file);
		break;
	case MAPPED_FAILED: module_note(m, err.what); break;
	case MAPPED_OTHER:
		if (m->where.path[0] == '/')
			snprintf(m->note, sizeof(m->note),
				"%s is no 64-bit ELF file that can be read", m->name);
	}
}

static struct module *module_new(const struct proc_map *where, pid_t pid)
{
	struct module *m = xcalloc(1, sizeof(*m));

	m->load.run = module_load;
	m->pid = pid;
	m->where = *where;
	m->where.path = xstrdup(where->path);
	m->name = path_name(m->where.path);
	m->is_jvm = !strncmp(m->name, "libjvm.so", 9);
	return m;
}

static void module_free(struct module *m)
{
	if (!m)
		return;
	symtab_done(&m->table);
	free((char *)m->where.path);
	free(m);
}

static bool module_ask(struct module *m, struct loader *loader)
{
	if (!loader_is_waiting(&m->load))
		m->asked = m->where;
	return loader_ask(loader, &m->load);
}

static size_t module_bytes(const struct module *m)
{
	return m->table.texts.cap + m->table.cap * sizeof(*m->table.entries) +
	       m->table.count * sizeof(*m->table.names);
}

/* The name of a function that has none: where it begins in the file. */
static const char *module_made_up(struct module *m, const struct symtab_entry *e, uint64_t start)
{
	char **name = &m->table.names[e - m->table.entries];
	char text[32];

	if (!*name) {
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)start);
		*name = xstrdup(text);
	}
	return *name;
}

static bool module_function(struct module *m, const char *name, uint64_t *offset)
{
	for (uint32_t i = 0; i < m->table.count; i++) {
		const struct symtab_entry *e = &m->table.entries[i];
		const char *text = m->table.texts.data + e->text;
		const struct elf_segment *segment;

		if (e->rank == SYMTAB_MARK || text[0] == '\0' ||
			(strcmp(text, name) != 0 &&
				(!strchr(name, ':') || text[0] != '_' ||
					strcmp(symtab_name(&m->table, e), name) != 0)))
			continue;
		segment = elf_segment_at(m->segments, m->segment_count, e->start);
		if (segment)
			*offset = e->start - segment->address + segment->offset;
		return segment;
	}
	return false;
}

static void module_name(struct module *m, uint64_t offset, struct symbol *out)
{
	const struct elf_segment *segment;
	const struct symtab_entry *e;
	uint64_t to_address;

	*out = (struct symbol){.name = "", .module = m->name, .is_jvm = m->is_jvm, .start = offset};
	segment = elf_segment_of_offset(m->segments, m->segment_count, offset);
	if (!segment)
		return;
	to_address = segment->address - segment->offset;
	e = symtab_find(&m->table, offset + to_address);
	if (!e)
		return;
	out->start = e->start - to_address;
	out->name = e->rank == SYMTAB_MARK ? module_made_up(m, e, out->start)
					   : symtab_name(&m->table, e);
}

/* --- all of them ------------------------------------------------------------------------------------- */

static void symbols_read_kernel(struct load *l, struct elf_child *child, const atomic_bool *stop);

struct symbols *symbols_new(pid_t pid, pid_t nspid)
{
	struct symbols *s = xcalloc(1, sizeof(*s));

	s->pid = pid;
	s->nspid = nspid;
	s->loader = loader_new();
	s->kernel = (struct list){.load.run = symbols_read_kernel, .symbols = s, .note = ""};
	return s;
}

void symbols_free(struct symbols *s)
{
	if (!s || !loader_free(s->loader))
		return;
	for (int i = 0; i < s->module_count; i++)
		module_free(s->modules[i]);
	free(s->modules);
	symtab_done(&s->perfmap);
	symtab_done(&s->kernel.table);
	if (s->perfmap_next)
		symtab_done(&s->perfmap_next->table);
	free(s->perfmap_next);
	buf_done(&s->note);
	free(s);
}

/* A file that is mapped twice, or again elsewhere, is read once: names go by file offsets. */
static int symbols_find_module(const struct symbols *s, const struct proc_map *m)
{
	for (int i = 0; i < s->module_count; i++) {
		const struct proc_map *have = &s->modules[i]->where;

		if (have->inode == m->inode && have->dev_major == m->dev_major &&
			have->dev_minor == m->dev_minor && !strcmp(have->path, m->path))
			return i;
	}
	return -1;
}

int symbols_module_add(struct symbols *s, const struct proc_map *m)
{
	int known = m->inode ? symbols_find_module(s, m) : -1;

	if (known >= 0) {
		s->modules[known]->where.start = m->start; /* where it is mapped now */
		s->modules[known]->where.end = m->end;
		return known;
	}
	if (s->module_count >= MODULES_MAX)
		return -1;
	s->modules =
		xgrow(s->modules, (size_t)s->module_count, &s->module_cap, sizeof(*s->modules));
	s->modules[s->module_count] = module_new(m, s->pid);
	return s->module_count++;
}

void symbols_start_thread(struct symbols *s)
{
	loader_start(s->loader, NAMES_NICE);
}

void symbols_wait(struct symbols *s, unsigned ms)
{
	loader_wait(s->loader, ms);
}

/* --- mapped files ------------------------------------------------------------------------------------ */

bool symbols_ready_native(struct symbols *s, int module)
{
	struct module *m;

	if (module < 0 || module >= s->module_count)
		return true;
	m = s->modules[module];
	if (m->counted || s->bytes > NAMES_MAX)
		return true;
	if (!module_ask(m, s->loader))
		return false;
	m->counted = true;
	s->bytes += module_bytes(m);
	return true;
}

void symbols_native(struct symbols *s, int module, uint64_t offset, struct symbol *out)
{
	bool ready = symbols_ready_native(s, module);

	if (module < 0 || module >= s->module_count) {
		*out = (struct symbol){.name = "", .module = RAW_NAME, .start = offset};
		return;
	}
	if (ready && s->modules[module]->counted) {
		module_name(s->modules[module], offset, out);
		return;
	}
	*out = (struct symbol){.name = "",
		.module = s->modules[module]->name,
		.is_jvm = s->modules[module]->is_jvm,
		.loading = !ready,
		.start = offset};
}

uint64_t symbols_function(
	struct symbols *s, int module, const struct proc_map *map, const char *name)
{
	uint64_t end_ns = clock_mono_ns() + FUNCTION_WAIT_NS, offset;

	while (!symbols_ready_native(s, module) && clock_mono_ns() < end_ns)
		loader_wait(s->loader, FUNCTION_STEP_MS);
	if (module < 0 || module >= s->module_count || !s->modules[module]->counted ||
		!module_function(s->modules[module], name, &offset) ||
		offset - map->offset >= map->end - map->start)
		return 0;
	return map->start + (offset - map->offset);
}

/* --- the kernel -------------------------------------------------------------------------------------- */

static void symbols_read_kernel(struct load *l, struct elf_child *child, const atomic_bool *stop)
{
	struct list *kernel = (struct list *)l;
	FILE *f = fopen("/proc/kallsyms", "re");
	enum kallsyms_result result;

	symtab_limit(&kernel->table, stop);
	result = f ? kallsyms_read(f, &kernel->table) : KALLSYMS_NONE;
	if (f)
		fclose(f);
	if (result == KALLSYMS_HIDDEN)
		kernel->note = "kernel names are hidden (sysctl kernel.kptr_restrict)";
	else if (result == KALLSYMS_NONE)
		kernel->note = "/proc/kallsyms gives no kernel names";
}

bool symbols_ready_kernel(struct symbols *s)
{
	return loader_ask(s->loader, &s->kernel.load);
}

void symbols_kernel(struct symbols *s, uint64_t address, struct symbol *out)
{
	const struct symtab_entry *e;

	*out = (struct symbol){.name = "", .module = KERNEL_NAME, .start = address};
	s->kernel_asked = true;
	out->loading = !symbols_ready_kernel(s);
	e = out->loading ? NULL : symtab_find(&s->kernel.table, address);
	if (!e || e->rank == SYMTAB_MARK)
		return;
	out->name = symtab_name(&s->kernel.table, e);
	out->start = e->start;
}

/* --- code of other JITs ------------------------------------------------------------------------------ */

/* The effective user of a process, -1 if it cannot be read. */
static long user_of(pid_t pid)
{
	char path[PROC_PATH_BYTES], line[256];
	FILE *f = fopen(proc_path(path, pid, "status"), "re");
	long user = -1;

	while (f && user < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "Uid: %*d %ld", &user) != 1)
			user = -1;
	if (f)
		fclose(f);
	return user;
}

/*
 * The perf map of the target. Anybody may create a file of this name in a shared /tmp: it is used only if the target's user or root
 * owns it, nobody else may write to it, and it is no link.
 */
static int open_perfmap(struct list *map, struct stat *st)
{
	const struct symbols *s = map->symbols;
	int folder = s->pid > 0 ? proc_open_in(s->pid, "root", "/tmp", O_RDONLY | O_DIRECTORY) : -1;
	char name[32];
	int fd;

	if (folder < 0)
		return -1;
	snprintf(name, sizeof(name), "perf-%d.map", (int)s->nspid);
	fd = rooted_in(folder, name, O_RDONLY);
	close(folder);
	if (fd == -ELOOP || (fd >= 0 && (fstat(fd, st) || st->st_mode & S_IWOTH ||
						(st->st_uid && st->st_uid != user_of(s->pid))))) {
		map->note = "the perf map in /tmp was not read: others than the JVM's user can "
			    "write it";
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

static FILE *symbols_open_perfmap(struct list *map)
{
	struct symbols *s = map->symbols;
	struct stat st;
	int fd = open_perfmap(map, &st);
	FILE *f;

	if (fd < 0)
		return NULL;
	if (st.st_size > PERFMAP_BYTES ||
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

static void symbols_read_perfmap(struct load *l, struct elf_child *child, const atomic_bool *stop)
{
	struct list *map = (struct list *)l;
	FILE *f = symbols_open_perfmap(map);

	if (!f)
		return;
	map->changed = true;
	symtab_limit(&map->table, stop);
	perfmap_read(f, &map->table);
	fclose(f);
}

/* What was read takes the place of what is searched. */
static void symbols_take_perfmap(struct symbols *s)
{
	s->perfmap_note = s->perfmap_next->note;
	if (s->perfmap_next->changed) {
		symtab_done(&s->perfmap);
		s->perfmap = s->perfmap_next->table;
	}
	free(s->perfmap_next);
	s->perfmap_next = NULL;
}

/* The file grows as code is compiled: look again now and then, when a name is missing. false: it is being read. */
static bool symbols_refresh_perfmap(struct symbols *s)
{
	uint64_t now_ns = clock_mono_ns();

	if (!s->perfmap_next) {
		if (s->perfmap_looked_ns && now_ns - s->perfmap_looked_ns < PERFMAP_LOOK_NS)
			return true;
		s->perfmap_looked_ns = now_ns;
		s->perfmap_next = xcalloc(1, sizeof(*s->perfmap_next));
		s->perfmap_next->load.run = symbols_read_perfmap;
		s->perfmap_next->symbols = s;
	}
	if (!loader_ask(s->loader, &s->perfmap_next->load))
		return false;
	symbols_take_perfmap(s);
	return true;
}

bool symbols_ready_raw(struct symbols *s, uint64_t address)
{
	return symtab_find(&s->perfmap, address) || symbols_refresh_perfmap(s);
}

void symbols_raw(struct symbols *s, uint64_t address, struct symbol *out)
{
	const struct symtab_entry *e;

	*out = (struct symbol){.name = "", .module = RAW_NAME, .start = address};
	out->loading = !symbols_ready_raw(s, address);
	e = symtab_find(&s->perfmap, address);
	if (!e)
		return;
	out->name = symtab_name(&s->perfmap, e);
	out->start = e->start;
}

const char *symbols_reading(const struct symbols *s)
{
	for (int i = 0; i < s->module_count; i++)
		if (loader_is_waiting(&s->modules[i]->load))
			return s->modules[i]->name;
	return loader_is_waiting(&s->kernel.load) ? KERNEL_NAME : "";
}

const char *symbols_note(struct symbols *s)
{
	buf_clear(&s->note);
	if (s->kernel_asked && !loader_is_waiting(&s->kernel.load))
		buf_adds(&s->note, s->kernel.note);
	if (s->perfmap_note)
		buf_printf(&s->note, "%s%s", s->note.len ? "; " : "", s->perfmap_note);
	for (int i = 0; i < s->module_count; i++)
		if (s->modules[i]->counted && s->modules[i]->note[0])
			buf_printf(&s->note, "%s%s", s->note.len ? "; " : "", s->modules[i]->note);
	return buf_str(&s->note);
}
