/* SPDX-License-Identifier: Apache-2.0 */
/* A function described only by .debug_frame; in its middle, the CFA is sp + DEBUG_FRAME_CFA. */
#ifndef JHOT_TESTS_SYMBOLS_DEBUG_FRAME_H
#define JHOT_TESTS_SYMBOLS_DEBUG_FRAME_H

void debug_frame_function(void);
extern const char debug_frame_middle[];

#if defined(__x86_64__)
#define DEBUG_FRAME_CFA 0x130
#else
#define DEBUG_FRAME_CFA 0x120
#endif

#endif
