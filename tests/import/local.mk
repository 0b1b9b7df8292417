# SPDX-License-Identifier: Apache-2.0
# Tests of the readers.

check_PROGRAMS += %D%/test_collapsed %D%/test_cost %D%/test_hostile %D%/test_jhot %D%/test_packed %D%/test_speedscope
check_SCRIPTS += %D%/test_files.sh %D%/test_jfr.sh
EXTRA_DIST += %D%/async_profiler.collapsed %D%/async_profiler.jfr.gz %D%/costly.h %D%/oracle.py %D%/pulse.py %D%/read.h %D%/vitals.py

IMPORT_TEST_LIBS = libimport.a librecording.a $(EXPORT_TEST_LIBS)

%C%_test_collapsed_LDADD = $(IMPORT_TEST_LIBS)
%C%_test_cost_LDADD = $(IMPORT_TEST_LIBS)
%C%_test_hostile_LDADD = $(IMPORT_TEST_LIBS)
%C%_test_jhot_LDADD = $(IMPORT_TEST_LIBS)
%C%_test_packed_LDADD = $(IMPORT_TEST_LIBS)
%C%_test_speedscope_LDADD = $(IMPORT_TEST_LIBS)
