/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goes through the target's mapped files twice: first by exported names, which are quick, then by symbol tables. An indirect
 * function (IFUNC) takes a third pass, for the implementation that was chosen for this CPU. Files are read by loader threads;
 * this thread polls them, so that the user can go on, or give up.
 */
#include "cli/line/events.h"

#include "attach/proc.h"
#include "symbols/dynsym.h"
#include "symbols/symbols.h"

#include <string.h>
#include <sys/uio.h>

struct search {
	pid_t pid;
	const struct patience *patience;
	const char *library, *function;
	struct loader *loader;
	struct dynsym_load *abandoned; /* the load that was running when the search was given up */
	struct symbols *symbols;       /* NULL: exported names only */
	uint64_t address;
	bool library_seen, given_up;
	bool indirect;        /* address is that of a resolver, or of the implementation it chose */
	struct proc_map code; /* the mapping that contains it; path is not valid */
};

static bool search_wants(struct search *s, const struct proc_map *map)
{
	bool wanted =
		map->path[0] == '/' &&
		(!s->library || !strncmp(path_name(map->path), s->library, strlen(s->library)));

	s->library_seen |= s->library && wanted;
	return wanted;
}

/* The dynamic symbols of a file, NULL if it has none, or the search was given up. The caller closes them. */
static struct dynsym *search_open(struct search *s, const struct proc_map *map)
{
	struct dynsym_load *l = dynsym_load_new(s->pid, map);
	struct dynsym *d;

	while (!loader_request(s->loader, &l->load)) {
		s->given_up = !patience_left(s->patience);
		if (s->given_up) {
			s->abandoned = l;
			return NULL;
		}
		loader_wait(s->loader, PATIENCE_STEP_MS);
	}
	d = l->result;
	dynsym_load_free(l);
	return d;
}

static void search_exported(struct search *s, const struct proc_map *map)
{
	struct dynsym *d = map->offset == 0 ? search_open(s, map) : NULL;

	if (d)
		s->address = dynsym_find(d, s->function, &s->indirect);
	dynsym_close(d);
}

static void search_table(struct search *s, const struct proc_map *map)
{
	int module;

	if (map->perms[2] != 'x')
		return;
	module = symbols_module_add(s->symbols, map);
	while (!symbols_ready_function(s->symbols, module, s->function)) {
		s->given_up = !patience_left(s->patience);
		if (s->given_up)
			return;
		symbols_wait(s->symbols, PATIENCE_STEP_MS);
	}
	s->address = symbols_function(s->symbols, module, map, s->function);
}

static bool search_map(void *ctx, const struct proc_map *map)
{
	struct search *s = ctx;

	if (!search_wants(s, map))
		return true;
	s->given_up = !patience_left(s->patience);
	if (!s->given_up)
		(s->symbols ? search_table : search_exported)(s, map);
	return s->address == 0 && !s->given_up;
}

/* The mapping of the resolver, which contains its candidates as well. */
static bool search_code(void *ctx, const struct proc_map *map)
{
	struct search *s = ctx;

	if (s->address - map->start >= map->end - map->start)
		return true;
	s->code = *map;
	return false;
}

/* Reads the GOT slot of a file that imports the function. A lazy slot still points into that file. */
static bool search_chosen(void *ctx, const struct proc_map *map)
{
	struct search *s = ctx;
	struct dynsym *d = map->offset == 0 && map->path[0] == '/' ? search_open(s, map) : NULL;
	uint64_t slot = d ? dynsym_import(d, s->function) : 0, chosen = 0;
	struct iovec local = {&chosen, sizeof(chosen)}, remote = {(void *)slot, sizeof(chosen)};
	pid_t living = proc_living(s->pid);

	dynsym_close(d);
	if (!slot ||
		process_vm_readv(living ? living : s->pid, &local, 1, &remote, 1, 0) !=
			sizeof(chosen) ||
		chosen - s->code.start >= s->code.end - s->code.start)
		return !s->given_up;
	s->address = chosen;
	return false;
}

static int search_indirect(struct search *s, struct err *err)
{
	uint64_t resolver = s->address;

	proc_maps(s->pid, search_code, s);
	proc_maps(s->pid, search_chosen, s);
	if (s->address != resolver || s->given_up)
		return 0;
	err_set(err, ERR_USAGE,
		"\"%s\" is an indirect function, and process %d does not show which "
		"implementation it uses.",
		s->function, (int)s->pid);
	err_hint(err, "give the implementation, such as __strlen_avx2");
	return -1;
}

/* Files that do not answer keep the loader's thread, and what it uses: these few bytes are then left to it. */
static void search_end(struct search *s)
{
	if (!loader_free(s->loader) || !s->abandoned)
		return;
	dynsym_close(s->abandoned->result);
	dynsym_load_free(s->abandoned);
}

int functions_find(
	void *ctx, const char *library, const char *function, uint64_t *address, struct err *err)
{
	const struct functions_in *in = ctx;
	struct search s = {.pid = in->pid,
		.patience = &in->patience,
		.library = library,
		.function = function,
		.loader = loader_new()};
	bool indirect;

	loader_start(s.loader, 0);
	proc_maps(s.pid, search_map, &s);
	if (!s.address && !s.given_up) {
		s.symbols = symbols_new(s.pid, s.pid);
		symbols_start_thread(s.symbols);
		proc_maps(s.pid, search_map, &s);
		symbols_free(s.symbols);
	}
	indirect = s.indirect && search_indirect(&s, err);
	search_end(&s);
	if (indirect)
		return -1;
	*address = s.given_up ? 0 : s.address;
	if (s.given_up)
		return err_set(err, ERR_FAILED,
			"The search for \"%s\" in process %d was cancelled.", function, (int)s.pid);
	if (s.address)
		return 0;
	if (library && !s.library_seen)
		return err_set(err, ERR_USAGE, "Process %d has not mapped a library \"%s\".",
			(int)s.pid, library);
	return err_set(err, ERR_USAGE,
		"There is no event \"%s\", and process %d has no native function of that name.",
		function, (int)s.pid);
}
