/* SPDX-License-Identifier: Apache-2.0 */
/* perf events in -e: parsed with the command line; functions are resolved once the JVM is known. */
#include "cli/line/events.h"

#include "attach/perf/events.h"
#include "attach/proc.h"
#include "cli/line/nearest.h"
#include "symbols/dynsym.h"
#include "symbols/symbols.h"

#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

int events_unknown(const char *name, struct err *err)
{
	struct perf_event perf;
	struct nearest near;

	nearest_init(&near, name);
	for (int i = 0; i < EVENT_USER_FIRST; i++)
		nearest_offer(&near, profile_events[i].name);
	for (int i = 0; perf_events_each(i, &perf); i++)
		nearest_offer(&near, perf.name);
	if (near.best)
		err_hint(err, "-e %s", near.best);
	err_hint(err, "jhot events     lists cpu, alloc, lock, wall and perf's events");
	return -1;
}

int events_names(const char *names[EVENTS_NAMES], bool user_only)
{
	struct perf_event event;
	char why[256];
	int count = 0;

	for (int i = 0; perf_events_each(i, &event) && count < EVENTS_NAMES; i++)
		if (!perf_events_probe(&event, user_only, why, sizeof(why)))
			names[count++] = event.name;
	return count;
}

/* True for pkg.Class.method and pkg/Class.method. The form with dots may also be a C function. */
static bool perf_is_java(const char *name)
{
	const char *dot = strrchr(name, '.'), *slash = strrchr(name, '/');

	return dot && dot[1] && !strpbrk(name, ":=,") && (!slash || slash < dot);
}

static int perf_java(const char *name, struct err *err)
{
	const char *method = strrchr(name, '.') + 1;

	err_set(err, ERR_USAGE,
		"\"%s\" looks like a Java method, whose calls cannot be traced: only native "
		"functions can be events.",
		name);
	err_hint(err, "-e cpu or -e wall, then search for %s to see where it spends time", method);
	return -1;
}

static void perf_apply(struct session_event *how, const struct perf_event *perf)
{
	how->perf.type = perf->type;
	how->perf.bp_type = perf->bp_type;
	how->perf.config = perf->config;
	how->perf.config1 = perf->config1;
	how->perf.config2 = perf->config2;
	how->unit = perf->unit;
	how->is_default = !how->interval;
	how->interval = how->interval ? how->interval : perf->interval;
}

/* Accepts any function; functions_find looks it up later. */
static int function_later(
	void *ctx, const char *library, const char *function, uint64_t *address, struct err *err)
{
	*address = 0;
	return 0;
}

int events_add_perf(struct events *e, const char *name, struct err *err)
{
	struct perf_event perf;
	int id = EVENT_USER_FIRST, i = e->count;

	if (strchr(name, '/') && perf_is_java(name))
		return perf_java(name, err);
	if (perf_events_find(name, function_later, NULL, &perf, err))
		return events_unknown(name, err);
	for (int k = 0; k < e->count; k++)
		id += e->ids[k] >= EVENT_USER_FIRST;
	if (id >= PROFILE_EVENTS)
		return err_set(err, ERR_USAGE,
			"At most %d perf events can be sampled at the same time.",
			PROFILE_EVENTS - EVENT_USER_FIRST);
	snprintf(e->names[i], sizeof(e->names[i]), "%s", name);
	e->ids[i] = id;
	e->how[i] = (struct session_event){.event = id, .name = e->names[i]};
	perf_apply(&e->how[i], &perf);
	e->how[i].interval = 0; /* -i may set another */
	e->count++;
	return 0;
}

/* --- functions --------------------------------------------------------------------------------------- */

/*
 * Goes through the target's mapped files twice: first by exported names, which are quick, then by
 * symbol tables. An indirect function (IFUNC) takes a third pass, for the implementation that was
 * chosen for this CPU. Files are read by loader threads; this thread polls them, so that the user
 * can cancel.
 */
struct search {
	pid_t pid;
	const struct patience *patience;
	const char *library, *function;
	struct loader *loader;
	struct dynsym_load *abandoned; /* the load that was running when the search was given up */
	struct symbols *symbols;       /* NULL: search exported names only */
	uint64_t address;
	bool library_seen; /* a file of this name is mapped */
	bool given_up;
	bool indirect;        /* address is that of a resolver, or of the implementation it chose */
	struct proc_map code; /* the mapping that contains it; path is not valid */
};

/* The dynamic symbols of a file, NULL if it has none, or the search was given up. The caller closes them. */
static struct dynsym *search_open(struct search *s, const struct proc_map *map)
{
	struct dynsym_load *l = dynsym_load_new(s->pid, map);

	while (!loader_request(s->loader, &l->load)) {
		s->given_up = !patience_left(s->patience);
		if (s->given_up) {
			s->abandoned = l;
			return NULL;
		}
		loader_wait(s->loader, PATIENCE_STEP_MS);
	}
	struct dynsym *d = l->result;
	dynsym_load_free(l);
	return d;
}

static void search_table(struct search *s, const struct proc_map *map)
{
	if (map->perms[2] != 'x')
		return;
	int module = symbols_module_add(s->symbols, map);
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

	if (map->path[0] != '/' ||
		(s->library && strncmp(path_name(map->path), s->library, strlen(s->library))))
		return true;
	s->library_seen = true;
	s->given_up = !patience_left(s->patience);
	if (s->given_up)
		return false;
	if (s->symbols) {
		search_table(s, map);
	} else if (map->offset == 0) {
		struct dynsym *d = search_open(s, map);
		s->address = d ? dynsym_find(d, s->function, &s->indirect) : 0;
		dynsym_close(d);
	}
	return s->address == 0 && !s->given_up;
}

/* Stores the mapping that contains the resolver in s->code. The implementations it chooses from are in it, too. */
static bool search_code(void *ctx, const struct proc_map *map)
{
	struct search *s = ctx;

	if (s->address - map->start >= map->end - map->start)
		return true;
	s->code = *map;
	return false;
}

/*
 * Reads the GOT slot of a file that imports the function. Accepts an address in s->code only: a
 * slot that has not been bound yet points into the importing file.
 */
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
		"\"%s\" is an indirect function, and it is unknown which implementation process "
		"%d uses.",
		s->function, (int)s->pid);
	err_hint(err, "give the implementation, such as __strlen_avx2");
	return -1;
}

struct functions_in {
	pid_t pid;
	struct patience patience; /* polled while another thread reads files */
};

/*
 * The address of a native function in a JVM; ctx: a struct functions_in. Exported symbols come
 * first, in the order of the mappings, then symbol tables and separate debug files.
 */
static int functions_find(
	void *ctx, const char *library, const char *function, uint64_t *address, struct err *err)
{
	const struct functions_in *in = ctx;
	struct search s = {.pid = in->pid,
		.patience = &in->patience,
		.library = library,
		.function = function,
		.loader = loader_new()};

	loader_start(s.loader, 0);
	proc_maps(s.pid, search_map, &s);
	if (!s.address && !s.given_up) {
		s.symbols = symbols_new(s.pid, s.pid);
		symbols_start_thread(s.symbols);
		proc_maps(s.pid, search_map, &s);
		symbols_free(s.symbols);
	}
	bool indirect = s.indirect && search_indirect(&s, err);
	/* If the loader's thread is stuck in a read, it still uses the abandoned load, which is therefore leaked. */
	if (loader_free(s.loader) && s.abandoned) {
		dynsym_close(s.abandoned->result);
		dynsym_load_free(s.abandoned);
	}
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

int events_resolve(struct events *e, pid_t pid, const struct patience *patience, struct err *err)
{
	struct functions_in in = {pid, patience ? *patience : (struct patience){0}};

	for (int i = 0; i < e->count; i++) {
		struct perf_event perf;

		if (e->ids[i] < EVENT_USER_FIRST)
			continue;
		if (perf_events_find(e->names[i], functions_find, &in, &perf, err)) {
			if (!patience_left(&in.patience))
				return err_set(err, ERR_FAILED,
					"The search for \"%s\" was cancelled.", e->names[i]);
			return perf_is_java(e->names[i]) ? perf_java(e->names[i], err)
							 : events_unknown(e->names[i], err);
		}
		perf_apply(&e->how[i], &perf);
	}
	return 0;
}
