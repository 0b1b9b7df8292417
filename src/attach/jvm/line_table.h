/* SPDX-License-Identifier: Apache-2.0 */
/* From a bytecode index to a line, by a method's line table as HotSpot keeps it. Pure; hostile input. */
#ifndef JHOT_ATTACH_JVM_LINE_TABLE_H
#define JHOT_ATTACH_JVM_LINE_TABLE_H

#include <stdint.h>

/*
 * The line of the last entry at or before bci; 0 if there is none or the table makes no sense. excluded: byte
 * values that numbers leave out, 0, since JDK 20 1.
 */
int line_table_find(const uint8_t *table, uint32_t bytes, uint32_t excluded, uint16_t bci);

#endif
