/* SPDX-License-Identifier: Apache-2.0 */
/* One array of mappings in the kernel's order; those of files with code are modules. */
#include "dump/modules.h"

#include "attach/proc.h"
#include "base/buf.h"
#include "symbols/dynsym.h"
#include "symbols/mapped.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VDSO "[vdso]"

struct mapping {
	struct proc_map file; /* its path is owned */
	int id;               /* id in symbols; -1: not a module */
};

struct modules {
	pid_t pid;
	struct mapping *maps;
	size_t count;
	uint32_t cap;
	struct symbols *symbols;
	struct elf_child *child;
	struct dynsym *libjvm;
	uint64_t libjvm_start, libjvm_end;
	struct unwind_table *rows;
};

/* --- maps -------------------------------------------------------------------------------------------- */

static bool add_mapping(void *ctx, const struct proc_map *map)
{
	struct modules *m = ctx;

	m->maps = xgrow(m->maps, m->count, &m->cap, sizeof(*m->maps));
	struct mapping *to = &m->maps[m->count++];
	*to = (struct mapping){.file = *map, .id = -1};
	to->file.path = xstrdup(map->path);
	return true;
}

static struct mapping *mapping_at(struct modules *m, uint64_t address)
{
	size_t low = 0, high = m->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m->maps[mid].file.end <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low < m->count && m->maps[low].file.start <= address ? &m->maps[low] : NULL;
}

uint64_t modules_mapping_end(void *ctx, uint64_t address)
{
	const struct mapping *map = mapping_at(ctx, address);

	return map ? map->file.end : 0;
}

static int open_libjvm(struct modules *m, struct err *err)
{
	for (size_t i = 0; i < m->count; i++) {
		struct mapping *map = &m->maps[i];

		if (strcmp(path_name(map->file.path), "libjvm.so") != 0)
			continue;
		if (!m->libjvm_start) {
			m->libjvm_start = map->file.start;
			m->libjvm = dynsym_open(m->child, m->pid, &map->file, NULL, err);
		}
		m->libjvm_end = map->file.end;
	}
	if (!m->libjvm_start)
		return err_set(err, ERR_ATTACH, "Process %d has no libjvm.so mapped.", (int)m->pid);
	return m->libjvm ? 0 : -1;
}

struct modules *modules_open(pid_t pid, pid_t nspid, struct err *err)
{
	struct modules *m = xcalloc(1, sizeof(*m));

	m->pid = pid;
	m->symbols = symbols_new(pid, nspid);
	m->child = elf_child_new();
	int rc = proc_maps(pid, add_mapping, m);
	if (rc) {
		errno = -rc;
		err_set_errno(
			err, ERR_ATTACH, "The memory map of process %d cannot be read", (int)pid);
		err_hint(err, "sudo jhot dump %d", (int)pid);
	}
	if (!rc && !open_libjvm(m, err))
		return m;
	modules_close(m);
	return NULL;
}

void modules_close(struct modules *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->count; i++)
		free((char *)m->maps[i].file.path);
	for (uint32_t i = 0; m->rows && i < m->rows->count; i++)
		free((void *)m->rows->modules[i].rows);
	free(m->rows);
	free(m->maps);
	dynsym_close(m->libjvm);
	elf_child_free(m->child);
	symbols_free(m->symbols);
	free(m);
}

/* --- symbols ----------------------------------------------------------------------------------------- */

static uint64_t tables_symbol(void *ctx, const char *name)
{
	const struct modules *m = ctx;

	return dynsym_find(m->libjvm, name, NULL);
}

struct walk_tables modules_tables(struct modules *m)
{
	return (struct walk_tables){.symbol = tables_symbol,
		.ctx = m,
		.libjvm_start = m->libjvm_start,
		.libjvm_end = m->libjvm_end};
}

static bool has_file(const struct mapping *map)
{
	return map->file.path[0] == '/' || !strcmp(map->file.path, VDSO);
}

static bool has_code(const struct mapping *map)
{
	return map->file.perms[2] == 'x' && has_file(map);
}

void modules_symbol(struct modules *m, uint64_t pc, struct symbol *out)
{
	struct mapping *map = mapping_at(m, pc);

	if (!map || !has_file(map)) {
		symbols_raw(m->symbols, pc, out);
		return;
	}
	if (map->id < 0)
		map->id = symbols_module_add(m->symbols, &map->file);
	symbols_native(m->symbols, map->id, pc - map->file.start + map->file.offset, out);
}

/* --- unwind rows ------------------------------------------------------------------------------------- */

const struct unwind_table *modules_rows(struct modules *m)
{
	size_t wanted = 0;

	if (m->rows)
		return m->rows;
	for (size_t i = 0; i < m->count; i++)
		wanted += has_code(&m->maps[i]);
	m->rows = xcalloc(1, sizeof(*m->rows) + wanted * sizeof(m->rows->modules[0]));
	for (size_t i = 0; i < m->count; i++) {
		const struct proc_map *file = &m->maps[i].file;

		if (!has_code(&m->maps[i]))
			continue;
		struct buf block = {0};
		bool keeps_fp;
		if (unwind_pack_mapped(m->child, m->pid, file, NULL, &block, &keeps_fp, NULL) !=
				MAPPED_OPEN ||
			!unwind_rows_check(block.data, block.len)) {
			buf_done(&block); /* frame pointers will do */
			continue;
		}
		m->rows->modules[m->rows->count++] = (struct unwind_module){file->start, file->end,
			file->offset, (struct unwind_rows *)(void *)buf_steal(&block)};
	}
	return m->rows;
}
