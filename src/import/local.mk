# SPDX-License-Identifier: Apache-2.0
# Reading profiles from files.

noinst_LIBRARIES += libimport.a
libimport_a_SOURCES = \
	%D%/collapsed.c %D%/feed.c %D%/feed.h %D%/frame_text.c %D%/import.c %D%/import.h %D%/input.c \
	%D%/input.h %D%/jhot.c %D%/merge.c
