# SPDX-License-Identifier: Apache-2.0
# Tests of the model.

check_PROGRAMS += %D%/test_answers %D%/test_calls %D%/test_calls_compare %D%/test_calls_estimates %D%/test_calls_report \
	%D%/test_calls_states %D%/test_diff %D%/test_error %D%/test_events \
	%D%/test_explained %D%/test_filter %D%/test_folds %D%/test_profile \
	%D%/test_rank %D%/test_resting %D%/test_since \
	%D%/test_tables %D%/test_vitals
EXTRA_DIST += %D%/add.h %D%/draws.h %D%/feed.h %D%/feed_calls.h %D%/polls.h %D%/truth.h

PROFILE_TEST_LIBS = libprofile.a libbase.a -lm

%C%_test_profile_LDADD = $(PROFILE_TEST_LIBS)
%C%_test_vitals_LDADD = $(PROFILE_TEST_LIBS)
%C%_test_events_LDADD = $(PROFILE_TEST_LIBS)
%C%_test_filter_LDADD = $(PROFILE_TEST_LIBS)
%C%_test_folds_LDADD = $(PROFILE_TEST_LIBS)
%C%_test_tables_LDADD = $(PROFILE_TEST_LIBS)
%C%_test_error_LDADD = $(PROFILE_TEST_LIBS)
%C%_test_explained_LDADD = $(PROFILE_TEST_LIBS)
%C%_test_resting_LDADD = $(PROFILE_TEST_LIBS)
%C%_test_calls_LDADD = $(PROFILE_TEST_LIBS)
%C%_test_calls_compare_LDADD = $(PROFILE_TEST_LIBS)
%C%_test_calls_estimates_LDADD = $(PROFILE_TEST_LIBS)
%C%_test_calls_states_LDADD = $(PROFILE_TEST_LIBS)
%C%_test_calls_report_LDADD = $(PROFILE_TEST_LIBS)
%C%_test_answers_LDADD = $(PROFILE_TEST_LIBS)
%C%_test_since_LDADD = $(PROFILE_TEST_LIBS)
%C%_test_rank_LDADD = $(PROFILE_TEST_LIBS)
%C%_test_diff_LDADD = librecording.a $(SESSION_TEST_LIBS)
