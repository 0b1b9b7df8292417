# SPDX-License-Identifier: Apache-2.0
# Tests of base.

check_PROGRAMS += %D%/test_base %D%/test_file

%C%_test_base_LDADD = $(TEST_LIBS)
%C%_test_file_LDADD = libbase.a
