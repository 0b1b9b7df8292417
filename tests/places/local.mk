# SPDX-License-Identifier: Apache-2.0
# Places where JVMs and jhot may run, and faults that may happen to either: tables with a row each.

check_SCRIPTS += %D%/test_calls.sh %D%/test_clocks.sh %D%/test_faults.sh %D%/test_lent.sh %D%/test_limits.sh \
	%D%/test_places.sh
# Part of places-check
EXTRA_DIST += %D%/test_outer_proc.sh
noinst_PROGRAMS += %D%/confine %D%/fault_tool
%C%_fault_tool_SOURCES = %D%/fault_tool.c %D%/fault_phase.c %D%/fault_phase.h
%C%_fault_tool_LDADD = -lpthread
check_DATA += %D%/undumpable.so %D%/clock.so %D%/libconfine.so %D%/libcrowd.so
CLEANFILES += %D%/pid1.lock %D%/undumpable.so %D%/clock.so %D%/libconfine.so %D%/libcrowd.so
%C%_confine_LDADD = -lpthread
EXTRA_DIST += %D%/undumpable.c %D%/clock.c %D%/crowd.c %D%/inside.sh %D%/fault.sh
jvm_test_programs += tests/jvm/programs/Placed.java

%D%/undumpable.so: %D%/undumpable.c
	$(AM_V_CC)$(MKDIR_P) %D% && \
		$(CC) $(CFLAGS) $(WARN_CFLAGS) -D_GNU_SOURCE -fPIC -shared -o $@ $(srcdir)/%D%/undumpable.c

%D%/libconfine.so: %D%/confine.c src/wire/calls.h
	$(AM_V_CC)$(MKDIR_P) %D% && \
		$(CC) $(CFLAGS) $(WARN_CFLAGS) -D_GNU_SOURCE -I$(srcdir)/src -fPIC -shared -o $@ $(srcdir)/%D%/confine.c -lpthread

%D%/libcrowd.so: %D%/crowd.c
	$(AM_V_CC)$(MKDIR_P) %D% && \
		$(CC) $(CFLAGS) $(WARN_CFLAGS) -D_GNU_SOURCE -fPIC -shared -o $@ $(srcdir)/%D%/crowd.c -lpthread

%D%/clock.so: %D%/clock.c
	$(AM_V_CC)$(MKDIR_P) %D% && \
		$(CC) $(CFLAGS) $(WARN_CFLAGS) -D_GNU_SOURCE -fPIC -shared -o $@ $(srcdir)/%D%/clock.c

# Runs all rows and prints a table of them.
.PHONY: places-check
places-check: all $(check_DATA)
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" PLACES=all \
		sh -c 'bash $(srcdir)/%D%/test_places.sh && bash $(srcdir)/%D%/test_outer_proc.sh'

# JVMs near every limit, on every JDK.
.PHONY: limits-check
limits-check: all $(check_DATA)
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" LIMITS=all \
		bash $(srcdir)/%D%/test_limits.sh

# Every system call of the agent under a filter that kills, traps, or answers EPERM or ENOSYS; takes about ten minutes.
.PHONY: calls-check
calls-check: all $(check_DATA) %D%/confine
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" CALLS=all \
		bash $(srcdir)/%D%/test_calls.sh

# Faults at a hundred points of each kind, and all rows with clocks that are set.
.PHONY: faults-check
faults-check: all $(check_DATA)
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" FAULTS="$${FAULTS:-100}" \
		sh -c 'bash $(srcdir)/%D%/test_faults.sh && bash $(srcdir)/%D%/test_clocks.sh'
