# SPDX-License-Identifier: Apache-2.0
# Tests of the agent.

check_PROGRAMS += %D%/test_calls %D%/test_cost %D%/test_descriptor %D%/test_entry %D%/test_mem %D%/test_parts \
	%D%/test_scan %D%/test_states %D%/test_unwind_recv %D%/test_weight
noinst_PROGRAMS += %D%/agent_tool %D%/stop_inside
# Part of jdks-check; make soak-alloc is longer
EXTRA_DIST += %D%/test_alloc_sessions.sh
check_SCRIPTS += %D%/test_budget.sh \
	%D%/test_engines.sh %D%/test_hammer.sh %D%/test_hygiene.sh \
	%D%/test_idle.sh %D%/test_kinds.sh %D%/test_paces.sh %D%/test_request_class.sh %D%/test_requests.sh %D%/test_restored.sh %D%/test_sessions.sh \
	%D%/test_short.sh \
	%D%/test_signals.sh %D%/test_stopped.sh %D%/test_stuck.sh %D%/test_wall.sh
check_DATA += %D%/hammer.stamp %D%/spin.so
CLEANFILES += %D%/hammer.stamp %D%/libhammer.so %D%/libclaimer.so \
	%D%/libplugin.so %D%/librequests-desc.so %D%/librequests-gd.so %D%/librequests-ie.so \
	%D%/libwitness.so %D%/spin.so
EXTRA_DIST += $(hammer_sources) %D%/lib.sh %D%/driver.h %D%/driver_rows.h %D%/driver_trap.h \
	%D%/spin.c

# Its parts that need no JVM.
%C%_test_calls_CPPFLAGS = $(AM_CPPFLAGS) $(JVMTI_CFLAGS)
%C%_test_calls_LDADD = libsampler.a
%C%_test_cost_LDADD = libsampler.a
%C%_test_descriptor_LDADD = libsampler.a -lutil
%C%_test_entry_LDADD = libsampler.a -lpthread
%C%_test_mem_LDADD = libsampler.a
%C%_test_parts_LDADD = libsampler.a -lpthread
%C%_test_scan_CPPFLAGS = $(AM_CPPFLAGS) $(JVMTI_CFLAGS)
%C%_test_scan_LDADD = libsampler.a libwalk.a -lpthread
%C%_test_states_LDADD = libsampler.a libwalk.a -lpthread
%C%_test_weight_CPPFLAGS = $(AM_CPPFLAGS) $(JVMTI_CFLAGS)
%C%_test_weight_LDADD = libsampler.a libwalk.a -lm

# Names of the two ways to access thread-local variables of libraries.
TLS_DESC = $(if $(filter aarch64,$(host_cpu)),desc,gnu2)
TLS_OLD = $(if $(filter aarch64,$(host_cpu)),trad,gnu)

# Java and JNI programs that are hard on a profiler inside their process.
hammer_sources = %D%/programs/Equal.java %D%/programs/Garbage.java %D%/programs/Hammer.java %D%/programs/hammer.c %D%/programs/storm.c \
	%D%/programs/Sites.java %D%/programs/Parked.java %D%/programs/Stuck.java %D%/programs/Waits.java \
	%D%/programs/Requests.java %D%/programs/Spans.java %D%/programs/Untouched.java %D%/programs/claimer.c %D%/programs/requests.c \
	%D%/programs/witness.c
%D%/hammer.stamp: $(hammer_sources) src/request/Request.java
	$(AM_V_GEN)$(MKDIR_P) %D%/classes && \
	$(CC) $(CFLAGS) $(WARN_CFLAGS) -Wno-missing-prototypes -D_GNU_SOURCE $(JVMTI_CFLAGS) -fPIC -shared \
		-o %D%/libhammer.so $(srcdir)/%D%/programs/hammer.c \
		$(srcdir)/%D%/programs/storm.c -ldl -lpthread && \
	$(CC) $(CFLAGS) $(WARN_CFLAGS) -D_GNU_SOURCE -DPLUGIN $(JVMTI_CFLAGS) -fPIC -shared \
		-o %D%/libplugin.so $(srcdir)/%D%/programs/hammer.c && \
	$(CC) $(CFLAGS) $(WARN_CFLAGS) -Wno-missing-prototypes $(JVMTI_CFLAGS) -fPIC -shared \
		-o %D%/libclaimer.so $(srcdir)/%D%/programs/claimer.c && \
	$(CC) $(CFLAGS) $(WARN_CFLAGS) -D_GNU_SOURCE $(JVMTI_CFLAGS) -fPIC -shared \
		-o %D%/libwitness.so $(srcdir)/%D%/programs/witness.c && \
	for model in desc:-mtls-dialect=$(TLS_DESC) gd:-mtls-dialect=$(TLS_OLD) ie:-ftls-model=initial-exec; do \
		$(CC) $(CFLAGS) $(WARN_CFLAGS) -Wno-missing-prototypes -D_GNU_SOURCE $(JVMTI_CFLAGS) -fPIC -shared \
			$${model#*:} -o %D%/librequests-$${model%%:*}.so $(srcdir)/%D%/programs/requests.c -ldl || exit 1; \
	done && \
	"$(JDK)/bin/javac" -nowarn -Xlint:-options --release 8 -d %D%/classes \
		$(srcdir)/%D%/programs/Equal.java $(srcdir)/%D%/programs/Garbage.java $(srcdir)/%D%/programs/Hammer.java \
		$(srcdir)/%D%/programs/Requests.java $(srcdir)/%D%/programs/Sites.java $(srcdir)/%D%/programs/Stuck.java \
		$(srcdir)/%D%/programs/Spans.java $(srcdir)/src/request/Request.java \
		$(srcdir)/%D%/programs/Untouched.java $(srcdir)/%D%/programs/Waits.java && \
	touch $@

# A front end of the agent for its tests on real JVMs.
%C%_agent_tool_SOURCES = %D%/agent_tool.c %D%/driver.c \
	%D%/driver_rows.c %D%/driver_trap.c
%C%_agent_tool_LDADD = libattach.a libsession.a libsymbols.a libwire.a libbase.a -lpthread -lm \
	$(TERMINFO_LIBS) $(UTF8PROC_LIBS) $(DW_LIBS) $(ELF_LIBS) $(Z_LIBS) $(CXX_LIBS)

%D%/spin.so: %D%/spin.c
	$(AM_V_CC)$(MKDIR_P) %D% && \
		$(CC) $(WARN_CFLAGS) -O2 -fPIC -shared -o $@ $(srcdir)/%D%/spin.c

%C%_test_unwind_recv_SOURCES = %D%/test_unwind_recv.c $(unwind_test_sources)
%C%_test_unwind_recv_LDADD = libsampler.a $(unwind_test_libs) -ldl
