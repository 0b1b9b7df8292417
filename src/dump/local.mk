# SPDX-License-Identifier: Apache-2.0
# The stacks of all threads, from outside.

noinst_LIBRARIES += libdump.a
libdump_a_SOURCES = \
	%D%/capture.c %D%/dump.h %D%/java.c %D%/java.h %D%/modules.c %D%/modules.h %D%/parked.c \
	%D%/parked.h %D%/remote.c %D%/remote.h %D%/stack.c %D%/stack.h
