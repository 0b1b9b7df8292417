# SPDX-License-Identifier: Apache-2.0
# Tests of the live view.

check_PROGRAMS += %D%/test_back %D%/test_blocked %D%/test_commands %D%/test_config %D%/test_methods \
	%D%/test_events %D%/test_figures %D%/test_findings %D%/test_flame_layout %D%/test_fuzz %D%/test_keys %D%/test_latency %D%/test_list \
	%D%/test_screens %D%/test_tables %D%/test_text %D%/test_threads \
	%D%/test_unsaved %D%/test_waits %D%/test_wide %D%/test_work
noinst_PROGRAMS += %D%/fake_top
EXTRA_DIST += %D%/drive.h %D%/fake.h %D%/fuzz.h %D%/golden %D%/h2.jhot \
	%D%/vt.h

TUI_TEST_LIBS = libtui.a libfindings.a libprofile.a libbase.a $(TERMINFO_LIBS) $(UTF8PROC_LIBS) -lm

%C%_fake_top_LDADD = $(TUI_TEST_LIBS)
%C%_test_screens_LDADD = $(TUI_TEST_LIBS)
%C%_test_tables_LDADD = $(TUI_TEST_LIBS)
%C%_test_text_LDADD = $(TUI_TEST_LIBS)
%C%_test_keys_LDADD = $(TUI_TEST_LIBS)
%C%_test_latency_LDADD = $(TUI_TEST_LIBS)
%C%_test_list_LDADD = $(TUI_TEST_LIBS)
%C%_test_commands_LDADD = $(TUI_TEST_LIBS)
%C%_test_methods_LDADD = $(TUI_TEST_LIBS)
%C%_test_work_LDADD = $(TUI_TEST_LIBS)
%C%_test_work_LDFLAGS = -Wl,--wrap=profile_each,--wrap=profile_sum,--wrap=profile_history \
	-Wl,--wrap=profile_covered,--wrap=profile_waited
%C%_test_unsaved_LDADD = $(TUI_TEST_LIBS)
%C%_test_waits_LDADD = $(TUI_TEST_LIBS)
%C%_test_wide_LDADD = $(TUI_TEST_LIBS)
%C%_test_back_LDADD = $(TUI_TEST_LIBS)
%C%_test_blocked_LDADD = $(TUI_TEST_LIBS) -lutil
%C%_test_config_LDADD = $(TUI_TEST_LIBS)
%C%_test_events_LDADD = $(TUI_TEST_LIBS)
%C%_test_figures_LDADD = $(TUI_TEST_LIBS)
%C%_test_findings_LDADD = $(TUI_TEST_LIBS)
%C%_test_threads_LDADD = $(TUI_TEST_LIBS)
%C%_test_flame_layout_LDADD = $(TUI_TEST_LIBS)
%C%_test_fuzz_LDADD = $(TUI_TEST_LIBS)

# The live view over a recording, in the build that has sanitizers. It needs no agent.
if SANITIZERS
check_PROGRAMS += %D%/fuzz_replay
%C%_fuzz_replay_LDADD = $(jhot_LDADD)
endif

if HAVE_VTERM
check_PROGRAMS += %D%/test_files %D%/test_recorded %D%/test_terminal %D%/test_terminals %D%/test_view \
	%D%/test_widths
%C%_test_terminal_SOURCES = %D%/test_terminal.c %D%/vt.c
%C%_test_terminal_LDADD = -lvterm -lutil
%C%_test_terminals_SOURCES = %D%/test_terminals.c %D%/vt.c
%C%_test_terminals_LDADD = -lvterm -lutil
%C%_test_recorded_SOURCES = %D%/test_recorded.c %D%/vt.c
%C%_test_recorded_LDADD = -lvterm -lutil
%C%_test_files_SOURCES = %D%/test_files.c %D%/vt.c
%C%_test_files_LDADD = -lvterm -lutil
%C%_test_view_SOURCES = %D%/test_view.c %D%/vt.c
%C%_test_view_LDADD = -lvterm -lutil
%C%_test_widths_LDADD = $(TUI_TEST_LIBS) -lvterm
endif

.PHONY: fuzz
SECONDS_OF_FUZZ = 600
if SANITIZERS
fuzz: %D%/fuzz_replay
	%D%/fuzz_replay $(srcdir)/%D%/h2.jhot $(SECONDS_OF_FUZZ)
else
# In the build that ./bootstrap check makes.
fuzz:
	test -e sanitized/config.status || { mkdir -p sanitized && cd sanitized && \
		$(abs_srcdir)/configure --enable-sanitizers=address,undefined CFLAGS='-O1 -g1'; }
	cd sanitized && $(MAKE) $(AM_MAKEFLAGS) fuzz
endif

# After an intended change of a screen: rewrites the golden screens, whose difference is then reviewed.
.PHONY: golden
golden: %D%/test_screens
	srcdir='$(abs_top_srcdir)' %D%/test_screens --write
