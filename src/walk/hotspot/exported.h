/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HotSpot's exported tables (gHotSpotVMStructs and friends): offsets and addresses of fields, sizes of types,
 * constants, each found by its name. Which of them are wanted is a table of the caller's. Not for handlers.
 */
#ifndef JHOT_WALK_HOTSPOT_EXPORTED_H
#define JHOT_WALK_HOTSPOT_EXPORTED_H

#include "walk/hotspot/layout.h"

#define EXPORTED_NAME 64 /* bound of a name */

/* FIELD goes into a struct walk_field, STATIC (its address) into a uint64_t, the rest into a uint32_t. */
enum exported_kind {
	EXPORTED_FIELD,
	EXPORTED_STATIC,
	EXPORTED_SIZE,
	EXPORTED_INT,
	EXPORTED_LONG,
	EXPORTED_KIND = 7,
	EXPORTED_OR =
		8, /* beside a kind: an alternative to the row before, one of the two is enough */
	EXPORTED_PART =
		16, /* beside a kind: what is missing is only the end of a part of the whole */
};

/* One thing to read. It is required of JDKs since..until; where it is not, what is found is kept. */
struct exported_row {
	uint8_t kind, since, until;
	const char *type, *field; /* field NULL: a size or a constant, named by type */
	uint16_t dest;            /* offset of what is filled, from one base for all rows */
	uint8_t bytes;            /* a field's; 0: as its type string says */
};

struct exported_table {
	const struct exported_row *rows;
	size_t count;
};

/*
 * exported_read: fill what the rows name, in base; found has an element per row. Fields that the JVM does not
 * export get offset -1. false: it exports no tables.
 */
bool exported_read(const struct exported_table *table, const struct walk_mem *mem,
	const struct walk_tables *tables, void *base, bool *found);

/*
 * The first row that this JDK should have and of which neither it nor an alternative was found; or NULL. part: of those
 * rows that are EXPORTED_PART, else of the others.
 */
const struct exported_row *exported_missing(
	const struct exported_table *table, const bool *found, int32_t jdk, bool part);

#endif
