# SPDX-License-Identifier: Apache-2.0
# Benches, which are not part of check: one command prints one table.

EXTRA_PROGRAMS += %D%/bench_attach %D%/bench_day %D%/bench_diff %D%/bench_enable \
	%D%/bench_scale %D%/bench_ui %D%/bench_unwind
CLEANFILES += soak.txt
# The tables themselves are tested.
check_SCRIPTS += %D%/test_latency.py %D%/test_soak.sh %D%/test_table.py
EXTRA_DIST += %D%/attach.sh %D%/attributed.py %D%/bench.py %D%/causes.sh %D%/events.sh %D%/exports.sh %D%/export.py %D%/frozen.py %D%/idle.sh %D%/incidents.sh \
	%D%/latency.py %D%/latency/Obstacles.java %D%/latency/Timed.java \
	%D%/lib.sh %D%/live.py %D%/live.sh %D%/memory.sh %D%/plot.py %D%/rates.sh %D%/real_diff.sh %D%/restarts.sh %D%/screen.sh %D%/soak.sh %D%/startup.sh \
	%D%/soak_alloc.sh %D%/soak_report.awk %D%/stacks.awk %D%/totals.sh %D%/truth.py %D%/truth_agent.c %D%/verdicts.py %D%/verdicts/Shop.java %D%/walk.sh %D%/work.py %D%/work.sh %D%/workload.sh

%C%_bench_unwind_LDADD = $(unwind_test_libs)
%C%_bench_enable_SOURCES = %D%/bench_enable.c tests/sampler/driver.c
%C%_bench_enable_LDADD = libattach.a libwire.a libbase.a -lpthread
bench_vterm =
if HAVE_VTERM
bench_vterm += %D%/bench_switch tests/tui/test_recorded
EXTRA_PROGRAMS += %D%/bench_cause %D%/bench_switch
%C%_bench_cause_SOURCES = %D%/bench_cause.c tests/tui/vt.c
%C%_bench_cause_LDADD = -lvterm -lutil
%C%_bench_switch_SOURCES = %D%/bench_switch.c tests/tui/vt.c
%C%_bench_switch_LDADD = -lvterm -lutil
endif

%C%_bench_scale_LDADD = libtui.a libfindings.a $(SESSION_TEST_LIBS) $(TERMINFO_LIBS) $(UTF8PROC_LIBS) -lutil -lpthread -lm
%C%_bench_day_LDADD = $(SESSION_TEST_LIBS)
%C%_bench_diff_LDADD = librecording.a $(SESSION_TEST_LIBS)
%C%_bench_ui_LDADD = $(TUI_TEST_LIBS)

.PHONY: bench bench-causes bench-diff bench-diff-real bench-export bench-incidents bench-latency bench-restarts bench-totals bench-truth bench-verdicts soak soak-alloc soak-signals

# What jhot costs: rows of a table, all of them or those that ROWS names.
bench: all $(check_DATA) demo/classes.stamp tests/export/export_tool %D%/bench_attach %D%/bench_day %D%/bench_enable \
	%D%/bench_scale %D%/bench_ui $(bench_vterm)
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		PYTHONDONTWRITEBYTECODE=1 python3 $(srcdir)/%D%/bench.py

soak-signals: all $(check_DATA) tests/sampler/agent_tool
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" SESSIONS="$${SESSIONS:-500}" MAJORS="$${MAJORS:-8 11 17 21 25 26 27 28}" \
		bash $(srcdir)/tests/sampler/test_signals.sh

soak: all $(check_DATA)
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		bash $(srcdir)/%D%/soak.sh

soak-alloc: all $(check_DATA)
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		bash $(srcdir)/%D%/soak_alloc.sh

bench-totals: all $(check_DATA)
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		bash $(srcdir)/%D%/totals.sh

# Whether record --when has a file of each incident, with the time before it.
bench-incidents: all $(check_DATA)
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		bash $(srcdir)/%D%/incidents.sh

# Whether nothing is lost when JVMs restart and recorders are killed.
bench-restarts: all $(check_DATA)
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		bash $(srcdir)/%D%/restarts.sh

# What jhot slow reports of programs that time their own calls.
bench-latency: all
	@PYTHONDONTWRITEBYTECODE=1 python3 $(srcdir)/%D%/latency.py '$(abs_top_srcdir)' '$(abs_top_builddir)' '$(JDK)/bin/javac'

# What jhot why says of planted problems and of healthy programs.
bench-verdicts: all
	@PYTHONDONTWRITEBYTECODE=1 python3 $(srcdir)/%D%/verdicts.py '$(abs_top_srcdir)' '$(abs_top_builddir)' '$(JDK)/bin/javac'

# What is recorded of each kind of time, beside what is true.
bench-truth: all $(check_DATA)
	@PYTHONDONTWRITEBYTECODE=1 python3 $(srcdir)/%D%/truth.py '$(abs_top_srcdir)' '$(abs_top_builddir)' \
		"$${JAVA:-$(JDK)/bin/java}" '$(JDK)'

# The same of a real JVM, with a method that can be made slower.
bench-diff-real: all $(check_DATA)
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		bash $(srcdir)/%D%/real_diff.sh

# What a comparison of profiles tells of what is the same, and finds of what is not.
bench-diff: %D%/bench_diff
	%D%/bench_diff $(srcdir)/tests/tui/h2.jhot $(TIMES)

bench-export: tests/export/export_tool
	@srcdir='$(abs_top_srcdir)' JAVA="$${JAVA:-$(JDK)/bin/java}" python3 $(srcdir)/%D%/export.py

if HAVE_VTERM
# How soon the live view says what is wrong.
bench-causes: all $(check_DATA) %D%/bench_cause
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		bash $(srcdir)/%D%/causes.sh
endif
