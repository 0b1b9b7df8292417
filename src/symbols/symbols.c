/* SPDX-License-Identifier: Apache-2.0 */
/* The three sources of names: mapped files, the kernel, and the perf map of another JIT in the target. */
#include "symbols/symbols.h"

#include "base/buf.h"
#include "base/clock.h"
#include "symbols/demangle.h"
#include "symbols/mapped.h"
#include "symbols/names.h"
#include "symbols/symtab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODULES_MAX      65536
#define PERFMAP_BYTES    (64u << 20)
#define PERFMAP_POLL_NS  (2 * NS_PER_S)
#define NAMES_MAX        (1u << 30) /* bytes of names; further modules are not read */
#define FUNCTION_WAIT_NS (10 * NS_PER_S)
/* A lower priority than that of the loader of unwind rows: without rows stacks are truncated, without names they only wait. */
#define NAMES_NICE       5
#define FUNCTION_STEP_MS 100
#define KERNEL_NAME      "[kernel]"
#define RAW_NAME         "[anon]"

/*
 * Threads and fields. Loads are run by the loader's threads (loader.h):
 *
 *   module       NEW ──request──▶ PENDING ──file read──▶ DONE ──▶ counted
 *     load, pid, where.path, name, is_jvm   constant
 *     where                                 the owner's, always
 *     requested                             written by the owner before PENDING, read by the loader
 *     table, segments, note                 the loader's while PENDING, then the owner's
 *     counted                               the owner's: it has seen DONE
 *   table        its entries and texts are constant once DONE, so that a search may read them on LOADER_NAMES; names[] is the
 *                owner's, always (names.h)
 *   kernel       like a module
 *   perf map     read again every two seconds while a name is missing: perfmap_next is the loader's while PENDING and replaces
 *                perfmap when DONE. symbols.perfmap_mtime and perfmap_bytes are the loader's; only one load uses them
 *   search       module and name are constant; entry is the loader's while PENDING
 *
 * Everything else belongs to the owner.
 */
struct module {
	struct load load; /* the first member */
	pid_t pid;
	struct proc_map where;     /* its last known mapping; the path is allocated here */
	struct proc_map requested; /* where, at the time of the request */
	const char *name;          /* the last component of the path, or "[vdso]" */
	bool is_jvm;
	bool counted; /* its bytes are in symbols.bytes */
	struct symtab table;
	struct elf_segment segments[ELF_SEGMENTS_MAX];
	uint32_t segment_count;
	char note[200]; /* why there are no names, or "" */
};

/* A text file of names that is read as a whole: kallsyms, a perf map. */
struct list {
	struct load load; /* the first member */
	struct symbols *symbols;
	struct symtab table;
	const char *note;
	bool changed; /* there is a perf map, and it differs from the last one */
};

/* A search for a function by its demangled name. */
struct search {
	struct load load; /* the first member */
	const struct module *module;
	char *name;
	const struct symtab_entry *entry; /* the result, NULL: none */
};

struct symbols {
	pid_t pid, nspid;
	struct loader *loader;
	struct names names;
	struct search *search; /* the last one, NULL: none */
	size_t bytes;          /* of the modules that have been read */
	struct module **modules;
	int module_count;
	uint32_t module_cap;

	struct list kernel;
	bool kernel_requested; /* a kernel frame was seen, so the note reports hidden names */

	struct symtab perfmap; /* the searched table */
	struct list *perfmap_next;
	const char *perfmap_note; /* of the last one, NULL: none */
	uint64_t perfmap_polled_ns;
	struct timespec perfmap_mtime;
	off_t perfmap_bytes;

	struct buf note, pending; /* texts of symbols_note and symbols_pending */
};

/* --- a mapped file ----------------------------------------------------------------------------------- */

/* Sets the note to a sentence without its full stop. */
static void module_note(struct module *m, const char *sentence)
{
	size_t len = strlen(sentence);

	snprintf(m->note, sizeof(m->note), "%.*s",
		(int)(len && sentence[len - 1] == '.' ? len - 1 : len), sentence);
}

static void module_load(struct load *l, struct elf_child *child, const atomic_bool *stop)
{
	struct module *m = (struct module *)l;
	struct mapped_file file;
	struct err err = {0};

	switch (mapped_open(child, m->pid, &m->requested, stop, &file, &err)) {
	case MAPPED_OPEN:
		m->segment_count = file.facts.segment_count;
		memcpy(m->segments, file.facts.segments, sizeof(m->segments));
		if (elf_child_names(child, file.fd, file.debug_fd, stop, &m->table, &err)) {
			err_prefix(&err, "%s has no names: ", m->name);
			module_note(m, err.what);
		} else if (m->table.full) {
			snprintf(m->note, sizeof(m->note), "%s has more names than jhot reads",
				m->name);
		}
		mapped_close(&file);
		break;
	case MAPPED_FAILED: module_note(m, err.what); break;
	case MAPPED_OTHER:
		if (m->where.path[0] == '/')
			snprintf(m->note, sizeof(m->note), "%s is not a readable 64-bit ELF file",
				m->name);
	}
}

/* Demangles the names of the module one after the other, until one matches. */
static void search_run(struct load *l, struct elf_child *child, const atomic_bool *stop)
{
	struct search *s = (struct search *)l;
	const struct symtab *t = &s->module->table;

	(void)child;
	for (uint32_t i = 0; i < t->count && !s->entry && !atomic_load(stop); i++) {
		const char *text = symtab_text(t, &t->entries[i]);

		if (!demangle_is_mangled(text))
			continue;
		char *name = demangle_name(text);
		if (!strcmp(name, s->name))
			s->entry = &t->entries[i];
		free(name);
	}
}

/* The entry with this name as it is in the file; NULL: none. */
static const struct symtab_entry *module_find_text(const struct module *m, const char *name)
{
	for (uint32_t i = 0; i < m->table.count; i++)
		if (!strcmp(symtab_text(&m->table, &m->table.entries[i]), name))
			return &m->table.entries[i];
	return NULL;
}

/* Sets the name and start of *out, in which the caller has stored an offset without a name. */
static void module_name(struct module *m, struct names *names, uint64_t offset, struct symbol *out)
{
	const char *name;
	char text[32];

	const struct elf_segment *segment =
		elf_segment_of_offset(m->segments, m->segment_count, offset);
	if (!segment)
		return;
	uint64_t to_address = segment->address - segment->offset;
	const struct symtab_entry *e = symtab_find(&m->table, offset + to_address);
	if (!e)
		return;
	if (e->rank == SYMTAB_BOUNDARY) { /* a function without a name: its file offset */
		char **cached = &m->table.names[e - m->table.entries];
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)(e->start - to_address));
		if (!*cached)
			*cached = xstrdup(text);
		name = *cached;
	} else {
		name = names_get(names, &m->table, e);
	}
	out->loading = !name;
	if (!name)
		return;
	out->start = e->start - to_address;
	out->name = name;
}

/* --- creating and freeing ------------------------------------------------------------------------------ */

static void symbols_read_kernel(struct load *l, struct elf_child *child, const atomic_bool *stop)
{
	struct list *kernel = (struct list *)l;
	FILE *f = fopen("/proc/kallsyms", "re");

	symtab_limit(&kernel->table, stop);
	enum kallsyms_result result = f ? kallsyms_read(f, &kernel->table) : KALLSYMS_NONE;
	if (f)
		fclose(f);
	if (result == KALLSYMS_HIDDEN)
		kernel->note = "kernel names are hidden (sysctl kernel.kptr_restrict)";
	else if (result == KALLSYMS_NONE)
		kernel->note = "/proc/kallsyms gives no kernel names";
}

struct symbols *symbols_new(pid_t pid, pid_t nspid)
{
	struct symbols *s = xcalloc(1, sizeof(*s));

	s->pid = pid;
	s->nspid = nspid;
	s->loader = s->names.loader = loader_new();
	s->kernel = (struct list){.load.run = symbols_read_kernel, .symbols = s, .note = ""};
	return s;
}

static void search_free(struct search *s)
{
	if (!s)
		return;
	free(s->name);
	free(s);
}

void symbols_free(struct symbols *s)
{
	if (!s || !loader_free(s->loader))
		return;
	for (int i = 0; i < s->module_count; i++) {
		symtab_done(&s->modules[i]->table);
		free((char *)s->modules[i]->where.path);
		free(s->modules[i]);
	}
	free(s->modules);
	symtab_done(&s->perfmap);
	symtab_done(&s->kernel.table);
	if (s->perfmap_next)
		symtab_done(&s->perfmap_next->table);
	free(s->perfmap_next);
	names_done(&s->names);
	search_free(s->search);
	buf_done(&s->note);
	buf_done(&s->pending);
	free(s);
}

int symbols_module_add(struct symbols *s, const struct proc_map *m)
{
	/* A file that is mapped twice, or again elsewhere, is read once: names depend on file offsets only. */
	for (int i = 0; m->inode && i < s->module_count; i++) {
		struct proc_map *known = &s->modules[i]->where;

		if (known->inode == m->inode && known->dev_major == m->dev_major &&
			known->dev_minor == m->dev_minor && !strcmp(known->path, m->path)) {
			known->start = m->start; /* where it is mapped now */
			known->end = m->end;
			return i;
		}
	}
	if (s->module_count >= MODULES_MAX)
		return -1;
	s->modules =
		xgrow(s->modules, (size_t)s->module_count, &s->module_cap, sizeof(*s->modules));
	struct module *new = xcalloc(1, sizeof(*new));
	new->load.run = module_load;
	new->pid = s->pid;
	new->where = *m;
	new->where.path = xstrdup(m->path);
	new->name = path_name(new->where.path);
	new->is_jvm = !strncmp(new->name, "libjvm.so", 9);
	s->modules[s->module_count] = new;
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

bool symbols_load_module(struct symbols *s, int module)
{
	if (module < 0 || module >= s->module_count)
		return true;
	struct module *m = s->modules[module];
	if (m->counted || s->bytes > NAMES_MAX)
		return true;
	if (!loader_is_pending(&m->load))
		m->requested = m->where;
	if (!loader_request(s->loader, &m->load))
		return false;
	m->counted = true;
	s->bytes += m->table.texts.cap + m->table.cap * sizeof(*m->table.entries) +
		    m->table.count * sizeof(*m->table.names);
	return true;
}

void symbols_native(struct symbols *s, int module, uint64_t offset, struct symbol *out)
{
	bool ready = symbols_load_module(s, module);

	if (module < 0 || module >= s->module_count) {
		*out = (struct symbol){.name = "", .module = RAW_NAME, .start = offset};
		return;
	}
	struct module *m = s->modules[module];
	*out = (struct symbol){.name = "",
		.module = m->name,
		.is_jvm = m->is_jvm,
		.loading = !ready,
		.start = offset};
	if (ready && m->counted)
		module_name(m, &s->names, offset, out);
}

bool symbols_ready_native(struct symbols *s, int module, uint64_t offset)
{
	struct symbol sym;

	symbols_native(s, module, offset, &sym);
	return !sym.loading;
}

/* True when s->search is a finished search for this name in this module. Starts it unless another one is running. */
static bool symbols_search(struct symbols *s, const struct module *m, const char *name)
{
	struct search *search = s->search;

	if (search && (search->module != m || strcmp(search->name, name) != 0)) {
		if (loader_is_pending(&search->load))
			return false;
		search_free(search);
		search = NULL;
	}
	if (!search) {
		search = xcalloc(1, sizeof(*search));
		search->load.run = search_run;
		search->load.lane = LOADER_NAMES;
		search->module = m;
		search->name = xstrdup(name);
	}
	s->search = search;
	return loader_request(s->loader, &search->load);
}

bool symbols_ready_function(struct symbols *s, int module, const char *name)
{
	if (!symbols_load_module(s, module))
		return false;
	return module < 0 || module >= s->module_count || !s->modules[module]->counted ||
	       !strchr(name, ':') || module_find_text(s->modules[module], name) ||
	       symbols_search(s, s->modules[module], name);
}

uint64_t symbols_function(
	struct symbols *s, int module, const struct proc_map *map, const char *name)
{
	uint64_t end_ns = clock_mono_ns() + FUNCTION_WAIT_NS;
	bool ready;

	while (!(ready = symbols_ready_function(s, module, name)) && clock_mono_ns() < end_ns)
		loader_wait(s->loader, FUNCTION_STEP_MS);
	if (!ready || module < 0 || module >= s->module_count || !s->modules[module]->counted)
		return 0;
	const struct module *m = s->modules[module];
	const struct symtab_entry *e = module_find_text(m, name);
	if (!e && strchr(name, ':'))
		e = s->search->entry;
	const struct elf_segment *segment =
		e ? elf_segment_at(m->segments, m->segment_count, e->start) : NULL;
	if (!segment)
		return 0;
	uint64_t offset = e->start - segment->address + segment->offset;
	return offset - map->offset < map->end - map->start ? map->start + (offset - map->offset)
							    : 0;
}

/* --- the kernel -------------------------------------------------------------------------------------- */

bool symbols_load_kernel(struct symbols *s)
{
	return loader_request(s->loader, &s->kernel.load);
}

bool symbols_ready_kernel(struct symbols *s, uint64_t address)
{
	struct symbol sym;

	symbols_kernel(s, address, &sym);
	return !sym.loading;
}

void symbols_kernel(struct symbols *s, uint64_t address, struct symbol *out)
{
	*out = (struct symbol){.name = "", .module = KERNEL_NAME, .start = address};
	s->kernel_requested = true;
	out->loading = !symbols_load_kernel(s);
	const struct symtab_entry *e = out->loading ? NULL : symtab_find(&s->kernel.table, address);
	if (!e || e->rank == SYMTAB_BOUNDARY)
		return;
	const char *name = names_get(&s->names, &s->kernel.table, e);
	out->loading = !name;
	if (!name)
		return;
	out->name = name;
	out->start = e->start;
}

/* --- code of other JITs ------------------------------------------------------------------------------ */

static void symbols_read_perfmap(struct load *l, struct elf_child *child, const atomic_bool *stop)
{
	struct list *map = (struct list *)l;
	struct symbols *s = map->symbols;
	struct stat st;
	int fd = perfmap_open(s->pid, s->nspid, &st, &map->note);
	bool same = fd >= 0 && st.st_size == s->perfmap_bytes &&
		    st.st_mtim.tv_sec == s->perfmap_mtime.tv_sec &&
		    st.st_mtim.tv_nsec == s->perfmap_mtime.tv_nsec;
	FILE *f = NULL;

	if (fd >= 0 && !same && st.st_size <= PERFMAP_BYTES) {
		s->perfmap_bytes = st.st_size;
		s->perfmap_mtime = st.st_mtim;
		f = fdopen(fd, "r");
	}
	if (!f) {
		if (fd >= 0)
			close(fd);
		return;
	}
	map->changed = true;
	symtab_limit(&map->table, stop);
	perfmap_read(f, &map->table);
	fclose(f);
}

/* Polls the file, which grows as code is compiled, while a name is missing. Returns false while it is being read. */
static bool symbols_refresh_perfmap(struct symbols *s)
{
	uint64_t now_ns = clock_mono_ns();

	if (!s->perfmap_next) {
		if (s->perfmap_polled_ns && now_ns - s->perfmap_polled_ns < PERFMAP_POLL_NS)
			return true;
		s->perfmap_polled_ns = now_ns;
		s->perfmap_next = xcalloc(1, sizeof(*s->perfmap_next));
		s->perfmap_next->load.run = symbols_read_perfmap;
		s->perfmap_next->symbols = s;
	}
	if (!loader_request(s->loader, &s->perfmap_next->load))
		return false;
	s->perfmap_note = s->perfmap_next->note;
	if (s->perfmap_next->changed) {
		names_forget(&s->names, &s->perfmap);
		symtab_done(&s->perfmap);
		s->perfmap = s->perfmap_next->table;
	}
	free(s->perfmap_next);
	s->perfmap_next = NULL;
	return true;
}

void symbols_raw(struct symbols *s, uint64_t address, struct symbol *out)
{
	const struct symtab_entry *e = symtab_find(&s->perfmap, address);
	bool ready = e || symbols_refresh_perfmap(s);

	*out = (struct symbol){.name = "", .module = RAW_NAME, .start = address};
	e = symtab_find(&s->perfmap, address);
	const char *name = e ? names_get(&s->names, &s->perfmap, e) : NULL;
	out->loading = e ? !name : !ready;
	if (!name)
		return;
	out->name = name;
	out->start = e->start;
}

bool symbols_ready_raw(struct symbols *s, uint64_t address)
{
	struct symbol sym;

	symbols_raw(s, address, &sym);
	return !sym.loading;
}

const char *symbols_pending(struct symbols *s)
{
	const char *file = NULL;

	for (int i = 0; i < s->module_count && !file; i++)
		if (loader_is_pending(&s->modules[i]->load))
			file = s->modules[i]->name;
	if (!file && loader_is_pending(&s->kernel.load))
		file = KERNEL_NAME;
	buf_clear(&s->pending);
	if (file)
		buf_printf(&s->pending, "reading %s", file);
	else if (names_are_pending(&s->names))
		buf_adds(&s->pending, "demangling");
	return buf_str(&s->pending);
}

const char *symbols_note(struct symbols *s)
{
	buf_clear(&s->note);
	if (s->kernel_requested && !loader_is_pending(&s->kernel.load))
		buf_adds(&s->note, s->kernel.note);
	if (s->perfmap_note)
		buf_printf(&s->note, "%s%s", s->note.len ? "; " : "", s->perfmap_note);
	for (int i = 0; i < s->module_count; i++)
		if (s->modules[i]->counted && s->modules[i]->note[0])
			buf_printf(&s->note, "%s%s", s->note.len ? "; " : "", s->modules[i]->note);
	return buf_str(&s->note);
}
