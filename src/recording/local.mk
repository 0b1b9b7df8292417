# SPDX-License-Identifier: Apache-2.0
# Recordings: a profile in a file as it grows, and back.

noinst_LIBRARIES += librecording.a
librecording_a_SOURCES = \
	%D%/calls.c %D%/chunks.c %D%/fields.c %D%/fields.h %D%/file_ids.c %D%/file_ids.h \
	%D%/format.h %D%/out.c %D%/out.h %D%/reader.c %D%/reader.h %D%/recording.h %D%/second.c \
	%D%/second.h %D%/writer.c
