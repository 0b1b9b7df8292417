# SPDX-License-Identifier: Apache-2.0
# Tests of the rules: their thresholds over models made by hand, and programs that have a problem or nearly have it.

check_PROGRAMS += %D%/test_code %D%/test_rules %D%/test_thresholds
%C%_test_code_LDADD = libfindings.a libprofile.a libbase.a -lm
%C%_test_rules_LDADD = libfindings.a libprofile.a libbase.a -lm
%C%_test_thresholds_LDADD = libfindings.a libprofile.a libbase.a -lm

EXTRA_DIST += %D%/judge.h
check_SCRIPTS += %D%/test_host.sh %D%/test_waits.sh
