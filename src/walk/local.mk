# SPDX-License-Identifier: Apache-2.0
# The stack walk and the trace table; also compiled into the agent.

noinst_LIBRARIES += libwalk.a
libwalk_a_CFLAGS = $(AM_CFLAGS) -fPIC -Wconversion
libwalk_a_SOURCES = $(walk_sources)
walk_sources = \
	%D%/self_test.c %D%/trace_table.c %D%/trace_table.h %D%/types.h %D%/walk.c %D%/walk.h \
	%D%/frames/compiled.c %D%/frames/entry.c \
	%D%/frames/frame_cache.c %D%/frames/frame_cache.h %D%/frames/frozen.c %D%/frames/frozen.h \
	%D%/frames/interpreted.c %D%/frames/native.c %D%/frames/stub.c %D%/frames/tail.c \
	%D%/frames/tail.h %D%/frames/unmounted.c %D%/frames/unmounted.h %D%/frames/unmounted_polls.c %D%/frames/unwind.c \
	%D%/frames/unwind.h %D%/frames/walker.h %D%/hotspot/code_cache.c %D%/hotspot/code_cache.h \
	%D%/hotspot/java_thread.c %D%/hotspot/java_thread.h %D%/hotspot/java_wait.c \
	%D%/hotspot/java_wait.h %D%/hotspot/layout.c %D%/hotspot/layout.h %D%/hotspot/layout_read.h \
	%D%/hotspot/layout_rows.c %D%/hotspot/layout_tables.c \
	%D%/hotspot/method.c %D%/hotspot/method.h %D%/hotspot/names.c %D%/hotspot/names.h \
	%D%/hotspot/oop.c %D%/hotspot/oop.h %D%/hotspot/threads.c %D%/hotspot/threads.h \
	%D%/load/arch.h %D%/load/arch_aarch64.c %D%/load/arch_x86_64.c %D%/load/self.c \
	%D%/load/self.h %D%/load/mem.c %D%/load/mem.h %D%/load/version.h \
	%D%/load/regs.h
