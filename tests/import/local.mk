# SPDX-License-Identifier: Apache-2.0
# Tests of the readers.

check_PROGRAMS += %D%/test_collapsed %D%/test_jhot
check_SCRIPTS += %D%/test_files.sh
EXTRA_DIST += %D%/read.h

IMPORT_TEST_LIBS = libimport.a librecording.a $(EXPORT_TEST_LIBS)

%C%_test_collapsed_LDADD = $(IMPORT_TEST_LIBS)
%C%_test_jhot_LDADD = $(IMPORT_TEST_LIBS)
