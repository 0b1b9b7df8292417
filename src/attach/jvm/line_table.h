/* SPDX-License-Identifier: Apache-2.0 */
/* Maps a bytecode index to a source line, by HotSpot's compressed line table. Pure; hostile input; linear in the table. */
#ifndef JHOT_ATTACH_JVM_LINE_TABLE_H
#define JHOT_ATTACH_JVM_LINE_TABLE_H

#include <stdint.h>

/*
 * The line of the last entry at or before bci; 0 if there is none or the table is malformed. excluded: number of byte values
 * that the encoding of numbers never uses, 1 since JDK 20, before that 0.
 */
int line_table_find(const uint8_t *table, uint32_t bytes, uint32_t excluded, uint16_t bci);

#endif
