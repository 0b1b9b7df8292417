/* SPDX-License-Identifier: Apache-2.0 */
/* From a method and a bytecode index to a line, by the table that follows the method's bytecodes. */
#ifndef JHOT_DUMP_LINES_H
#define JHOT_DUMP_LINES_H

#include "walk/walk.h"

/* lines_find: 0 when there is no table (compiled with -g:none, native), or it makes no sense. */
int lines_find(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t method,
	uint16_t bci);

#endif
