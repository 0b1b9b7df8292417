# SPDX-License-Identifier: Apache-2.0
# Tests of the rules: their thresholds over a model of our own, and programs that have a problem or nearly have it.

check_PROGRAMS += %D%/test_rules
%C%_test_rules_LDADD = libfindings.a libprofile.a libbase.a -lm

check_SCRIPTS += %D%/test_host.sh
