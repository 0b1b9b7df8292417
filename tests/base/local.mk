# SPDX-License-Identifier: Apache-2.0
# Tests of base.

check_PROGRAMS += %D%/test_base %D%/test_file %D%/test_java_name

%C%_test_base_LDADD = $(TEST_LIBS)
%C%_test_file_LDADD = libbase.a
%C%_test_java_name_LDADD = libbase.a
