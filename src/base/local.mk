# SPDX-License-Identifier: Apache-2.0
# The base of all modules of the front end.

noinst_LIBRARIES += libbase.a
libbase_a_SOURCES = \
	%D%/buf.c %D%/buf.h %D%/clean.c %D%/clean.h %D%/clock.h %D%/cpu_clock.h %D%/env.c \
	%D%/env.h %D%/err.c %D%/err.h %D%/file.c %D%/file.h %D%/hash.c %D%/hash.h %D%/intern.c \
	%D%/intern.h %D%/java_name.c %D%/java_name.h %D%/json.c %D%/json.h %D%/maps.c %D%/maps.h \
	%D%/patience.h %D%/thread.h %D%/utf8.c %D%/utf8.h %D%/vacant.c %D%/vacant.h %D%/zip.c \
	%D%/zip.h
