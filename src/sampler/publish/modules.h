/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executable file mappings of the process, from /proc/self/maps, so that a pc becomes file +
 * offset.
 *
 * Read again when a pc is in no known mapping and from time to time; an id belongs to one mapping
 * of one file at one place and is given when it is first asked for. Publisher only. Addresses in
 * [start, end).
 */
#ifndef JHOT_SAMPLER_PUBLISH_MODULES_H
#define JHOT_SAMPLER_PUBLISH_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module {
	uint64_t start, end, file_offset, inode;
	uint32_t dev_major, dev_minor;
	uint32_t id;      /* 0: nobody asked for it yet */
	const char *path; /* in the list's own memory, not NUL-terminated */
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

/* In zeroed memory. */
struct modules {
	uint32_t now; /* which list is current; the other one is filled at the next refresh */
	uint32_t last_id;
	uint32_t maps; /* mappings of the process at the last refresh, of files or not */
	struct module_list lists[2];
	char buffer[16384];
};

/* Parses a line of maps. `access` are the four characters of its rights, as "r-xp"; the path is in `line`. */
void modules_line(const char *line, size_t bytes, char access[4], struct module *out);

/*
 * Read the maps again. Returns whether a mapping that has an id is gone: what was said about its
 * addresses does not hold any more. *full: there were more mappings than fit.
 */
bool modules_refresh(struct modules *modules, bool *full);

/* The mapping of a pc, with an id; NULL when it is in none or ids have run out (65,535). */
struct module *modules_find(struct modules *modules, uint64_t pc);

/* The mapping of an id, NULL when it is gone. */
const struct module *modules_by_id(const struct modules *modules, uint32_t id);

/* modules_next: every mapping in turn, each with an id; *cursor begins at 0. NULL at the end. */
struct module *modules_next(struct modules *modules, uint32_t *cursor);

/*
 * The range of mappings around addr that belong to the same file: libjvm's. False if there is none.
 */
bool modules_range(const struct modules *modules, uint64_t addr, uint64_t *start, uint64_t *end);

#endif
