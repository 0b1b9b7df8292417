/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executable file mappings of the process, from /proc/self/maps, to convert a pc to a file and an offset.
 *
 * The list is refreshed when a pc is in no known mapping, and periodically; between refreshes it may be stale. An id
 * identifies one mapping of one file at one address and is assigned on first use. Lookups by pc are O(log n), by id
 * O(n). Publisher only. Addresses are half-open: [start, end).
 */
#ifndef JHOT_SAMPLER_PUBLISH_MODULES_H
#define JHOT_SAMPLER_PUBLISH_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module {
	uint64_t start, end, file_offset, inode;
	uint32_t dev_major, dev_minor;
	uint32_t id;      /* 0: never used */
	const char *path; /* owned by the list, not NUL-terminated */
	uint32_t path_bytes;
	bool published;
};

#define MODULES_MAX  2048u
#define MODULES_TEXT (160u << 10)

struct module_list {
	uint32_t count, text_used;
	struct module rows[MODULES_MAX];
	char text[MODULES_TEXT];
};

/* Starts in zeroed memory. */
struct modules {
	uint32_t now; /* index of the current list; the next refresh fills the other one */
	uint32_t last_id;
	uint32_t maps; /* mappings at the last refresh, with or without a file */
	struct module_list lists[2];
	char buffer[16384];
};

/* Parses a line of maps. `access` receives its permissions, for example "r-xp"; the path points into `line`. */
void modules_line(const char *line, size_t bytes, char access[4], struct module *out);

/*
 * Reads the maps again. Returns true when a mapping that has an id no longer exists: everything published about its
 * addresses is then stale. *full: true when there were more mappings than fit.
 */
bool modules_refresh(struct modules *modules, bool *full);

/* The mapping of a pc, with an id. NULL when it is in none, or when the ids are exhausted (65,535). */
struct module *modules_find(struct modules *modules, uint64_t pc);

/* The mapping of an id; NULL when it no longer exists. */
const struct module *modules_by_id(const struct modules *modules, uint32_t id);

/* Iterates over all mappings and assigns an id to each; *cursor starts at 0. NULL at the end. */
struct module *modules_next(struct modules *modules, uint32_t *cursor);

/* The mapping that contains addr, used for libjvm. False if there is none. */
bool modules_range(const struct modules *modules, uint64_t addr, uint64_t *start, uint64_t *end);

#endif
