/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the functions by their mangled C++ names, which encode the types of their arguments. */
#include "session/alloc_trap.h"

#include "attach/proc.h"

#include <stdlib.h>
#include <string.h>

#define TRAP_BEFORE 11 /* since JDK 11, JVMTI reports allocations */

#define IN_BUFFER   "_ZN11AllocTracer33send_allocation_in_new_tlab_eventE11KlassHandle"
#define OUTSIDE     "_ZN11AllocTracer34send_allocation_outside_tlab_eventE11KlassHandle"

/* Arguments: (klass, object, buffer size, size) since 8u262, which added JFR; before, without the object. */
static const struct {
	const char *in_buffer, *outside;
	uint32_t bytes_argument;
} trap_names[] = {
	{IN_BUFFER "P8HeapWordmmP6Thread", OUTSIDE "P8HeapWordmP6Thread", 2},
	{IN_BUFFER "P8HeapWordmm", OUTSIDE "P8HeapWordm", 2},
	{IN_BUFFER "mm", OUTSIDE "m", 1},
};

struct trap_search {
	const struct hotspot *jvm;
	struct symbols *symbols;
	struct alloc_trap *out;
};

bool alloc_trap_needed(const struct hotspot *jvm)
{
	int major = atoi(jvm->jdk);

	return major > 0 && major < TRAP_BEFORE; /* 1.8.0_402 */
}

static bool trap_map(void *ctx, const struct proc_map *map)
{
	struct trap_search *s = ctx;

	if (map->perms[2] != 'x' || strcmp(map->path, s->jvm->libjvm))
		return true;
	int module = symbols_module_add(s->symbols, map);
	for (size_t i = 0; i < sizeof(trap_names) / sizeof(trap_names[0]); i++) {
		struct alloc_trap found = {.bytes_argument = trap_names[i].bytes_argument};

		found.in_buffer =
			symbols_function(s->symbols, module, map, trap_names[i].in_buffer);
		found.outside = symbols_function(s->symbols, module, map, trap_names[i].outside);
		if (found.in_buffer && found.outside) {
			*s->out = found;
			return false;
		}
	}
	return true;
}

int alloc_trap_find(
	const struct hotspot *jvm, struct symbols *symbols, struct alloc_trap *out, struct err *err)
{
	struct trap_search search = {.jvm = jvm, .symbols = symbols, .out = out};

	*out = (struct alloc_trap){0};
	proc_maps(jvm->pid, trap_map, &search);
	if (out->in_buffer)
		return 0;
	err_set(err, ERR_FAILED,
		"On JDK 8, allocations are visible only at internal functions of libjvm.so, whose "
		"symbols are not installed.");
	err_hint(err, "Debian, Ubuntu: apt install openjdk-8-dbg");
	err_hint(err, "Fedora, RHEL:   dnf debuginfo-install java-1.8.0-openjdk-headless");
	err_detail(err, "%s has no symbol " IN_BUFFER "...", jvm->libjvm);
	return -1;
}
