# SPDX-License-Identifier: Apache-2.0
# Finding JVMs, and loading the agent into one.

noinst_LIBRARIES += libattach.a
libattach_a_SOURCES = \
	%D%/attach.c %D%/attach.h %D%/cmdline.c %D%/cmdline.h %D%/helper.c %D%/helper.h %D%/hotspot.c \
	%D%/hotspot.h %D%/hotspot_check.h %D%/hotspot_list.c %D%/hotspot_look.c %D%/hsperf.c %D%/hsperf.h \
	%D%/libjvm.c %D%/libjvm.h %D%/line_table.c %D%/line_table.h %D%/perf_events.c %D%/perf_events.h \
	%D%/perf_pmu.c %D%/perf_pmu.h %D%/perf_probe.c %D%/place.c %D%/place.h %D%/proc.c %D%/proc.h \
	%D%/protocol.c %D%/protocol.h %D%/reply.c
