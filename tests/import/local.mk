# SPDX-License-Identifier: Apache-2.0
# Tests of the readers.

check_PROGRAMS += %D%/test_collapsed
check_SCRIPTS += %D%/test_files.sh
EXTRA_DIST += %D%/read.h

IMPORT_TEST_LIBS = libimport.a $(EXPORT_TEST_LIBS)

%C%_test_collapsed_LDADD = $(IMPORT_TEST_LIBS)
