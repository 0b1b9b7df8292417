/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the line table of a Method* in the target's memory. */
#include "dump/stack.h"

#include "attach/jvm/line_table.h"
#include "walk/hotspot/layout.h"
#include "walk/hotspot/method.h"
#include "walk/load/mem.h"

#define TABLE_BYTES 65536u /* of a method of 64 kB; longer ones are cut */
#define STEP_BYTES  512u
#define HAS_LINES   1u /* ConstMethod's flag, the same in all JDKs */

int lines_find(
	const struct walk_layout *layout, const struct walk_mem *mem, uint64_t method, uint16_t bci)
{
	uint8_t table[TABLE_BYTES];
	uint32_t bytes = 0, limit;
	struct method m;
	uint64_t at;

	if (layout->const_flags.offset < 0 || bci == WALK_BCI_UNKNOWN ||
		!method_load(layout, mem, method, &m) || bci >= m.code_bytes ||
		!(layout_load(&layout->const_flags, mem, m.const_method) & HAS_LINES))
		return 0;
	at = m.const_method + layout->const_method_bytes + m.code_bytes;
	limit = (uint32_t)layout_load(&layout->const_size, mem, m.const_method) * 8;
	if (limit < layout->const_method_bytes + m.code_bytes)
		return 0;
	limit -= layout->const_method_bytes + m.code_bytes;
	limit = limit < TABLE_BYTES ? limit : TABLE_BYTES;
	while (bytes < limit) {
		uint32_t step = limit - bytes < STEP_BYTES ? limit - bytes : STEP_BYTES;

		if (!mem_load(mem, at + bytes, table + bytes, step))
			break;
		bytes += step;
	}
	return line_table_find(table, bytes, (uint32_t)layout->unsigned5_excluded, bci);
}
