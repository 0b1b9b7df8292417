# SPDX-License-Identifier: Apache-2.0
# What all of the front end stands on.

noinst_LIBRARIES += libbase.a
libbase_a_SOURCES = \
	%D%/java_name.c %D%/java_name.h \
	%D%/buf.c %D%/buf.h %D%/clean.c %D%/clean.h %D%/clock.h %D%/cpu_clock.h %D%/err.c \
	%D%/env.c %D%/env.h %D%/err.h %D%/file.c %D%/file.h %D%/hash.c %D%/hash.h %D%/intern.c %D%/intern.h %D%/json.c \
	%D%/json.h %D%/maps.c %D%/maps.h %D%/patience.h %D%/rooted.c %D%/utf8.c %D%/utf8.h \
	%D%/vacant.c %D%/vacant.h %D%/zip.c %D%/zip.h
