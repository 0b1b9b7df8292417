# SPDX-License-Identifier: Apache-2.0
# Tests of attach, the agent that they load into real JVMs, and a command-line tool for the module.

check_PROGRAMS += %D%/test_cgroup %D%/test_hotspot %D%/test_hsperf %D%/test_lend %D%/test_limits %D%/test_line_table \
	%D%/test_perf_events %D%/test_place %D%/test_proc \
	%D%/test_protocol %D%/test_reply
noinst_PROGRAMS += %D%/attach_tool
check_SCRIPTS += %D%/test_jvms.sh %D%/test_listener.sh %D%/test_spaces.sh
check_DATA += %D%/agent.so
CLEANFILES += %D%/agent.so
EXTRA_DIST += %D%/agent.c %D%/actors.h %D%/fake.h %D%/hold_threads.py %D%/pretend.py

%C%_attach_tool_LDADD = libattach.a libbase.a
%D%/agent.so: %D%/agent.c
	$(AM_V_CC)$(MKDIR_P) %D% && \
		$(CC) $(CFLAGS) $(WARN_CFLAGS) -D_GNU_SOURCE -fPIC -shared -o $@ $(srcdir)/%D%/agent.c

%C%_test_cgroup_LDADD = libattach.a libbase.a
%C%_test_hotspot_LDADD = libattach.a libbase.a
%C%_test_hsperf_LDADD = libattach.a libbase.a
%C%_test_lend_LDADD = libattach.a libbase.a
%C%_test_limits_LDADD = libattach.a libbase.a
%C%_test_proc_LDADD = libattach.a libbase.a
%C%_test_protocol_LDADD = libattach.a libbase.a
%C%_test_perf_events_LDADD = libattach.a libbase.a
%C%_test_reply_LDADD = libattach.a libbase.a
%C%_test_place_CFLAGS = $(AM_CFLAGS) -fPIE
%C%_test_place_LDFLAGS = -pie
%C%_test_place_LDADD = libattach.a libbase.a
%C%_test_line_table_LDADD = libattach.a libbase.a
