# SPDX-License-Identifier: Apache-2.0
# Benches, which are not part of check: one command prints one table.

EXTRA_PROGRAMS += %D%/bench_attach %D%/bench_day %D%/bench_diff %D%/bench_enable \
	%D%/bench_model %D%/bench_scale %D%/bench_ui %D%/bench_unwind
EXTRA_DIST += %D%/attach_cost.sh %D%/bench.sh %D%/causes.sh %D%/events.sh %D%/rates.sh %D%/frozen.py \
	%D%/export.py %D%/live.py %D%/real_diff.sh %D%/screen.sh %D%/soak.sh %D%/soak_alloc.sh \
	%D%/stacks.awk %D%/throughput.py %D%/throughput.sh %D%/totals.sh %D%/truth.py \
	%D%/walk_table.sh %D%/wall_cost.sh %D%/workload.sh

%C%_bench_unwind_LDADD = $(unwind_test_libs)
%C%_bench_enable_SOURCES = %D%/bench_enable.c tests/sampler/driver.c
%C%_bench_enable_LDADD = libattach.a libwire.a libbase.a -lpthread
bench_switch =
if HAVE_VTERM
bench_switch += %D%/bench_switch
EXTRA_PROGRAMS += %D%/bench_cause %D%/bench_switch
%C%_bench_cause_SOURCES = %D%/bench_cause.c tests/tui/vt.c
%C%_bench_cause_LDADD = -lvterm -lutil
%C%_bench_switch_SOURCES = %D%/bench_switch.c tests/tui/vt.c
%C%_bench_switch_LDADD = -lvterm -lutil
endif

%C%_bench_scale_LDADD = libtui.a libfindings.a $(SESSION_TEST_LIBS) $(TERMINFO_LIBS) -lm
%C%_bench_day_LDADD = $(SESSION_TEST_LIBS)
%C%_bench_diff_LDADD = librecording.a $(SESSION_TEST_LIBS)
%C%_bench_model_LDADD = libexport.a $(PROFILE_TEST_LIBS) $(Z_LIBS)
%C%_bench_ui_LDADD = $(TUI_TEST_LIBS)

.PHONY: bench bench-attach bench-causes bench-day bench-diff bench-diff-real bench-events bench-export bench-model bench-rates bench-scale bench-screen bench-throughput \
	bench-totals bench-truth bench-walk bench-wall soak soak-alloc soak-signals
bench-attach: all tests/jvm/classes.stamp
	$(AM_TESTS_ENVIRONMENT) bash $(srcdir)/%D%/attach_cost.sh

bench: all $(check_DATA) %D%/bench_attach
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		bash $(srcdir)/%D%/bench.sh

soak-signals: all $(check_DATA) tests/sampler/agent_tool
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" SESSIONS="$${SESSIONS:-500}" MAJORS="$${MAJORS:-8 11 17 21 25 26 27 28}" \
		bash $(srcdir)/tests/sampler/test_signals.sh

soak: all $(check_DATA)
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		bash $(srcdir)/%D%/soak.sh

soak-alloc: all $(check_DATA)
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		bash $(srcdir)/%D%/soak_alloc.sh

# What the wall clock costs a JVM of 2,000 idle threads.
bench-wall: all $(check_DATA)
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		bash $(srcdir)/%D%/wall_cost.sh

bench-walk: all $(check_DATA) demo/classes.stamp
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		bash $(srcdir)/%D%/walk_table.sh

# What threads that start, and virtual ones that are mounted, pay.
bench-rates: all $(check_DATA)
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		bash $(srcdir)/%D%/rates.sh

# How soon an event is there; throughput with all four; their totals beside a program's own figures.
bench-events: all $(check_DATA) %D%/bench_enable $(bench_switch)
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		bash $(srcdir)/%D%/events.sh

bench-totals: all $(check_DATA)
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		bash $(srcdir)/%D%/totals.sh

# What is recorded of each kind of time, beside what is true.
bench-truth: all $(check_DATA)
	@python3 $(srcdir)/%D%/truth.py '$(abs_top_srcdir)' '$(abs_top_builddir)' "$${JAVA:-$(JDK)/bin/java}"

# The same of a real JVM, with a method that can be made slower.
bench-diff-real: all $(check_DATA)
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		bash $(srcdir)/%D%/real_diff.sh

bench-throughput: all
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		bash $(srcdir)/%D%/throughput.sh

bench-scale: %D%/bench_scale
	%D%/bench_scale

bench-day: %D%/bench_day
	%D%/bench_day

# What a comparison of profiles tells of what is the same, and finds of what is not.
bench-diff: %D%/bench_diff
	%D%/bench_diff $(srcdir)/tests/tui/h2.jhot $(TIMES)

bench-export: tests/export/export_tool
	srcdir='$(abs_top_srcdir)' python3 $(srcdir)/%D%/export.py

bench-model: %D%/bench_model
	%D%/bench_model

if HAVE_VTERM
# How soon the live view says what is wrong.
bench-causes: all $(check_DATA) %D%/bench_cause
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		bash $(srcdir)/%D%/causes.sh

bench-screen: all tests/tui/test_recorded %D%/bench_ui
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' bash $(srcdir)/%D%/screen.sh
endif
