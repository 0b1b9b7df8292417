/* SPDX-License-Identifier: Apache-2.0 */
/* Which sources of names a file has, in the order of what they are worth. */
#include "symbols/module.h"

#include "symbols/elf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VDSO "[vdso]"

static void module_load(struct load *l, const atomic_bool *stop);

struct module *module_new(const struct proc_map *where, pid_t pid)
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

void module_free(struct module *m)
{
	if (!m)
		return;
	symtab_done(&m->table);
	free((char *)m->where.path);
	free(m);
}

bool module_ask(struct module *m, struct loader *loader)
{
	if (!loader_is_waiting(&m->load))
		m->asked = m->where;
	return loader_ask(loader, &m->load);
}

size_t module_bytes(const struct module *m)
{
	return m->table.texts.cap + m->table.cap * sizeof(*m->table.entries) +
	       m->table.count * sizeof(*m->table.names);
}

static void module_read_elf(struct module *m, Elf *elf, pid_t pid)
{
	m->segment_count = elf_symbols_segments(elf, m->segments, MODULE_SEGMENTS);
	if (!elf_symbols_table(elf, SHT_SYMTAB, &m->table)) {
		elf_debug_read(elf, pid, m->where.path, &m->table);
		elf_symbols_table(elf, SHT_DYNSYM, &m->table);
	}
	elf_symbols_plt(elf, &m->table);
	elf_symbols_marks(elf, &m->table);
	symtab_finish(&m->table);
	if (m->table.full)
		snprintf(m->note, sizeof(m->note), "%s has more names than are read", m->name);
}

static void module_read_file(struct module *m, pid_t pid)
{
	int fd = proc_open_mapped(pid, &m->asked);
	Elf *elf;

	if (fd == -ESTALE) {
		snprintf(m->note, sizeof(m->note), "%s was replaced since the JVM mapped it",
			m->name);
		return;
	}
	if (fd < 0) {
		snprintf(m->note, sizeof(m->note), "%s cannot be read: %s", m->name, strerror(-fd));
		return;
	}
	elf = elf_file_begin(fd);
	if (elf)
		module_read_elf(m, elf, pid);
	else
		snprintf(m->note, sizeof(m->note), "%s is no 64-bit ELF file that can be read",
			m->name);
	elf_end(elf);
	close(fd);
}

static void module_load(struct load *l, const atomic_bool *stop)
{
	struct module *m = (struct module *)l;

	elf_version(EV_CURRENT);
	symtab_limit(&m->table, stop);
	if (!strcmp(m->where.path, VDSO)) {
		Elf *elf = elf_file_begin_vdso();

		module_read_elf(m, elf, 0);
		elf_end(elf);
	} else if (m->where.path[0] == '/' || m->pid <= 0)
		module_read_file(m, m->pid);
}

static const struct elf_segment *module_segment(const struct module *m, uint64_t offset)
{
	for (uint32_t i = 0; i < m->segment_count; i++)
		if (offset - m->segments[i].offset < m->segments[i].bytes)
			return &m->segments[i];
	return NULL;
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

bool module_function(struct module *m, const char *name, uint64_t *offset)
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
		segment = elf_symbols_segment(m->segments, m->segment_count, e->start);
		if (segment)
			*offset = e->start - segment->address + segment->offset;
		return segment;
	}
	return false;
}

void module_name(struct module *m, uint64_t offset, struct symbol *out)
{
	const struct elf_segment *segment;
	const struct symtab_entry *e;
	uint64_t to_address;

	*out = (struct symbol){.name = "", .module = m->name, .is_jvm = m->is_jvm, .start = offset};
	segment = module_segment(m, offset);
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
