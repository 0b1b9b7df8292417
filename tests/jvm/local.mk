# SPDX-License-Identifier: Apache-2.0
# End-to-end tests on real JVMs.

check_DATA += %D%/classes.stamp
CLEANFILES += %D%/classes.stamp %D%/totals.lock
EXTRA_DIST += $(jvm_test_programs) %D%/alone.sh %D%/jdks_check.sh %D%/lib.sh

# Shell scripts that source lib.sh, and Java programs that
# are compiled once for all of them (for Java 8, the oldest JVM).
jvm_test_programs = %D%/programs/Called.java %D%/programs/Compile.java %D%/programs/Counts.java %D%/programs/Known.java \
	%D%/programs/Loader.java %D%/programs/Native.java %D%/programs/Problems.java %D%/programs/Served.java %D%/programs/States.java \
	%D%/programs/Stops.java %D%/programs/Stubs.java %D%/programs/Walks.java

jvm_tests = %D%/test_counts.sh %D%/test_first_thread.sh %D%/test_lib.sh %D%/test_list.sh %D%/test_record.sh \
	%D%/test_endings.sh %D%/test_cycles.sh %D%/test_events.sh %D%/test_live.sh \
	%D%/test_ssh.sh tests/sampler/test_rows.sh \
	tests/sampler/test_unload.sh tests/sampler/test_alloc.sh tests/sampler/test_began.sh tests/sampler/test_io.sh tests/sampler/test_locks.sh tests/sampler/test_vdso.sh \
	tests/sampler/test_parked.sh tests/sampler/test_polled.sh tests/sampler/test_survivors.sh tests/sampler/test_waits.sh
%D%/classes.stamp: $(jvm_test_programs)
	$(AM_V_GEN)$(MKDIR_P) %D%/classes && \
	"$(JDK)/bin/javac" -nowarn -Xlint:-options --release 8 -d %D%/classes $^ && touch $@

jvm_test_programs += %D%/programs/Program.java

# Not part of check: one command, one table.
jvm_test_programs += \
	%D%/programs/Causes.java %D%/programs/Checked.java %D%/programs/Clock.java %D%/programs/Coarse.java %D%/programs/Deopt.java %D%/programs/Early.java \
	%D%/programs/Garbage.java %D%/programs/Incidents.java %D%/programs/Inlined.java %D%/programs/Kinds.java %D%/programs/Locks.java \
	%D%/programs/Names.java %D%/programs/Peers.java %D%/programs/Planted.java %D%/programs/Problems.java %D%/programs/Rates.java \
	%D%/programs/Relay.java %D%/programs/Requests.java %D%/programs/Rests.java %D%/programs/Rounds.java %D%/programs/Short.java %D%/programs/Spike.java \
	%D%/programs/Totals.java %D%/programs/Waiting.java

# Tests that measure shares of time, rates or durations run one at a time, without other load. (Tests that measure bytes
# need not.) With -j use check-together and check-alone; `make check` without -j runs all tests one after the other.
alone_tests = \
	%D%/test_counts.sh %D%/test_row.sh tests/sampler/test_budget.sh tests/sampler/test_idle.sh %D%/test_no_inlining.sh \
	%D%/test_inlined.sh %D%/test_renames.sh %D%/test_virtual.sh tests/sampler/test_began.sh \
	tests/sampler/test_locks.sh tests/sampler/test_parked.sh tests/sampler/test_polled.sh tests/sampler/test_survivors.sh \
	tests/sampler/test_wall.sh tests/sampler/test_waits.sh \
	tests/cli/test_calls.sh tests/cli/test_slow.sh tests/findings/test_host.sh tests/findings/test_planted.sh tests/findings/test_served.sh tests/findings/test_waits.sh tests/walk/test_accuracy.sh

check_SCRIPTS += $(jvm_tests) %D%/test_children.sh %D%/test_row.sh %D%/test_inlined.sh %D%/test_no_inlining.sh %D%/test_explained.sh \
	%D%/test_memory.sh %D%/test_renames.sh %D%/test_virtual.sh
# Tests that check runs on $JAVA and the newest long-term release only.
few_jdks_tests = tests/attach/test_jvms.sh tests/cli/test_slow.sh tests/dump/test_dump.sh tests/dump/test_parked_dump.sh tests/import/test_jfr.sh \
	%D%/test_row.sh %D%/test_inlined.sh %D%/test_no_inlining.sh %D%/test_renames.sh %D%/test_virtual.sh \
	tests/sampler/test_alloc_sessions.sh tests/sampler/test_hammer.sh tests/sampler/test_idle.sh \
	tests/sampler/test_kinds.sh tests/sampler/test_restored.sh tests/sampler/test_short.sh \
	tests/sampler/test_signals.sh tests/sampler/test_wall.sh
# Runs these tests on every installed JDK, one after the other, and prints a line per JDK.
.PHONY: jdks-check
jdks-check: all $(check_DATA)
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		bash $(srcdir)/%D%/jdks_check.sh $(jvm_tests) $(walk_jvm_tests) $(few_jdks_tests)

# Tests of about a minute or more that ./bootstrap check leaves to ./bootstrap check-long, which runs them one at a time.
long_tests = %D%/test_explained.sh tests/places/test_faults.sh tests/places/test_places.sh tests/sampler/test_hygiene.sh \
	tests/sampler/test_paces.sh tests/sampler/test_short.sh tests/sampler/test_stuck.sh tests/walk/test_threads.sh tests/walk/test_upcalls.sh

# AGAIN: scripts that failed in check-together, where other tests may have disturbed what they measure.
.PHONY: check-together check-alone check-long
check-together:
	KNOWN_DUTY=40 $(MAKE) $(AM_MAKEFLAGS) check TESTS='$(filter-out $(alone_tests) $(long_tests),$(TESTS))'

check-long: all $(check_PROGRAMS) $(check_DATA)
	$(MAKE) $(AM_MAKEFLAGS) -j1 check-TESTS TESTS='$(long_tests)' \
		SH_LOG_COMPILER='bash $(srcdir)/%D%/alone.sh $(SH_LOG_COMPILER)'

check-alone: all $(check_PROGRAMS) $(check_DATA)
	$(MAKE) $(AM_MAKEFLAGS) -j1 check-TESTS TESTS='$(alone_tests) $(AGAIN)' \
		SH_LOG_COMPILER='bash $(srcdir)/%D%/alone.sh $(SH_LOG_COMPILER)'
