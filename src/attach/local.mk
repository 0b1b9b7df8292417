# SPDX-License-Identifier: Apache-2.0
# Finding JVMs, and loading the agent into one.

noinst_LIBRARIES += libattach.a
libattach_a_SOURCES = \
	%D%/attach.c %D%/attach.h %D%/cgroup.c %D%/cgroup.h %D%/limits.c %D%/limits.h %D%/place.c \
	%D%/place.h %D%/proc.c %D%/proc.h %D%/protocol.c %D%/protocol.h %D%/reply.c \
	%D%/jvm/check.h %D%/jvm/cmdline.c %D%/jvm/cmdline.h %D%/jvm/heap.c %D%/jvm/heap.h \
	%D%/jvm/hotspot.c %D%/jvm/hotspot.h \
	%D%/jvm/hsperf.c %D%/jvm/hsperf.h %D%/jvm/libjvm.c %D%/jvm/libjvm.h %D%/jvm/line_table.c \
	%D%/jvm/line_table.h %D%/jvm/list.c %D%/jvm/listener.c %D%/jvm/listener.h %D%/jvm/scan.c \
	%D%/perf/events.c %D%/perf/events.h %D%/perf/lend.c %D%/perf/lend.h %D%/perf/pmu.c \
	%D%/perf/pmu.h
