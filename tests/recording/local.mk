# SPDX-License-Identifier: Apache-2.0
# Tests of recordings.

check_PROGRAMS += %D%/test_calls %D%/test_cut %D%/test_recording %D%/test_hostile
EXTRA_DIST += %D%/compile.jhot %D%/kinds.h %D%/same.h

RECORDING_TEST_LIBS = librecording.a libprofile.a libbase.a $(Z_LIBS) -lm

%C%_test_calls_LDADD = $(RECORDING_TEST_LIBS)
%C%_test_cut_LDADD = $(RECORDING_TEST_LIBS)
%C%_test_recording_LDADD = $(RECORDING_TEST_LIBS)
%C%_test_hostile_LDADD = $(RECORDING_TEST_LIBS)
