/* SPDX-License-Identifier: Apache-2.0 */
/* Linear search: a few lookups per file. */
#include "symbols/dynsym.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

struct dynsym {
	struct buf exports, texts; /* struct elf_export[] */
	uint64_t bias;             /* address in the target minus virtual address of the file */
};

struct dynsym *dynsym_open(struct elf_child *child, pid_t pid, const struct proc_map *m,
	const atomic_bool *stop, struct err *err)
{
	struct dynsym *d = xcalloc(1, sizeof(*d));
	struct mapped_file file;
	enum mapped opened = mapped_open(child, pid, m, stop, &file, err);
	bool read = false;

	if (opened == MAPPED_OPEN) {
		const struct elf_segment *first =
			elf_segment_of_offset(file.facts.segments, file.facts.segment_count, 0);

		if (first)
			d->bias = m->start - first->address;
		read = first &&
		       !elf_child_exports(child, file.fd, stop, &d->exports, &d->texts, err);
		mapped_close(&file);
	}
	if (read && d->exports.len)
		return d;
	if (opened != MAPPED_FAILED && (read || !err || err->kind == ERR_NONE))
		err_set(err, ERR_FAILED, "%s is not a 64-bit library with dynamic symbols.",
			m->path);
	dynsym_close(d);
	return NULL;
}

void dynsym_close(struct dynsym *d)
{
	if (!d)
		return;
	buf_done(&d->exports);
	buf_done(&d->texts);
	free(d);
}

static void dynsym_run(struct load *l, struct elf_child *child, const atomic_bool *stop)
{
	struct dynsym_load *d = (struct dynsym_load *)l;

	d->result = dynsym_open(child, d->pid, &d->map, stop, NULL);
}

struct dynsym_load *dynsym_load_new(pid_t pid, const struct proc_map *m)
{
	struct dynsym_load *l = xcalloc(1, sizeof(*l));

	l->load.run = dynsym_run;
	l->pid = pid;
	l->map = *m;
	l->map.path = xstrdup(m->path);
	return l;
}

void dynsym_load_free(struct dynsym_load *l)
{
	if (!l)
		return;
	free((char *)l->map.path);
	free(l);
}

/* Finds a defined or imported symbol: its default version, else the first one. */
static bool find(const struct dynsym *d, const char *name, bool imported, struct elf_export *out)
{
	bool found = false;

	for (size_t at = 0; at < d->exports.len; at += sizeof(*out)) {
		struct elf_export e;

		memcpy(&e, d->exports.data + at, sizeof(e));
		if (!(e.flags & ELF_IMPORTED) == imported || (found && e.flags & ELF_OLD) ||
			strcmp(d->texts.data + e.text, name) != 0)
			continue;
		*out = e;
		found = true;
		if (!(e.flags & ELF_OLD))
			break;
	}
	return found;
}

uint64_t dynsym_find(const struct dynsym *d, const char *name, bool *indirect)
{
	struct elf_export e;
	bool found = find(d, name, false, &e);

	if (indirect)
		*indirect = found && e.flags & ELF_INDIRECT;
	return found ? d->bias + e.value : 0;
}

uint64_t dynsym_import(const struct dynsym *d, const char *name)
{
	struct elf_export e;

	return find(d, name, true, &e) && e.value ? d->bias + e.value : 0;
}
