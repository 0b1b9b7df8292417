# SPDX-License-Identifier: Apache-2.0
# Tests of what is found to be wrong with programs.

check_PROGRAMS += %D%/test_thresholds
%C%_test_thresholds_LDADD = libfindings.a libprofile.a libbase.a -lm
check_SCRIPTS += %D%/test_waits.sh
