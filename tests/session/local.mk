# SPDX-License-Identifier: Apache-2.0
# Tests of sessions: units over a fake agent in the test's own process.

check_PROGRAMS += %D%/test_commands %D%/test_contexts %D%/test_control %D%/test_day \
	%D%/test_feed %D%/test_frozen %D%/test_host %D%/test_late %D%/test_mapping %D%/test_names \
	%D%/test_owners %D%/test_polls %D%/test_reader \
	%D%/test_unwind_feed %D%/test_virtuals
noinst_PROGRAMS += %D%/vitals_tool
check_SCRIPTS += %D%/test_timens.sh %D%/test_vitals.sh
EXTRA_DIST += %D%/day.h %D%/fake_agent.h

SESSION_TEST_LIBS = libsession.a libattach.a libsymbols.a libexport.a libprofile.a $(TEST_LIBS) \
	$(DW_LIBS) $(ELF_LIBS) $(Z_LIBS) $(CXX_LIBS)

%C%_test_names_LDADD = $(SESSION_TEST_LIBS)
%C%_test_host_LDADD = $(SESSION_TEST_LIBS)
%C%_test_feed_LDADD = $(SESSION_TEST_LIBS)
%C%_test_mapping_LDADD = $(SESSION_TEST_LIBS)
%C%_test_control_LDADD = $(SESSION_TEST_LIBS)
%C%_test_commands_LDADD = $(SESSION_TEST_LIBS)
%C%_test_contexts_LDADD = $(SESSION_TEST_LIBS) -ldl -lpthread
%C%_test_contexts_LDFLAGS = $(AM_LDFLAGS) -rdynamic
%C%_test_owners_LDADD = $(SESSION_TEST_LIBS)
%C%_test_day_LDADD = $(SESSION_TEST_LIBS)
%C%_test_late_LDADD = $(SESSION_TEST_LIBS)
%C%_test_frozen_LDADD = $(SESSION_TEST_LIBS)
%C%_test_virtuals_LDADD = $(SESSION_TEST_LIBS)
%C%_test_polls_LDADD = $(SESSION_TEST_LIBS)
%C%_test_reader_LDADD = $(SESSION_TEST_LIBS)
%C%_vitals_tool_LDADD = $(SESSION_TEST_LIBS)
%C%_test_unwind_feed_LDADD = $(unwind_test_libs)
