# SPDX-License-Identifier: Apache-2.0
# Reading profiles from files.

noinst_LIBRARIES += libimport.a
libimport_a_SOURCES = \
	%D%/collapsed.c %D%/feed.c %D%/feed.h %D%/frame_text.c %D%/import.c %D%/import.h \
	%D%/input.c %D%/input.h %D%/jhot.c %D%/json_read.c %D%/json_read.h %D%/merge.c \
	%D%/message.c %D%/message.h %D%/perf.c %D%/pprof.c %D%/pprof.h %D%/pprof_tables.c \
	%D%/speedscope.c %D%/unpack.c %D%/unpack.h \
	%D%/jfr/chunk.c %D%/jfr/constants.c %D%/jfr/events.c %D%/jfr/jfr.h %D%/jfr/metadata.c \
	%D%/jfr/record.c %D%/jfr/vitals.c
